package restore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/internal/restore"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// world is a restored store. The backup is two hours old, and the lost store stopped working an hour ago.
type world struct {
	*testing.T

	store     store.Store
	now       timer.Millis
	revisions *timer.Revisions
}

func newWorld(t *testing.T, namespaces ...string) *world {
	t.Helper()
	w := &world{T: t, now: timer.SystemClock(), revisions: timer.NewRevisions(timer.SystemClock, rand.Uint64)}
	w.store = memstore.NewDatabase().Open()
	for _, name := range namespaces {
		if _, err := w.store.CreateNamespace(t.Context(), store.Namespace{
			Name: name, Shards: shard.Block{Count: 4}, Settings: store.DefaultSettings(),
		}); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) cutoff() timer.Millis { return w.now.Add(-time.Hour) }

func (w *world) ref(namespace, id string) store.Ref {
	w.Helper()
	ns, err := w.store.GetNamespace(w.Context(), namespace)
	if err != nil {
		w.Fatal(err)
	}
	return store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(namespace, id)}
}

// put creates timers, at the time of the backup, that are due at a time after the cut-off.
func (w *world) put(namespace string, after time.Duration, ids ...string) {
	w.Helper()
	var ops []store.Op
	for _, id := range ids {
		ops = append(ops, store.Put{
			Ref: w.ref(namespace, id), Namespace: namespace, ID: id, Revision: w.revisions.Next(),
			Spec: timer.Spec{
				ExecuteAt: w.cutoff().Add(after), Deliver: timer.DeliverEvent, Payload: []byte(`"kept"`),
				CallbackTimeout: time.Second, Retry: timer.DefaultRetryPolicy(),
			},
		})
	}
	written, err := w.store.Write(w.Context(), w.now.Add(-2*time.Hour), ops)
	for i := range written {
		err = errors.Join(err, written[i].Err)
	}
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) status(namespace, id string) timer.Timer {
	w.Helper()
	got, err := w.store.Get(w.Context(), w.now, w.ref(namespace, id))
	if err != nil {
		w.Fatal(err)
	}
	return got
}

func (w *world) run(change ...func(*restore.Options)) map[string]restore.Counts {
	w.Helper()
	o := restore.Options{Store: w.store, Cutoff: w.cutoff()}
	for _, c := range change {
		c(&o)
	}
	all, err := restore.Run(w.Context(), &o)
	if err != nil {
		w.Fatal(err)
	}
	counts := map[string]restore.Counts{}
	for _, ns := range all {
		counts[ns.Name] = ns.Counts
	}
	return counts
}

func apply(o *restore.Options) { o.Apply = true }

func TestTimersDueBeforeTheCutoffAreMadeDead(t *testing.T) {
	w := newWorld(t, "a", "b", "empty")
	w.put("a", -30*time.Minute, "early")
	w.put("a", -time.Millisecond, "last")
	w.put("a", 0, "at")
	w.put("a", 30*time.Minute, "later")
	w.put("a", 24*time.Hour, "future")
	w.put("b", -time.Minute, "other")
	w.put("b", -time.Minute, "parked")
	parked := w.status("b", "parked")
	errs, err := w.store.Finish(t.Context(), w.now, []store.Finish{{
		Ref: w.ref("b", "parked"), DueAt: parked.DueAt, Kind: store.FinishParked, If: store.Guard{Revision: parked.Revision},
		Next: w.revisions.Next(), Record: store.Record{Error: "poison"},
	}})
	if err != nil || errs[0] != nil {
		t.Fatal(err, errs)
	}

	a := restore.Counts{Due: 2, Later: 2, Oldest: w.cutoff().Add(-30 * time.Minute), Newest: w.cutoff().Add(-time.Millisecond)}
	b := restore.Counts{Due: 1, Oldest: w.cutoff().Add(-time.Minute), Newest: w.cutoff().Add(-time.Minute)}
	if got := w.run(); len(got) != 3 || got["a"] != a || got["b"] != b || got["empty"] != (restore.Counts{}) {
		t.Errorf("counted %+v", got)
	}
	if got := w.status("a", "early"); got.Status != timer.StatusScheduled {
		t.Errorf("counting has changed a timer: %+v", got)
	}
	a.Dead, b.Dead = 2, 1
	if got := w.run(apply); got["a"] != a || got["b"] != b {
		t.Errorf("applied %+v", got)
	}
	for id, want := range map[string]timer.Status{
		"early": timer.StatusDead, "last": timer.StatusDead,
		"at": timer.StatusScheduled, "later": timer.StatusScheduled, "future": timer.StatusScheduled,
	} {
		if got := w.status("a", id); got.Status != want || string(got.Payload) != `"kept"` {
			t.Errorf("%s is %+v, want %s", id, got, want)
		}
	}
	if got := w.status("b", "parked"); got.Status != timer.StatusParked {
		t.Errorf("the parked timer is %+v", got)
	}
	if got := w.status("a", "early").LastError; !strings.Contains(got, "skipped by a restore: due at") || !strings.Contains(got, w.cutoff().String()) {
		t.Errorf("the reason is %q", got)
	}
	// A second run finds nothing.
	a.Due, a.Dead, a.Oldest, a.Newest = 0, 0, 0, 0
	if got := w.run(apply); got["a"] != a {
		t.Errorf("the second time %+v", got["a"])
	}
	// A dead timer can be delivered nevertheless.
	rearmed, err := w.store.Rearm(t.Context(), w.now, []store.Rearm{{Ref: w.ref("a", "early"), Revision: w.revisions.Next(), ExecuteAt: w.now}})
	if err != nil || rearmed[0].Err != nil || w.status("a", "early").Status != timer.StatusScheduled {
		t.Errorf("a skipped timer cannot be retried: %v, %+v", err, rearmed)
	}
}

func TestOneNamespace(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.put("a", -time.Minute, "x")
	w.put("b", -time.Minute, "x")
	got := w.run(apply, func(o *restore.Options) { o.Namespace = "b" })
	if len(got) != 1 || got["b"].Dead != 1 || w.status("a", "x").Status != timer.StatusScheduled {
		t.Errorf("got %+v", got)
	}
	_, err := restore.Run(t.Context(), &restore.Options{Store: w.store, Cutoff: w.cutoff(), Namespace: "none"})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of a namespace that does not exist: %v", err)
	}
}

func TestManyPages(t *testing.T) {
	w := newWorld(t, "a")
	var ids []string
	for i := range 2500 {
		ids = append(ids, fmt.Sprint(i))
	}
	w.put("a", -time.Minute, ids...)
	pages := 0
	got := w.run(apply, func(o *restore.Options) { o.Progress = func(restore.Counts) { pages++ } })
	if got["a"].Due != 2500 || got["a"].Dead != 2500 || pages < 3 {
		t.Errorf("%+v in %d pages", got["a"], pages)
	}
}

func TestACutoffInTheFuture(t *testing.T) {
	w := newWorld(t, "a")
	w.put("a", -time.Minute, "x")
	_, err := restore.Run(t.Context(), &restore.Options{Store: w.store, Cutoff: w.now.Add(time.Hour), Apply: true})
	if err == nil || !strings.Contains(err.Error(), "a time before the present") || w.status("a", "x").Status != timer.StatusScheduled {
		t.Errorf("got %v", err)
	}
}

// TestAnotherProcess: a timer that changes between its list and its write is left alone.
func TestAnotherProcess(t *testing.T) {
	w := newWorld(t, "a")
	w.put("a", -time.Minute, "x")
	faults := faultstore.New(func(method string, _ int) faultstore.Fault {
		if method == "Finish" {
			w.put("a", 2*time.Hour, "x") // replaced
		}
		return faultstore.Fault{}
	})
	inner := w.store
	got := w.run(apply, func(o *restore.Options) { o.Store = faults.Wrap(inner) })
	if got["a"].Changed != 1 || got["a"].Dead != 0 || w.status("a", "x").Status != timer.StatusScheduled {
		t.Errorf("got %+v, %+v", got, w.status("a", "x"))
	}
}

// TestAnInterruptedRunContinues: the answer of a write is lost, and the second run makes the remaining timers dead.
func TestAnInterruptedRunContinues(t *testing.T) {
	w := newWorld(t, "a")
	for i := range 10 {
		w.put("a", -time.Minute, fmt.Sprint(i))
	}
	faults := faultstore.New(faultstore.OnCall("Finish", 1, faultstore.Fault{Kind: faultstore.FailPartly}))
	_, err := restore.Run(t.Context(), &restore.Options{Store: faults.Wrap(w.store), Cutoff: w.cutoff(), Apply: true})
	if !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Fatalf("got %v", err)
	}
	if got := w.run(apply); got["a"].Dead != 5 {
		t.Errorf("the second run has made %d dead, want the remaining 5", got["a"].Dead)
	}
	for i := range 10 {
		if got := w.status("a", fmt.Sprint(i)); got.Status != timer.StatusDead {
			t.Errorf("%d is %s", i, got.Status)
		}
	}
}

// TestSchedulesAreNotSkipped: their catchUp decides about the past.
func TestSchedulesAreNotSkipped(t *testing.T) {
	w := newWorld(t, "a")
	w.put("a", -time.Minute, "x", "s")
	text := `{"specs":[{"every":1000000000}],"version":1}`
	written, err := w.store.Write(t.Context(), w.now.Add(-time.Hour), []store.Op{
		store.Update{Ref: w.ref("a", "s"), Revision: w.revisions.Next(), Patch: timer.Patch{Schedule: &text}},
	})
	if err != nil || written[0].Err != nil {
		t.Fatal(err, written[0].Err)
	}
	got := w.run(apply)
	if got["a"].Dead != 1 || w.status("a", "s").Status != timer.StatusScheduled || w.status("a", "x").Status != timer.StatusDead {
		t.Errorf("got %+v", got)
	}
}
