package storetest

import (
	"errors"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func isolationTests() []test {
	return []test{
		{"Isolation/TheSameIdsInTwoNamespacesNeverMeet", isolationOfIDs},
		{"Isolation/ListShowsItsOwnNamespace", isolationOfLists},
		{"Isolation/ACursorDoesNotLeadIntoAnotherNamespace", isolationOfCursors},
		{"Isolation/EveryWriteLeavesTheOtherNamespaceAsItWas", isolationOfWrites},
		{"Isolation/OutboxIsOfTheShardsAsked", isolationOfOutbox},
	}
}

// twins creates two namespaces with the same ids and returns a world for each.
func (w *world) twins(ids ...string) (a, b *world) {
	w.t.Helper()
	a, b = new(world), new(world)
	*a, *b = *w, *w
	a.ns, b.ns = w.namespace("twin-a", 3), w.namespace("twin-b", 3)
	b.last = w.last ^ 1<<50
	for _, id := range ids {
		a.put(id, w.now)
		b.put(id, w.now)
	}
	return a, b
}

// everything is the result of all reads of a namespace.
type everything struct {
	live, dead, done []timer.Timer
	rows             []timer.Timer
	history          [][]store.HistoryEntry
	due              [][]store.DueRow
	watermarks       []store.Key
	entries          []store.OutboxEntry
}

func (w *world) everything(ids ...string) everything {
	w.t.Helper()
	e := everything{
		live:    w.list(store.ListQuery{Limit: 100}),
		dead:    w.list(store.ListQuery{Status: timer.StatusDead, Limit: 100}),
		done:    w.list(store.ListQuery{Status: timer.StatusDone, Limit: 100}),
		entries: w.outbox(),
	}
	for _, id := range ids {
		t, _ := w.row(w.ref(id))
		e.rows = append(e.rows, t)
		e.history = append(e.history, w.history(w.ref(id)))
	}
	for _, c := range w.claim(w.allShards()...) {
		e.due = append(e.due, w.due(c.Claim, store.MinKey(), timer.MaxMillis).Rows)
		e.watermarks = append(e.watermarks, c.Watermark, c.Published)
	}
	return e
}

func (w *world) wantEverything(what string, got, want everything) {
	w.t.Helper()
	w.equal(what+": live", got.live, want.live)
	w.equal(what+": dead", got.dead, want.dead)
	w.equal(what+": done", got.done, want.done)
	w.equal(what+": rows", got.rows, want.rows)
	w.equal(what+": history", got.history, want.history)
	w.equal(what+": due", got.due, want.due)
	w.equal(what+": watermarks", got.watermarks, want.watermarks)
	w.equal(what+": entries", got.entries, want.entries)
}

func isolationOfIDs(w *world) {
	a, b := w.twins("order-1")
	if a.ref("order-1") == b.ref("order-1") {
		w.t.Fatalf("both timers lie at %+v", a.ref("order-1"))
	}
	ta, tb := a.mustGet(a.ref("order-1")), b.mustGet(b.ref("order-1"))
	if ta.Namespace != "twin-a" || tb.Namespace != "twin-b" {
		w.t.Errorf("namespaces are %q and %q", ta.Namespace, tb.Namespace)
	}
	// The uuid of the other namespace's timer does not exist in this namespace's shard.
	_, err := a.get(store.Ref{Shard: a.ref("order-1").Shard, UUID: tb.UUID})
	w.wantErr(err, store.ErrNotFound, "get the other's timer in the own shard")
	if got := a.current(store.Check{Ref: store.Ref{Shard: a.ref("order-1").Shard, UUID: tb.UUID}})[0]; got.Found {
		w.t.Errorf("the row check finds the other's timer in the own shard: %+v", got)
	}
	w.wantErr(a.write(store.Delete{Ref: store.Ref{Shard: a.ref("order-1").Shard, UUID: tb.UUID}}).Err, store.ErrNotFound, "delete")
	b.wantRow(b.ref("order-1"), &tb)
}

func isolationOfLists(w *world) {
	a, b := w.twins("1", "2", "3", "4", "5")
	a.put("only-a", w.now)
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		t := b.put("finished", w.now)
		b.end(&t, kind)
		w.now += second
	}
	a.wantListed("a", store.ListQuery{}, "1", "2", "3", "4", "5", "only-a")
	b.wantListed("b", store.ListQuery{}, "1", "2", "3", "4", "5")
	for _, status := range []timer.Status{timer.StatusDone, timer.StatusDead} {
		a.wantListed("finished in a", store.ListQuery{Status: status})
		b.wantListed("finished in b", store.ListQuery{Status: status}, "finished")
	}
	a.wantListed("by correlation", store.ListQuery{CorrelationID: "trace-1"}, "1", "2", "3", "4", "5", "only-a")
	for _, t := range append(a.list(store.ListQuery{Limit: 2}), a.list(store.ListQuery{CorrelationID: "trace-1", Limit: 2})...) {
		if t.Namespace != "twin-a" {
			w.t.Errorf("a's list shows a timer of %q", t.Namespace)
		}
	}
}

func isolationOfCursors(w *world) {
	a, b := w.twins("1", "2", "3", "4", "5", "6", "7", "8")
	for _, from := range []*world{a, b} {
		to := a
		if from == a {
			to = b
		}
		q := store.ListQuery{Namespace: from.ns, Limit: 3}
		page, err := w.store.List(w.ctx, w.now, q)
		w.check(err, "list")
		q.Namespace, q.After = to.ns, page.Next
		page, err = w.store.List(w.ctx, w.now, q)
		if err != nil && !errors.Is(err, store.ErrInvalid) {
			w.t.Fatalf("list after the other's cursor: %v", err)
		}
		for _, t := range page.Timers {
			if t.Namespace != to.ns.Name {
				w.t.Errorf("with a cursor of %q, the list of %q shows a timer of %q", from.ns.Name, to.ns.Name, t.Namespace)
			}
		}
	}
}

func isolationOfWrites(w *world) {
	names := []string{"1", "2", "3", "4", "5", "6"}
	a, b := w.twins(names...)
	// b has timers in every state.
	for i, kind := range []store.FinishKind{store.FinishRetry, store.FinishParked, store.FinishDone, store.FinishDead} {
		t, _ := b.row(b.ref(names[i]))
		b.end(&t, kind)
	}
	before := b.everything(names...)

	w.now += second
	a.now = w.now
	for i, kind := range finishKinds() {
		if i < len(names) {
			t, _ := a.row(a.ref(names[i]))
			a.end(&t, kind.kind)
		}
	}
	for _, name := range names {
		a.rearm(a.rearmOp(name, a.now))
		a.update(a.ref(name), timer.Patch{ExecuteAt: new(a.now + hour)})
		a.current(store.Check{Ref: a.ref(name), Revision: a.mustGet(a.ref(name)).Revision, CountStart: true})
		a.put(name, a.now)
		t, _ := a.row(a.ref(name))
		a.end(&t, store.FinishDead)
	}
	for _, n := range a.outbox() {
		a.removeFromOutbox(n.ID)
	}
	for _, c := range a.claim(a.allShards()...) {
		a.check(a.advance(c.Claim, store.MaxKeyAt(a.now+hour)), "advance")
		a.check(a.release(c.Claim, store.MaxKeyAt(a.now+hour)), "release")
	}
	for _, name := range names {
		a.put(name, a.now)
		a.mustWrite(store.Delete{Ref: a.ref(name)})
	}
	settings := a.ns
	settings.Settings.HistoryRetention = store.MinHistoryRetention
	_, err := w.store.UpdateNamespace(w.ctx, settings)
	w.check(err, "update namespace")

	w.wantEverything("the other namespace", b.everything(names...), before)
}

func isolationOfOutbox(w *world) {
	a, b := w.twins("1", "2")
	for i, kind := range []store.FinishKind{store.FinishDead, store.FinishParked} {
		t, _ := b.row(b.ref([]string{"1", "2"}[i]))
		b.end(&t, kind)
	}
	a.wantOutbox("of a", 0)
	marks := b.wantOutbox("of b", 2)
	// The id of an outbox entry with a wrong shard matches nothing.
	for _, n := range marks {
		for _, id := range append(a.allShards(), shard.ID(4_000_000)) {
			n.ID.Ref.Shard = id
			a.removeFromOutbox(n.ID)
		}
	}
	b.wantOutbox("of b, still", 2)
}
