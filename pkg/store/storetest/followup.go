package storetest

import (
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func followUpTests() []test {
	return []test{
		{"I19_AFollowUpIsWrittenWithItsOutcome", followUpWritten},
		{"I19_WithoutItsOutcomeThereIsNoFollowUp", followUpRefused},
		{"I19_FollowUpsOfALargeBatch", followUpBatch},
	}
}

// followUp returns the create of a follow-up of a timer.
func (w *world) followUp(t *timer.Timer, name string) *store.Put {
	shard := w.ref(t.ID).Shard
	id := w.ns.Shards.FollowUpID(shard, name)
	put := w.putOp(id, w.now)
	put.Spec.Deliver, put.Spec.Topic, put.Spec.EventKey = timer.DeliverCallback, "", ""
	if put.Ref.Shard != shard {
		w.t.Fatalf("the suite's own follow-up %q is in shard %s, want %s", id, put.Ref.Shard, shard)
	}
	return &put
}

func followUpWritten(w *world) {
	for _, kind := range []store.FinishKind{store.FinishDone, store.FinishDead} {
		for _, state := range rowStates {
			id := fmt.Sprint(state, kind)
			row := w.inState(id, state)
			marks := len(w.outbox())
			if state == "parked" {
				marks--
			}
			w.now += second
			f := w.finishOp(&row, kind)
			f.FollowUp = w.followUp(&row, id)
			w.check(w.finish(f), "finish %s", id)
			w.wantNoRow(f.Ref)
			want := timer.StatusDone
			if kind == store.FinishDead {
				want = timer.StatusDead
				marks++
			}
			if got := w.mustGet(f.Ref); got.Status != want {
				w.t.Errorf("%s: finished as %s, want %s", id, got.Status, want)
			}
			w.wantOutbox(id, marks)
			next, found := w.row(f.FollowUp.Ref)
			if !found {
				w.t.Fatalf("%s has no follow-up", id)
			}
			w.equal("spec of the follow-up", next.Spec, f.FollowUp.Spec)
			if next.ID != f.FollowUp.ID || next.Status != timer.StatusScheduled || next.DueAt != w.now || next.Revision != f.FollowUp.Revision ||
				next.Generation != timer.Generation(next.Revision) || next.CreatedAt != w.now || next.Attempts != 0 {
				w.t.Errorf("%s: follow-up %+v", id, next)
			}
			w.equal("get of the follow-up", w.mustGet(f.FollowUp.Ref), next)
		}
	}
}

func followUpRefused(w *world) {
	row := w.used("a")
	w.now += second
	stale := w.finishOp(&row, store.FinishDone)
	stale.If = store.Guard{Revision: row.Revision - 1}
	stale.FollowUp = w.followUp(&row, "stale")
	w.wantErr(w.finish(stale), store.ErrConflict, "finish with an old revision")
	w.wantNoRow(stale.FollowUp.Ref)
	w.wantRow(stale.Ref, &row)

	once := w.finishOp(&row, store.FinishDead)
	once.FollowUp = w.followUp(&row, "once")
	w.check(w.finish(once), "finish")
	first, _ := w.row(once.FollowUp.Ref)
	again := once
	put := *once.FollowUp
	put.Revision = w.next()
	again.FollowUp = &put
	w.now += second
	w.wantErr(w.finish(again), store.ErrNotFound, "the same outcome again")
	w.wantRow(once.FollowUp.Ref, &first)
}

// followUpBatch: items with and without a follow-up, of which some are refused.
func followUpBatch(w *world) {
	const n = 60
	ops := make([]store.Op, n)
	for i := range ops {
		ops[i] = w.putOp(fmt.Sprint("timer ", i), w.now)
	}
	items := make([]store.Finish, n)
	for i, out := range w.writeAll(ops...) {
		items[i] = w.finishOp(&out.Timer, []store.FinishKind{store.FinishDone, store.FinishDead}[i%2])
		if i%3 != 0 {
			items[i].FollowUp = w.followUp(&out.Timer, fmt.Sprint("of ", i))
		}
		if i%5 == 0 {
			items[i].If = store.Guard{Revision: out.Timer.Revision + 1}
		}
	}
	errs, err := w.store.Finish(w.ctx, w.now, items)
	w.check(err, "finish")
	for i := range items {
		refused := i%5 == 0
		if (errs[i] != nil) != refused {
			w.t.Fatalf("item %d: %v", i, errs[i])
		}
		if _, there := w.row(items[i].Ref); there != refused {
			w.t.Errorf("item %d: the row is there: %t", i, there)
		}
		if next := items[i].FollowUp; next != nil {
			if _, there := w.row(next.Ref); there == refused {
				w.t.Errorf("item %d: the follow-up is there: %t", i, there)
			}
		}
	}
}
