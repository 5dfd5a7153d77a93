package storetest

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func followUpTests() []test {
	return []test{
		{"I19_AFollowUpIsWrittenWithItsOutcome", followUpWritten},
		{"I19_WithoutItsOutcomeThereIsNoFollowUp", followUpRefused},
		{"I19_FollowUpsOfALargeBatch", followUpBatch},
		{"I22_AnOccurrenceIsWrittenWithItsScheduleMoved", occurrenceWritten},
		{"I22_WithoutTheMoveThereIsNoOccurrence", occurrenceRefused},
		{"I22_AnUpdateKeepsTheStateOfASchedule", scheduleUpdated},
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

const aSchedule = `{"specs":[{"cron":"0 8 * * *"}],"version":1}`

// scheduleOp returns the create of a schedule that is due at a time.
func (w *world) scheduleOp(id string, at timer.Millis) store.Put {
	put := w.putOp(id, at)
	put.Spec.Schedule = aSchedule
	return put
}

// advanceSchedule returns the outcome that moves a schedule and creates an occurrence.
func (w *world) advanceSchedule(row *timer.Timer, next timer.Millis, state string) store.Finish {
	f := w.finishOp(row, store.FinishRescheduled)
	f.If = store.Guard{Revision: row.Revision}
	f.NextAt, f.ScheduleState = next, state
	f.FollowUp = w.followUp(row, fmt.Sprint(row.ID, "@", row.ExecuteAt))
	return f
}

func occurrenceWritten(w *world) {
	row := w.write(w.scheduleOp("daily", w.now+second)).Timer
	w.equal("schedule of a new row", row.Schedule+row.ScheduleState, aSchedule)
	for i := range 3 {
		w.now = row.ExecuteAt
		next, state := w.now+timer.Millis(1+i)*hour, fmt.Sprintf(`{"created":%d}`, i+1)
		f := w.advanceSchedule(&row, next, state)
		w.check(w.finish(f), "advance %d", i)
		moved, found := w.row(f.Ref)
		if !found || moved.ExecuteAt != next || moved.DueAt != next || moved.PlannedAt != next || moved.Revision != f.Next ||
			moved.Generation != timer.Generation(f.Next) || moved.Status != timer.StatusScheduled {
			w.t.Fatalf("advance %d: found %t, %+v", i, found, moved)
		}
		w.equal("schedule", moved.Schedule+moved.ScheduleState, aSchedule+state)
		w.equal("payload", string(moved.Payload), string(row.Payload))
		occurrence, found := w.row(f.FollowUp.Ref)
		if !found || occurrence.DueAt != w.now || occurrence.ScheduleState != "" {
			w.t.Fatalf("advance %d: occurrence found %t, %+v", i, found, occurrence)
		}
		w.equal("get", w.mustGet(f.Ref), moved)
		w.wantErr(w.finish(f), store.ErrConflict, "the same advance again")
		row = moved
	}
	last := w.finishOp(&row, store.FinishDone)
	w.check(w.finish(last), "end")
	ended := w.mustGet(last.Ref)
	w.equal("schedule in history", ended.Schedule+ended.ScheduleState, aSchedule+`{"created":3}`)
}

func occurrenceRefused(w *world) {
	row := w.write(w.scheduleOp("daily", w.now)).Timer
	f := w.advanceSchedule(&row, w.now+hour, "{}")
	paused := w.write(store.Pause{Ref: f.Ref, Revision: w.next()}).Timer
	w.wantErr(w.finish(f), store.ErrConflict, "advance of a schedule that was paused")
	w.wantNoRow(f.FollowUp.Ref)
	w.wantRow(f.Ref, &paused)
	w.write(store.Delete{Ref: f.Ref})
	w.wantErr(w.finish(f), store.ErrNotFound, "advance of a schedule that was deleted")
	w.wantNoRow(f.FollowUp.Ref)
}

func scheduleUpdated(w *world) {
	row := w.write(w.scheduleOp("daily", w.now)).Timer
	f := w.advanceSchedule(&row, w.now+hour, `{"created":1}`)
	w.check(w.finish(f), "advance")
	const other = `{"specs":[{"cron":"0 9 * * *"}],"version":2}`
	definition, at := other, w.now+2*hour
	updated := w.write(store.Update{Ref: f.Ref, Revision: w.next(), Patch: timer.Patch{Schedule: &definition, ExecuteAt: &at, Window: new(time.Duration)}}).Timer
	w.equal("schedule", updated.Schedule+updated.ScheduleState, other+`{"created":1}`)
	w.equal("due", updated.DueAt, at)
	w.equal("get", w.mustGet(f.Ref), updated)
	replaced := w.write(w.scheduleOp("daily", w.now)).Timer
	w.equal("a replaced schedule begins anew", replaced.Schedule+replaced.ScheduleState, aSchedule)
}
