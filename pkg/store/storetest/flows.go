package storetest

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/timerbus/timerbus/pkg/store"
)

func flowTests() []test {
	return []test{
		{"Flows/AreStoredUnchanged", flowsStored},
		{"Flows/SwapComparesTheVersion", flowsVersions},
		{"Flows/AnEmptyStateRemoves", flowsRemoved},
		{"Flows/PagesAreOrderedByKey", flowsPages},
		{"Flows/ConcurrentSwapsLoseNothing", flowsRace},
	}
}

func (w *world) flows(s store.Store) store.Flows {
	w.t.Helper()
	f, ok := store.As[store.Flows](s)
	w.need(AnyFlows, ok)
	return f
}

func flowOf(key string, version int64, state string) store.Flow {
	return store.Flow{FlowKey: store.FlowKey{Namespace: "default", Key: key}, Version: version, State: state}
}

func (w *world) wantFlows(want ...store.Flow) {
	w.t.Helper()
	got, err := w.flows(w.store).ListFlows(w.ctx, "default", "", store.MaxFlowPage)
	w.check(err, "list flows")
	if !slices.Equal(got, want) {
		w.t.Fatalf("flows\n got %.300v\nwant %.300v", got, want)
	}
}

func flowsStored(w *world) {
	f := w.flows(w.store)
	w.wantFlows()
	all := []store.Flow{
		flowOf("A key", 1<<62, "{}"), flowOf("a key", 3, "{ }"), // keys are compared byte for byte
		flowOf(strings.Repeat("k", 255), 2, strings.Repeat(`{"é":"\u0000"} `, store.MaxFlowState/16)),
		flowOf("é/#%", 4, "[1]"),
	}
	other := flowOf("a key", 9, "other")
	other.Namespace = "default2"
	for _, flow := range append(slices.Clone(all), other) {
		w.check(f.SwapFlow(w.ctx, 0, flow), "create %.20s", flow.Key)
	}
	w.wantFlows(all...)
	for _, flow := range append(slices.Clone(all), other) {
		got, err := f.GetFlow(w.ctx, flow.FlowKey)
		w.check(err, "get %.20s", flow.Key)
		w.equal("flow", got, flow)
	}
	_, err := f.GetFlow(w.ctx, store.FlowKey{Namespace: "default", Key: "A KEY"})
	w.wantErr(err, store.ErrNotFound, "get an unknown flow")
	if w.subject.Reopen != nil {
		w.store = w.subject.Reopen(w.t)
		w.wantFlows(all...)
	}
}

func flowsVersions(w *world) {
	f := w.flows(w.store)
	w.wantErr(f.SwapFlow(w.ctx, 7, flowOf("a", 8, "none")), store.ErrConflict, "replace an unknown flow")
	w.check(f.SwapFlow(w.ctx, 0, flowOf("a", 7, "one")), "create")
	w.check(f.SwapFlow(w.ctx, 0, flowOf("b", 7, "other")), "create")
	w.wantErr(f.SwapFlow(w.ctx, 0, flowOf("a", 9, "two")), store.ErrConflict, "create again")
	w.check(f.SwapFlow(w.ctx, 7, flowOf("a", 5, "two")), "replace")
	for _, from := range []int64{0, 4, 6, 7} {
		w.wantErr(f.SwapFlow(w.ctx, from, flowOf("a", 11, "three")), store.ErrConflict, "replace version %d", from)
	}
	w.wantFlows(flowOf("a", 5, "two"), flowOf("b", 7, "other"))
}

func flowsRemoved(w *world) {
	f := w.flows(w.store)
	for _, key := range []string{"a", "b"} {
		w.check(f.SwapFlow(w.ctx, 0, flowOf(key, 1, "one")), "create")
	}
	w.wantErr(f.SwapFlow(w.ctx, 2, flowOf("a", 3, "")), store.ErrConflict, "remove another version")
	w.wantErr(f.SwapFlow(w.ctx, 1, flowOf("c", 3, "")), store.ErrConflict, "remove an unknown flow")
	w.check(f.SwapFlow(w.ctx, 1, flowOf("a", 3, "")), "remove")
	w.wantFlows(flowOf("b", 1, "one"))
	w.wantErr(f.SwapFlow(w.ctx, 1, flowOf("a", 3, "two")), store.ErrConflict, "replace a removed flow")
	w.check(f.SwapFlow(w.ctx, 0, flowOf("a", 4, "two")), "create again")
	w.wantFlows(flowOf("a", 4, "two"), flowOf("b", 1, "one"))
}

func flowsPages(w *world) {
	f := w.flows(w.store)
	keys := []string{"a", "a#", "a#b", "aa", "b"}
	for _, key := range keys {
		w.check(f.SwapFlow(w.ctx, 0, flowOf(key, 1, "s")), "create")
	}
	for after, want := range map[string][]string{"": {"a", "a#"}, "a": {"a#", "a#b"}, "a#b": {"aa", "b"}, "aa": {"b"}, "b": nil} {
		page, err := f.ListFlows(w.ctx, "default", after, 2)
		w.check(err, "list flows")
		var got []string
		for _, flow := range page {
			got = append(got, flow.Key)
		}
		if !slices.Equal(got, want) {
			w.t.Errorf("page after %q: %q, want %q", after, got, want)
		}
	}
}

// flowsRace increments a number in the state from several handles. The first increment creates the flow.
func flowsRace(w *world) {
	const each = 8
	increment := func(f store.Flows) error {
		for {
			present, err := f.GetFlow(w.ctx, store.FlowKey{Namespace: "default", Key: "a"})
			if errors.Is(err, store.ErrNotFound) {
				present, err = flowOf("a", 0, "0"), nil
			}
			if err != nil {
				return err
			}
			count, err := strconv.Atoi(present.State)
			if err != nil {
				return err
			}
			next := flowOf("a", int64(count)+1, strconv.Itoa(count+1))
			if err := f.SwapFlow(w.ctx, present.Version, next); !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
	}
	errs := make([]error, racers)
	w.race(func(r int, s store.Store) {
		f := w.flows(s)
		for range each {
			errs[r] = errors.Join(errs[r], increment(f))
		}
	})
	for _, err := range errs {
		w.check(err, "increment")
	}
	w.wantFlows(flowOf("a", each*racers, strconv.Itoa(each*racers)))
}
