package dispatcher_test

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func TestI14_ResultsLeaveBeforeTheOutcomeAndDeadEventsAfter(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if topic != bus.Due {
				w.note("%s", topic)
			}
			return f
		}})
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op != "current" {
				w.note("%s", op)
			}
			return nil
		})
		w.put("a", 0, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		w.pass(time.Second)
		w.wantTrace("fired", "results", "finish", "dead", "remove from outbox")
		left, err := w.store.Outbox(t.Context(), w.shardIDs(), timer.Never, 10)
		w.must(err)
		if len(left) != 0 {
			t.Fatalf("still marked: %+v", left)
		}
		n.end()
	})
}

func TestI14_WithoutABusNoOutcomeIsWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("a", 0, nil)
		w.put("b", 0, func(s *timer.Spec) { s.Deliver = timer.DeliverBoth })
		var down atomic.Bool
		down.Store(true)
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if down.Load() && topic != bus.Due {
				f.Err = bus.ErrOutcomeUnknown
			}
			return f
		}})
		w.pass(time.Minute)
		for _, id := range []string{"a", "b"} {
			if now := w.wantStatus(id, timer.StatusScheduled); now.DueAt < timer.SystemClock() {
				t.Fatalf("the lease was not renewed: %+v", now)
			}
		}
		down.Store(false)
		w.pass(5 * time.Second)
		if a, b := w.events("a"), w.events("b"); !slices.Equal(a, []string{"result"}) || !slices.Equal(b, []string{"fired", "result"}) {
			t.Fatalf("events %v and %v", a, b)
		}
		for _, id := range []string{"a", "b"} {
			w.wantCalls(id, 1)
			w.wantStatus(id, timer.StatusDone)
		}
		n.end()
	})
}

func TestI14_ALostDeadEventStaysInTheOutbox(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if topic == bus.Dead {
				f.Err = bus.ErrUnavailable
			}
			return f
		}})
		w.put("a", 0, nil)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDead)
		left, err := w.store.Outbox(t.Context(), w.shardIDs(), timer.Never, 10)
		w.must(err)
		if len(left) != 1 || left[0].Timer.LastStatus != 410 {
			t.Fatalf("marked: %+v", left)
		}
		w.wantDepth(0)
		n.end()
	})
}

// TestI14_OnlyAWriteThatIsKnownToBeAppliedIsPublished: if the answer to a dead write is lost and its repetition misses,
// a user may have changed or deleted the timer. If the write was applied, its mark is in the store, and the scheduler
// publishes it.
func TestI14_OnlyAWriteThatIsKnownToBeAppliedIsPublished(t *testing.T) {
	remove := func(w *world) { w.write(store.Delete{Ref: w.ref("a")}) }
	update := func(w *world) {
		at := timer.SystemClock().Add(time.Hour)
		w.write(store.Update{Ref: w.ref("a"), Revision: w.revisions.Next(), Patch: timer.Patch{ExecuteAt: &at}})
	}
	anew := func(w *world) { w.put("a", time.Hour, nil) }
	for name, c := range map[string]struct {
		applied       bool         // the first try, whose answer is lost
		between       func(*world) // runs before the second try
		events, marks int
	}{
		"not applied":          {events: 1},
		"not applied, deleted": {between: remove},
		"not applied, updated": {between: update},
		"not applied, anew":    {between: anew},
		"applied":              {applied: true, marks: 1},
		"applied, anew":        {applied: true, between: anew, marks: 1},
	} {
		for _, status := range []int{410, 500} { // dead by answer, dead by exhaustion
			t.Run(name+"/"+strconv.Itoa(status), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: status} }
					n := w.start()
					tries := 0
					lose := func(applied bool) func(string, []store.Finish) error {
						return func(_ string, items []store.Finish) error {
							if tries == 1 && applied == c.applied && isKind(items, store.FinishDead) {
								return store.ErrOutcomeUnknown
							}
							return nil
						}
					}
					before := lose(false)
					n.store.set(func(op string, items []store.Finish) error {
						if isKind(items, store.FinishDead) {
							if tries++; tries == 2 && c.between != nil {
								c.between(w)
							}
						}
						return before(op, items)
					}, lose(true))
					w.put("a", 0, func(s *timer.Spec) { s.Retry.MaxAttempts = 1 })
					w.pass(10 * time.Second)
					if tries < 2 {
						t.Fatalf("%d tries, want a repetition", tries)
					}
					notices := slices.DeleteFunc(w.events("a"), func(e string) bool { return e == "result" })
					if len(notices) != c.events {
						t.Errorf("the dispatcher published %v, want %d", notices, c.events)
					}
					left, err := w.store.Outbox(t.Context(), w.shardIDs(), timer.Never, 10)
					w.must(err)
					if len(left) != c.marks || w.depth() != 0 {
						t.Errorf("%d marks and %d messages are left, want %d and 0", len(left), w.depth(), c.marks)
					}
					n.end()
				})
			})
		}
	}
}
