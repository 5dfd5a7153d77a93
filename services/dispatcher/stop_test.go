package dispatcher_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestI10_AStopAcknowledgesOnlyWhatIsStored: the service stops during an outage of the store. No write succeeds, so the
// message stays in the queue, and the next process delivers the timer without waiting for the sweep.
func TestI10_AStopAcknowledgesOnlyWhatIsStored(t *testing.T) {
	answer := func(status int) func(*world) {
		return func(w *world) {
			w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: status} }
		}
	}
	for name, c := range map[string]struct {
		prepare func(*world)
		spec    func(*timer.Spec)
		starts  int
	}{
		"done":  {prepare: answer(200)},
		"dead":  {prepare: answer(410)},
		"retry": {prepare: answer(500)},
		"cut off": {prepare: func(w *world) {
			w.answer = answerAfter(time.Hour, 200)
		}},
		"parked": {prepare: answer(200), starts: 5},
		"postponed": {
			prepare: func(w *world) {
				w.broker.SetFaults(membus.Faults{Publish: func(_ *membus.Member, topic bus.Topic, _ []bus.Message) (f membus.PublishFault) {
					if topic == bus.Fired {
						f.Err = bus.ErrUnavailable
					}
					return f
				}})
			},
			spec: func(s *timer.Spec) { s.Deliver = timer.DeliverEvent },
		},
		"postponed unread": {prepare: func(w *world) {
			w.answer = answerAfter(time.Hour, 200)
			w.put("slow", 0, nil)
			w.pass(4 * time.Second) // it has a lease, and its message is acknowledged
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				n := w.start(func(c *dispatcher.Config) { c.Concurrency, c.HoldFor, c.Drain = 1, time.Second, time.Second })
				c.prepare(w)
				n.store.set(func(op string, items []store.Finish) error {
					if op == "finish" && items[0].Ref == w.ref("a") {
						return store.ErrUnavailable
					}
					return nil
				}, nil)
				before := w.put("a", 500*time.Millisecond, c.spec)
				w.count("a", c.starts)
				w.pass(4 * time.Second)
				n.end()
				synctest.Wait()
				if now := w.get("a"); now.Revision != before.Revision {
					t.Fatalf("the write was applied: %+v", now)
				}
				if d := w.depth(); d != 1 {
					t.Fatalf("%d messages in the queue, want the one whose outcome is not stored", d)
				}
				w.broker.SetFaults(membus.Faults{})
				w.answer = nil
				other := w.start()
				w.pass(10 * time.Second)
				if c.starts == 5 {
					w.wantStatus("a", timer.StatusParked)
				} else {
					w.wantStatus("a", timer.StatusDone)
				}
				other.end()
			})
		})
	}
}

// TestI10_AnEventOfTheLeasedStateJoinsTheDelivery: a lease that is renewed too late makes the row due during the
// callback.
func TestI10_AnEventOfTheLeasedStateJoinsTheDelivery(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(40*time.Second, 200)
		n := w.start()
		var leased timer.Millis // when the row was leased first
		var late time.Duration  // how long the row was due before its lease was renewed
		n.store.set(func(_ string, items []store.Finish) error {
			if !isKind(items, store.FinishLeased) {
				return nil
			}
			now := timer.SystemClock()
			if leased == 0 {
				leased = now
			} else if now.Sub(leased) < 25*time.Second {
				late = max(late, now.Sub(w.get("a").DueAt))
				return store.ErrUnavailable
			}
			return nil
		}, nil)
		w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		w.pass(45 * time.Second)
		if late < time.Second {
			t.Fatal("the row was not due during the callback")
		}
		w.wantCalls("a", 1)
		w.wantStatus("a", timer.StatusDone)
		w.wantDepth(0)
		n.end()
	})
}

// TestI13_RefusalsOfAHostNeverPark: refusals are no starts, even for redelivered events.
func TestI13_RefusalsOfAHostNeverPark(t *testing.T) {
	inWorld(t, func(w *world) {
		w.byHost(map[string]func(context.Context) dispatcher.Answer{
			"hangs": func(ctx context.Context) dispatcher.Answer { return after(ctx, 4*time.Minute, 200) },
		})
		w.settle(func(s *store.Settings) { s.HostConcurrency = 1 })
		n, metric := w.metered(func(c *dispatcher.Config) {
			c.ParkAfter, c.MaxPostpone = 5, 10*time.Second
			c.Redelivered = func(*bus.Delivery) bool { return true }
		})
		w.put("first", 0, func(s *timer.Spec) { to("hangs")(s); s.CallbackTimeout = timer.MaxCallbackTimeout })
		w.pass(50 * time.Millisecond)
		w.put("refused", 0, to("hangs"))
		w.pass(4*time.Minute - time.Second)
		w.wantCalls("refused", 0)
		if _, postponed := metric("postponed_total"); postponed < 6 {
			t.Fatalf("%v postponements, want more than starts that park", postponed)
		}
		now := w.wantStatus("refused", timer.StatusScheduled)
		if now.Starts != 0 {
			t.Errorf("%d starts are counted, want none", now.Starts)
		}
		if n := now.Revision.Postponements(); n < 6 {
			t.Errorf("the revision says %d postponements, want the number in a row (I11)", n)
		}
		w.byHost(nil)
		w.pass(time.Minute)
		w.wantStatus("refused", timer.StatusDone)
		n.end()
	})
}

// TestTheBackoffCountsFromTheEndOfAnAttempt: a callback that times out must not be retried sooner than one that fails
// immediately.
func TestTheBackoffCountsFromTheEndOfAnAttempt(t *testing.T) {
	const took, pause = 20 * time.Second, 10 * time.Second
	for name, spec := range map[string]func(*timer.Spec){
		"error":   func(s *timer.Spec) { s.CallbackTimeout = time.Minute },
		"timeout": func(s *timer.Spec) { s.CallbackTimeout = took },
		"both":    func(s *timer.Spec) { s.Deliver = timer.DeliverBoth; s.CallbackTimeout = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = answerAfter(took, 500)
				n := w.start()
				w.put("a", 0, func(s *timer.Spec) {
					spec(s)
					s.Retry = timer.RetryPolicy{MaxAttempts: 3, InitialInterval: pause, BackoffMultiplier: 1, MaxInterval: pause}
				})
				w.pass(90 * time.Second)
				calls := w.called("a")
				if len(calls) != 3 {
					t.Fatalf("%d calls, want 3", len(calls))
				}
				for i := 1; i < len(calls); i++ {
					between := calls[i].at.Sub(calls[i-1].at) - took
					low, high := time.Duration(float64(pause)*(1-timer.Jitter)), time.Duration(float64(pause)*(1+timer.Jitter))+2*step
					if between < low || between > high {
						t.Errorf("attempt %d started %v after the end of the previous one, want %v to %v", i+1, between, low, high)
					}
				}
				n.end()
			})
		})
	}
}

// slowAcks is a bus whose acknowledgements of due events take a second.
type slowAcks struct{ bus.Bus }

func (b *slowAcks) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return b.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		o, err := open(ctx, p)
		return &slowSession{o}, err
	})
}

type slowSession struct{ bus.Session }

func (s *slowSession) Deliver(ctx context.Context, m *bus.Delivery) error {
	m.Acker = &slowAck{m.Acker}
	return s.Session.Deliver(ctx, m)
}

type slowAck struct{ bus.Acker }

func (a *slowAck) Ack() {
	time.Sleep(time.Second)
	a.Acker.Ack()
}

// TestI10_ASessionClosesAfterItsAcknowledgements: after an orderly stop, no message whose outcome was written is
// redelivered.
func TestI10_ASessionClosesAfterItsAcknowledgements(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Second, 200)
		n := w.start(func(c *dispatcher.Config) { c.Bus = &slowAcks{c.Bus} })
		w.put("a", 0, nil)
		w.pass(500 * time.Millisecond)
		n.end()
		w.wantStatus("a", timer.StatusDone)
		w.wantDepth(0)
	})
}

// TestI10_AStopKeepsTheBackoffOfARetry: the answer to the write of a retry is lost, and the service stops before it can read
// the row. The stop does not make the timer due immediately.
func TestI10_AStopKeepsTheBackoffOfARetry(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 500} }
		w.put("a", 0, nil)
		n := w.start(func(c *dispatcher.Config) { c.Drain = time.Second })
		var retried atomic.Bool
		lost := timer.SystemClock().Add(3*time.Second + 700*time.Millisecond) // the deliveries are canceled after 3.5 s
		n.store.set(func(op string, _ []store.Finish) error {
			if retried.Load() && timer.SystemClock() < lost {
				return store.ErrUnavailable
			}
			return nil
		}, func(op string, items []store.Finish) error {
			if op == "finish" && items[0].Kind == store.FinishRetry && !retried.Swap(true) {
				return store.ErrOutcomeUnknown
			}
			return nil
		})
		w.pass(2*time.Second + 500*time.Millisecond)
		n.end()
		row := w.get("a")
		if row.Status != timer.StatusRetrying || row.Attempts != 1 {
			t.Fatalf("the row is %s after %d attempts", row.Status, row.Attempts)
		}
		if wait := row.DueAt.Sub(row.ExecutedAt); wait < row.Retry.InitialInterval/2 {
			t.Errorf("the next attempt is due %v after the first one, although the first interval is %v", wait, row.Retry.InitialInterval)
		}
	})
}
