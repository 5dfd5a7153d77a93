package dispatcher_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

func TestI2_SuccessOfAnOldGenerationWritesNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Second, 200) }
		n := w.start()
		w.put("a", 0, nil)
		w.pass(500 * time.Millisecond)
		updated := w.write(store.Update{Ref: w.ref("a"), Revision: w.revisions.Next()}).Timer
		w.release()
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		now := w.wantStatus("a", timer.StatusScheduled)
		if now.Generation != updated.Generation || now.Attempts != 0 {
			t.Fatalf("after the old success: %+v", now)
		}
		w.pass(2 * time.Second)
		w.wantCalls("a", 2)
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}

func TestI2_SuccessCountsAlthoughTheRevisionMoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Second, 200) }
		n := w.start()
		w.put("a", 0, nil)
		w.pass(500 * time.Millisecond)
		w.move("a", time.Hour)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}

func TestI2_FailureMissesWhenTheRevisionMoved(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Second, 500) }
		n := w.start()
		w.put("a", 0, nil)
		w.pass(500 * time.Millisecond)
		w.move("a", time.Hour)
		w.pass(time.Second)
		if now := w.wantStatus("a", timer.StatusScheduled); now.Attempts != 0 || now.DueAt < timer.SystemClock().Add(time.Minute) {
			t.Fatalf("the failure was written: %+v", now)
		}
		n.end()
	})
}

// move postpones a row behind its dispatcher's back, as another dispatcher would.
func (w *world) move(id string, d time.Duration) {
	w.t.Helper()
	t := w.get(id)
	answers, err := w.store.Finish(w.t.Context(), timer.SystemClock(), []store.Finish{{
		Ref: w.ref(id), Kind: store.FinishPostponed, If: store.Guard{Revision: t.Revision},
		Next: w.revisions.Next(), NextAt: timer.SystemClock().Add(d),
	}})
	w.must(err)
	w.must(answers[0])
}

func TestI2_FailureIsGuardedByTheLeasesRevision(t *testing.T) {
	for name, fault := range map[string]func(*faulty){
		"answered": func(*faulty) {},
		"applied, answer lost": func(f *faulty) {
			f.set(nil, once(store.FinishLeased, store.ErrOutcomeUnknown))
		},
		"not applied, answer lost": func(f *faulty) {
			f.set(once(store.FinishLeased, store.ErrOutcomeUnknown), nil)
		},
		"applied late, after the row was read": func(f *faulty) {
			var late []store.Finish
			refuse := once(store.FinishLeased, store.ErrOutcomeUnknown)
			f.set(func(op string, items []store.Finish) error {
				err := refuse(op, items)
				if err != nil {
					late = slices.Clone(items)
				}
				return err
			}, func(op string, _ []store.Finish) error {
				if op == "current" && late != nil {
					_, err := f.Store.Finish(context.Background(), timer.SystemClock(), late)
					late = nil
					return err
				}
				return nil
			})
		},
		"refused": func(f *faulty) {
			f.set(once(store.FinishLeased, store.ErrUnavailable), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, 3*time.Second, 500) }
				n := w.start()
				fault(n.store)
				w.put("a", 0, nil)
				w.pass(5 * time.Second)
				now := w.wantStatus("a", timer.StatusRetrying)
				if now.Attempts != 1 || now.Starts != 0 {
					t.Fatalf("after the failure: %+v", now)
				}
				n.end()
			})
		})
	}
}

// once fails the first write of a kind.
func once(kind store.FinishKind, err error) func(string, []store.Finish) error {
	failed := false
	return func(op string, items []store.Finish) error {
		if op != "finish" || failed || !isKind(items, kind) {
			return nil
		}
		failed = true
		return err
	}
}

func TestI2_UnknownOutcomesAreResolved(t *testing.T) {
	for name, c := range map[string]struct {
		kind   store.FinishKind
		answer func(c call) dispatcher.Answer
		want   timer.Status
	}{
		"done":        {store.FinishDone, status(200), timer.StatusDone},
		"retry":       {store.FinishRetry, status(500), timer.StatusRetrying},
		"dead":        {store.FinishDead, status(410), timer.StatusDead},
		"rescheduled": {store.FinishRescheduled, again(time.Minute), timer.StatusScheduled},
	} {
		for _, applied := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, applied %t", name, applied), func(t *testing.T) {
				inWorld(t, func(w *world) {
					w.answer = func(_ context.Context, call call) dispatcher.Answer { return c.answer(call) }
					n := w.start()
					fault := once(c.kind, store.ErrOutcomeUnknown)
					if applied {
						n.store.set(nil, fault)
					} else {
						n.store.set(fault, nil)
					}
					first := w.put("a", 0, nil)
					w.pass(2 * time.Second)
					now := w.wantStatus("a", c.want)
					if now.Generation != first.Generation && c.kind != store.FinishRescheduled {
						t.Fatalf("%+v", now)
					}
					entries, err := w.store.History(t.Context(), timer.SystemClock(), w.ref("a"), 10)
					w.must(err)
					if len(entries) != 1 {
						t.Fatalf("history %+v, want one attempt", entries)
					}
					w.wantCalls("a", 1)
					if d := w.depth(); d != 0 {
						t.Fatalf("%d messages are left", d)
					}
					n.end()
				})
			})
		}
	}
}

func status(code int) func(call) dispatcher.Answer {
	return func(call) dispatcher.Answer { return dispatcher.Answer{Status: code} }
}

func again(d time.Duration) func(call) dispatcher.Answer {
	return func(c call) dispatcher.Answer {
		return dispatcher.Answer{Status: 200, Body: []byte(`{"nextExecuteAt":"` + c.at.Add(d).String() + `"}`)}
	}
}

func TestI7_WhatWasDeletedBeforeItsTimeNeverGoesOut(t *testing.T) {
	inWorld(t, func(w *world) {
		// The scheduler's clock runs ahead, so that the event is there long before its time.
		w.ahead = 200 * time.Millisecond
		n := w.start()
		for i := range 20 {
			w.put(fmt.Sprint(i), time.Second, nil)
		}
		w.pass(999*time.Millisecond - step)
		if d := w.depth(); d != 20 {
			t.Fatalf("%d events wait for their time, want 20", d)
		}
		for i := range 10 {
			w.write(store.Delete{Ref: w.ref(fmt.Sprint(i))})
		}
		for i := 10; i < 15; i++ {
			later := timer.SystemClock().Add(time.Hour)
			w.write(store.Update{
				Ref: w.ref(fmt.Sprint(i)), Revision: w.revisions.Next(), Patch: timer.Patch{ExecuteAt: &later},
			})
		}
		w.pass(time.Second)
		for i := range 20 {
			w.wantCalls(fmt.Sprint(i), i/15)
		}
		if d := w.depth(); d != 0 {
			t.Fatalf("%d messages are left", d)
		}
		n.end()
	})
}

func TestI7_NothingLiesBetweenTheRowCheckAndTheRequest(t *testing.T) {
	inWorld(t, func(w *world) {
		// One slot: the second timer must be read when the first has ended, not with it.
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Second, 200) }
		n := w.start(func(c *dispatcher.Config) { c.Concurrency = 1 })
		w.put("a", 0, nil)
		w.pass(step)
		w.put("b", 0, nil)
		w.pass(500 * time.Millisecond)
		w.wantCalls("b", 0)
		w.write(store.Delete{Ref: w.ref("b")})
		w.pass(2 * time.Second)
		w.wantCalls("a", 1)
		w.wantCalls("b", 0)
		n.end()
	})
}

func TestI8_NothingIsEarlyByTheNodesClock(t *testing.T) {
	inWorld(t, func(w *world) {
		const behind = 200 * time.Millisecond
		clock := func() timer.Millis { return timer.SystemClock().Add(-behind) }
		n := w.start(func(c *dispatcher.Config) { c.Clock = clock })
		w.put("a", time.Second, nil)
		w.pass(2 * time.Second)
		w.wantCalls("a", 1)
		c := w.called("a")[0]
		if late := c.at.Sub(c.timer.DueAt); late < behind || late > behind+step {
			t.Fatalf("called at %v, want its time by the node's clock", late)
		}
		n.end()
	})
}

func TestI8_FarFromItsTimeAnEventGoesBackToTheQueue(t *testing.T) {
	inWorld(t, func(w *world) {
		w.ahead = time.Minute
		n := w.start(func(c *dispatcher.Config) { c.MaxInFlight = 2 })
		for i := range 10 {
			w.put(fmt.Sprint("far", i), time.Minute, nil)
		}
		w.pass(step)
		w.put("near", 0, nil)
		w.pass(time.Second)
		w.wantStatus("near", timer.StatusDone) // the far ones do not fill the process
		w.pass(90 * time.Second)
		for i := range 10 {
			w.wantCalls(fmt.Sprint("far", i), 1)
			if c := w.called(fmt.Sprint("far", i))[0]; c.at < c.timer.DueAt {
				t.Fatalf("called at %v, due at %v", c.at, c.timer.DueAt)
			}
		}
		n.end()
	})
}

func TestI10_AcknowledgedOnlyAfterTheOutcomeIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		var down atomic.Bool
		down.Store(true)
		n.store.set(func(op string, _ []store.Finish) error {
			if down.Load() && op == "finish" {
				return store.ErrUnavailable
			}
			return nil
		}, nil)
		w.put("a", 0, nil)
		// Longer than the bus waits for an acknowledgement: the message is extended.
		w.pass(30 * time.Second)
		w.wantCalls("a", 1)
		if d := w.depth(); d != 1 {
			t.Fatalf("depth %d with the outcome not stored, want 1", d)
		}
		down.Store(false)
		w.pass(3 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		if d := w.depth(); d != 0 {
			t.Fatalf("depth %d", d)
		}
		w.wantCalls("a", 1)
		n.end()
	})
}

func TestI10_KilledBeforeTheOutcomeIsStored(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		n.store.set(func(op string, _ []store.Finish) error {
			if op == "finish" {
				n.kill()
				return store.ErrClosed
			}
			return nil
		}, nil)
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
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "finish" {
				n.kill()
				return store.ErrClosed
			}
			return nil
		})
		w.put("a", 0, nil)
		w.pass(time.Second)
		other := w.start()
		w.pass(10 * time.Second)
		w.wantCalls("a", 1)
		w.wantStatus("a", timer.StatusDone)
		if d := w.depth(); d != 0 {
			t.Fatalf("depth %d", d)
		}
		other.end()
		<-n.done
	})
}

func TestI11_ALongCallbackLeasesItsRow(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Minute, 200) }
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
		if w.depth() != 0 {
			t.Fatal("the message is not acknowledged")
		}
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
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, 20*time.Second, 200) }
		n := w.start()
		other := w.start() // would get what is not extended
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
		if w.depth() != 1 {
			t.Fatalf("depth %d while the lease is refused", w.depth())
		}
		w.pass(10 * time.Second)
		w.wantCalls("a", 1)
		w.wantStatus("a", timer.StatusDone)
		n.end()
		other.end()
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

func TestI14_ResultsLeaveBeforeTheOutcomeAndNoticesAfter(t *testing.T) {
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
		w.wantTrace("fired", "results", "finish", "dead", "announced")
		left, err := w.store.Unannounced(t.Context(), w.shardIDs(), timer.Never, 10)
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

func TestI14_ANoticeThatIsLostLeavesTheMark(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 400} }
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
		left, err := w.store.Unannounced(t.Context(), w.shardIDs(), timer.Never, 10)
		w.must(err)
		if len(left) != 1 || left[0].Timer.LastStatus != 400 {
			t.Fatalf("marked: %+v", left)
		}
		if w.depth() != 0 {
			t.Fatal("the message is not acknowledged")
		}
		n.end()
	})
}

func TestI8_TheRowsTimeCountsAndNotTheEvents(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		put := w.put("a", 3*time.Second, nil)
		w.publish(store.DueRow{
			Ref: w.ref("a"), Revision: put.Revision, Generation: put.Generation, Attempt: 1, DueAt: put.DueAt.Add(-time.Minute),
		})
		w.pass(2900 * time.Millisecond)
		w.wantCalls("a", 0)
		w.pass(200 * time.Millisecond)
		w.wantCalls("a", 1)
		n.end()
	})
}

func TestI10_ALostSessionsDeliveriesEndWithoutIt(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Second, 200) }
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
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, time.Second, 200) }
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
