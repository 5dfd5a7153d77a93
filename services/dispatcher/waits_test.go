package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func TestI10_AcknowledgedOnlyAfterTheOutcomeIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		end := n.store.refuseFinish()
		w.put("a", 0, nil)
		// Longer than AckWait: the wait of the message is extended.
		w.pass(30 * time.Second)
		w.wantCalls("a", 1)
		w.wantDepth(1)
		end()
		w.pass(3 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		w.wantDepth(0)
		w.wantCalls("a", 1)
		n.end()
	})
}

func TestI10_KilledBeforeTheOutcomeIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		n.store.set(n.killInFinish, nil)
		w.put("a", 0, nil)
		w.pass(time.Second)
		other := w.start()
		w.pass(10 * time.Second)
		w.wantCalls("a", 2)
		w.wantStatus("a", timer.StatusDone)
		if calls := w.called("a"); calls[0].timer.WebhookID() != calls[1].timer.WebhookID() {
			t.Fatal("the duplicate cannot be attributed")
		}
		other.end()
		<-n.done
	})
}

func TestI10_KilledAfterTheOutcomeIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		n.store.set(nil, n.killInFinish)
		w.put("a", 0, nil)
		w.pass(time.Second)
		other := w.start()
		w.pass(10 * time.Second)
		w.wantCalls("a", 1)
		w.wantStatus("a", timer.StatusDone)
		w.wantDepth(0)
		other.end()
		<-n.done
	})
}

// TestI10_AMessageWhoseRowCannotBeReadIsNotAcknowledged: the bus redelivers it.
func TestI10_AMessageWhoseRowCannotBeReadIsNotAcknowledged(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		n.store.set(func(op string, _ []store.Finish) error {
			if op == "current" {
				return store.ErrClosed
			}
			return nil
		}, nil)
		w.put("a", 0, nil)
		w.pass(time.Second)
		w.wantDepth(1)
		n.store.set(nil, nil)
		w.pass(10 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		w.wantCalls("a", 1)
		n.end()
	})
}

func TestI11_ALongCallbackLeasesItsRow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Minute, 200)
		n := w.start()
		put := w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		w.pass(1900 * time.Millisecond)
		if now := w.get("a"); now.Revision != put.Revision || w.depth() != 1 {
			t.Fatalf("leased before 2 s: %+v", now)
		}
		w.pass(200 * time.Millisecond)
		leased := w.get("a")
		if leased.Revision == put.Revision || leased.Generation != put.Generation || leased.Starts != 1 || leased.Attempts != 0 {
			t.Fatalf("leased: %+v", leased)
		}
		w.wantDepth(0)
		for range 10 {
			w.pass(5 * time.Second)
			now := w.get("a")
			if now.DueAt < timer.SystemClock().Add(9*time.Second) || now.Starts != 1 {
				t.Fatalf("not renewed, or counted again: %+v", now)
			}
		}
		w.pass(10 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		w.wantCalls("a", 1)
		n.end()
	})
}

func TestI11_ADeadDispatchersTimerIsDueAgainByItself(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			if len(w.called("a")) == 1 {
				return after(ctx, time.Hour, 200)
			}
			return dispatcher.Answer{Status: 200}
		}
		n, other := w.start(), w.start()
		w.put("a", 0, nil)
		w.pass(8 * time.Second)
		w.called("a")[0].node.kill()
		w.pass(20 * time.Second)
		w.wantCalls("a", 2)
		w.wantStatus("a", timer.StatusDone)
		if gap := w.called("a")[1].at.Sub(w.called("a")[0].at); gap > 23*time.Second {
			t.Fatalf("due again after %v", gap)
		}
		n.end()
		other.end()
	})
}

func TestI11_UntilTheLeaseIsAnsweredTheMessageIsExtended(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(20*time.Second, 200)
		n := w.start()
		other := w.start() // would get messages whose wait is not extended
		refuse := func(op string, items []store.Finish) error {
			if isKind(items, store.FinishLeased) {
				return store.ErrUnavailable
			}
			return nil
		}
		n.store.set(refuse, nil)
		other.store.set(refuse, nil)
		w.put("a", 0, nil)
		w.pass(15 * time.Second)
		w.wantDepth(1) // while the lease is refused
		w.pass(10 * time.Second)
		w.wantCalls("a", 1)
		w.wantStatus("a", timer.StatusDone)
		n.end()
		other.end()
	})
}

func TestI11_ALeaseThatWasHeldUpIsAsLongAsAnyOther(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Minute, 200)
		n := w.start()
		end := n.store.refuseFinish()
		w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		// Longer than a lease: a lease counted from its first try would end before it begins.
		w.pass(30 * time.Second)
		end()
		w.pass(3 * time.Second)
		if ahead := w.get("a").DueAt.Sub(timer.SystemClock()); ahead < 10*time.Second {
			t.Fatalf("leased for another %v after the outage", ahead)
		}
		w.pass(time.Minute)
		w.wantCalls("a", 1)
		n.end()
	})
}

func TestI11_WithoutABusTheRowIsPostponedAndNoAttemptUsed(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		w.put("a", 0, func(s *timer.Spec) { s.CallbackURL = "" })
		var down atomic.Bool
		down.Store(true)
		w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
			if down.Load() && topic == bus.Fired {
				f.Err = bus.ErrUnavailable
			}
			return f
		}})
		w.pass(30 * time.Second)
		if now := w.wantStatus("a", timer.StatusScheduled); now.Attempts != 0 || len(w.events("a")) != 0 || w.depth() != 0 {
			t.Fatalf("in the outage: %+v, events %v, depth %d", now, w.events("a"), w.depth())
		}
		down.Store(false)
		w.pass(10 * time.Second)
		if got := w.events("a"); !slices.Equal(got, []string{"fired", "result"}) {
			t.Fatalf("events %v", got)
		}
		n.end()
	})
}

func TestI11_WhatCannotBeginHereIsPostponed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, c call) dispatcher.Answer {
			if c.id == "slow" {
				return after(ctx, time.Minute, 200)
			}
			return dispatcher.Answer{Status: 200}
		}
		n := w.start(func(c *dispatcher.Config) { c.Concurrency, c.Room, c.MaxInFlight = 1, 4, 4 })
		w.put("slow", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		w.pass(time.Second)
		put := w.put("quick", 0, nil)
		w.pass(13 * time.Second)
		if now := w.get("quick"); now.Revision == put.Revision || now.Attempts != 0 {
			t.Fatalf("not postponed: %+v", now)
		}
		other := w.start()
		w.pass(20 * time.Second)
		w.wantStatus("quick", timer.StatusDone)
		w.pass(time.Minute)
		w.wantStatus("slow", timer.StatusDone)
		w.wantCalls("slow", 1)
		w.wantCalls("quick", 1)
		n.end()
		other.end()
	})
}

func TestStopWhileARowIsReadThatMustWait(t *testing.T) {
	for name, prepare := range map[string]func(w *world, put timer.Timer){
		"for its time": func(w *world, put timer.Timer) {
			w.publish(store.DueRow{Ref: w.ref("a"), Revision: put.Revision, Generation: put.Generation, Attempt: 1})
		},
		"to be alone": func(w *world, put timer.Timer) {
			check := store.Check{Ref: w.ref("a"), DueAt: put.DueAt, Revision: put.Revision, CountStart: true}
			for range 2 {
				_, err := w.store.Current(t.Context(), []store.Check{check})
				w.must(err)
			}
			w.pass(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				n := w.start()
				n.store.set(nil, func(op string, _ []store.Finish) error {
					if op == "current" {
						n.cancel()
						time.Sleep(time.Second) // virtual, until only this read is left
					}
					return nil
				})
				prepare(w, w.put("a", time.Minute, nil))
				select {
				case <-n.done:
				case <-time.After(time.Minute): // virtual, longer than Drain
					panic("the dispatcher does not stop") // a mere failure would wait for it during clean-up
				}
				w.wantCalls("a", 0)
			})
		})
	}
}

func TestI10_ALostSessionsDeliveriesEndWithoutIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 200)
		n := w.start(func(c *dispatcher.Config) { c.Concurrency = 1 })
		w.put("begun", 0, nil)
		w.pass(step)
		w.put("waiting", 0, nil)
		w.pass(step)
		w.broker.Recreate(bus.Due)
		w.pass(3 * time.Second)
		w.wantStatus("begun", timer.StatusDone)
		w.wantCalls("waiting", 0)
		w.again("waiting")
		w.pass(2 * time.Second)
		w.wantStatus("waiting", timer.StatusDone)
		w.wantCalls("begun", 1)
		n.end()
	})
}

func TestI10_ASecondMemberTakesOverWhatTheFirstGaveBack(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 200)
		n := w.start(func(c *dispatcher.Config) { c.Concurrency = 2 })
		for i := range 6 {
			w.put(fmt.Sprint(i), 0, nil)
		}
		w.pass(100 * time.Millisecond)
		other := w.start()
		n.end()
		w.pass(3 * time.Second)
		for i := range 6 {
			w.wantCalls(fmt.Sprint(i), 1)
			w.wantStatus(fmt.Sprint(i), timer.StatusDone)
		}
		other.end()
	})
}
