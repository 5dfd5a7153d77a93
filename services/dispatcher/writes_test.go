package dispatcher_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestI2_EveryWriteHasItsGuard changes the row of timer "a" immediately before each kind of write: as another
// dispatcher does (a new revision), or as a user does (a new generation, or no row). Answers of the receiver count
// unless a user changed the timer. A write that only records a failure of this delivery must not overwrite another
// dispatcher's write. After a missed write no dead event is published, and the message is acknowledged.
func TestI2_EveryWriteHasItsGuard(t *testing.T) {
	answer := func(status int) func(*world) {
		return func(w *world) {
			w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: status} }
		}
	}
	oneAttempt := func(s *timer.Spec) { s.Retry.MaxAttempts = 1 }
	silent := func(w *world) { // the receiver of "a", after a timer of the same host
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Err: context.DeadlineExceeded} }
		w.put("opens", 0, func(s *timer.Spec) { to("silent")(s); oneAttempt(s) })
		w.pass(100 * time.Millisecond)
	}
	counters := map[store.FinishKind]string{
		store.FinishRetry: "retries_total", store.FinishDead: "dead_total", store.FinishPostponed: "postponed_total",
		store.FinishParked: "parked_total",
	}
	for name, c := range map[string]struct {
		kind    store.FinishKind
		answers bool // the write carries an answer of the receiver, and is guarded by the generation
		prepare func(*world)
		spec    func(*timer.Spec)
		after   func(*world, *node) // once "a" is due
	}{
		"done": {kind: store.FinishDone, answers: true, prepare: answer(200)},
		"gone": {kind: store.FinishDead, answers: true, prepare: answer(410)},
		"final status": {kind: store.FinishDead, answers: true, prepare: func(w *world) {
			w.settle(func(s *store.Settings) { s.FinalStatuses, _ = s.FinalStatuses.With(404) })
			w.pass(40 * time.Second) // the dispatcher reads it
			answer(404)(w)
		}},
		"rescheduled": {kind: store.FinishRescheduled, answers: true, prepare: func(w *world) {
			w.answer = func(_ context.Context, c call) dispatcher.Answer { return again(time.Hour)(c) }
		}},
		"retry":     {kind: store.FinishRetry, prepare: answer(500)},
		"exhausted": {kind: store.FinishDead, prepare: answer(500), spec: oneAttempt},
		"lease": {kind: store.FinishLeased, prepare: func(w *world) {
			w.answer = answerAfter(4*time.Second, 200)
		}},
		"parked": {
			kind: store.FinishParked, prepare: answer(200), spec: func(s *timer.Spec) { s.ExecuteAt += 1000 },
			after: func(w *world, _ *node) { w.count("a", 5) },
		},
		"postponed without a bus": {
			kind: store.FinishPostponed, spec: func(s *timer.Spec) { s.Deliver = timer.DeliverEvent },
			prepare: func(w *world) {
				w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
					if topic == bus.Fired {
						f.Err = bus.ErrUnavailable
					}
					return f
				}})
			},
		},
		"postponed for a slot": {kind: store.FinishPostponed, prepare: func(w *world) {
			w.answer = answerAfter(time.Minute, 200)
			w.put("slow", 0, nil)
			w.pass(100 * time.Millisecond)
		}},
		"postponed for its host": {kind: store.FinishPostponed, prepare: silent, spec: to("silent")},
		"not called: its host is dead": {kind: store.FinishRetry, prepare: silent, spec: func(s *timer.Spec) {
			to("silent")(s)
			s.Retry.InitialInterval = time.Second
		}},
		"cut off by a stop": {
			kind: store.FinishPostponed,
			prepare: func(w *world) {
				w.answer = answerAfter(time.Hour, 200)
			},
			after: func(w *world, n *node) { w.pass(time.Second); n.end() },
		},
	} {
		for change, of := range map[string]func(*world){
			"by another dispatcher": func(w *world) { w.move("a", time.Hour) },
			"by an update": func(w *world) {
				at := timer.SystemClock().Add(time.Hour)
				w.write(store.Update{Ref: w.ref("a"), Revision: w.revisions.Next(), Patch: timer.Patch{ExecuteAt: &at}})
			},
			"by a delete":   func(w *world) { w.write(store.Delete{Ref: w.ref("a")}) },
			"by a new life": func(w *world) { w.write(store.Delete{Ref: w.ref("a")}); w.put("a", time.Hour, nil) },
		} {
			t.Run(name+"/"+change, func(t *testing.T) {
				inWorld(t, func(w *world) {
					n, metric := w.metered(func(c *dispatcher.Config) {
						c.Concurrency, c.HoldFor, c.CircuitAfter, c.Drain = 1, time.Second, 1, time.Second
					})
					c.prepare(w)
					var changed, written timer.Timer
					count := func() (sum float64) {
						if name, has := counters[c.kind]; has {
							_, sum = metric(name)
						}
						return sum
					}
					writes, counted := 0, 0.0
					n.store.set(func(_ string, items []store.Finish) error {
						if mine := w.finishOf("a", c.kind, items); mine && writes == 0 {
							of(w)
							changed = w.get("a")
							counted = count()
						}
						return nil
					}, func(_ string, items []store.Finish) error {
						if mine := w.finishOf("a", c.kind, items); mine {
							if writes++; writes == 1 {
								written = w.get("a")
							}
						}
						return nil
					})
					w.put("a", 0, c.spec)
					if c.after != nil {
						c.after(w, n)
					}
					w.pass(5 * time.Second)
					if writes == 0 {
						t.Fatal("the write did not arrive")
					}
					want := c.answers && change == "by another dispatcher"
					if got := !reflect.DeepEqual(changed, written); got != want {
						t.Errorf("written: %t, want %t; the row was\n%+v, is\n%+v", got, want, changed, written)
					}
					notices := slices.DeleteFunc(w.events("a"), func(e string) bool { return e == "result" })
					if dead := want && c.kind == store.FinishDead; dead != slices.Equal(notices, []string{"dead"}) || !dead && len(notices) > 0 {
						t.Errorf("published %v", notices)
					}
					if count() > counted && !want {
						t.Errorf("%s counts a write that missed", counters[c.kind])
					}
					w.wantDepth(0)
					n.end()
				})
			})
		}
	}
}

// finishOf reports whether a write of the kind, for the timer, is among those of a call.
func (w *world) finishOf(id string, kind store.FinishKind, items []store.Finish) bool {
	return slices.ContainsFunc(items, func(f store.Finish) bool { return f.Ref == w.ref(id) && f.Kind == kind })
}
