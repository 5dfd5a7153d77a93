package dispatcher_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// startClocked starts a dispatcher with a store clock that is read as in a node.
func (w *world) startClocked(change ...func(*dispatcher.Config)) (*node, *faultstore.Clocks) {
	w.t.Helper()
	clocks := faultstore.NewClocks()
	clock, stop := clocks.Start(w.t.Context())
	w.t.Cleanup(stop)
	return w.start(append(change, func(config *dispatcher.Config) {
		config.Clock, config.StoreClock = clock.Settled, clock
	})...), clocks
}

// TestI15_AStepForwardDelaysNoDeliveryByMoreThanASecond: events wait in the dispatcher for their due time. The store's
// clock is set forward, so they are due.
func TestI15_AStepForwardDelaysNoDeliveryByMoreThanASecond(t *testing.T) {
	for _, step := range []time.Duration{3 * time.Second, time.Hour} {
		t.Run(step.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.ahead = 4 * time.Second
				n, clocks := w.startClocked()
				for i := range 20 {
					w.put(fmt.Sprint(i), 3*time.Second, nil)
				}
				w.pass(100 * time.Millisecond)
				clocks.Set(faultstore.Ahead{Store: step})
				w.pass(time.Second)
				for i := range 20 {
					w.wantCalls(fmt.Sprint(i), 1)
				}
				n.end()
			})
		})
	}
}

// TestI15_AnotherProcessMayNoticeAStepEarlier: the scheduler publishes by the new time before the dispatcher reads it.
func TestI15_AnotherProcessMayNoticeAStepEarlier(t *testing.T) {
	inWorld(t, func(w *world) {
		n, clocks := w.startClocked()
		w.pass(10*time.Second + 5*time.Millisecond) // the clock was just read
		w.put("a", 30*time.Minute, nil)
		clocks.Set(faultstore.Ahead{Store: time.Hour})
		w.ahead = time.Hour
		w.pass(1100 * time.Millisecond)
		w.wantCalls("a", 1)
		n.end()
	})
}

// TestI15_AStepBackDelaysNoDeliveryByMoreThanASecond: timers that are due by the new time are delivered at that time.
func TestI15_AStepBackDelaysNoDeliveryByMoreThanASecond(t *testing.T) {
	inWorld(t, func(w *world) {
		n, clocks := w.startClocked()
		for round := range 3 {
			clocks.Set(faultstore.Ahead{Store: time.Hour})
			w.pass(10 * time.Second)
			clocks.Set(faultstore.Ahead{})
			w.pass(500 * time.Millisecond)
			var made []timer.Timer
			for i := range 20 {
				made = append(made, w.put(fmt.Sprint(round, "-", i), time.Duration(i)*100*time.Millisecond, nil))
			}
			w.pass(4 * time.Second)
			late, repeated := w.latest(made, 0)
			if late > 500*time.Millisecond || repeated > 0 {
				t.Errorf("round %d: the latest by %v, %d repeated", round, late, repeated)
			}
			for _, m := range made {
				if at := w.called(m.ID)[0].at; at < m.DueAt {
					t.Errorf("round %d: %v early", round, m.DueAt.Sub(at))
				}
			}
		}
		n.end()
	})
}

// TestI8_NothingIsDeliveredByAClockThatIsNotTrusted: the machine's clock jumps while the store's clock cannot be read.
// The dispatcher returns its events, and another dispatcher delivers them.
func TestI8_NothingIsDeliveredByAClockThatIsNotTrusted(t *testing.T) {
	for _, jump := range []time.Duration{10 * time.Second, -10 * time.Second} {
		t.Run(jump.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.ahead = 200 * time.Millisecond
				a, clocks := w.startClocked()
				b := w.start()
				clocks.SetAway(true)
				clocks.Set(faultstore.Ahead{Monotonic: jump})
				var made []timer.Timer
				for i := range 200 {
					made = append(made, w.put(fmt.Sprint(i), time.Duration(i)*20*time.Millisecond, nil))
				}
				w.pass(5 * time.Second)
				late, repeated := w.latest(made, 0)
				if late > time.Second || repeated > 0 {
					t.Errorf("the latest by %v, %d repeated", late, repeated)
				}
				for _, m := range made {
					calls := w.called(m.ID)
					if len(calls) == 0 {
						continue // already reported
					}
					call := calls[0]
					if call.node == a {
						t.Errorf("%s was delivered by the process whose clock jumped", m.ID)
					}
					if call.at < m.DueAt {
						t.Errorf("%s was delivered %v early", m.ID, m.DueAt.Sub(call.at))
					}
				}
				b.end()
				w.put("later", 0, nil)
				w.pass(10 * time.Second)
				w.wantCalls("later", 0)
				clocks.SetAway(false)
				w.pass(time.Second)
				w.wantCalls("later", 1)
				a.end()
			})
		})
	}
}

// TestI8_AClockThatIsSetDuringTheRowCheckCountsForTheDelivery: the delivery waits until the clock is read, and its
// start is counted once (I13). For a redelivered event, the second read counts the start.
func TestI8_AClockThatIsSetDuringTheRowCheckCountsForTheDelivery(t *testing.T) {
	for setIn, redelivered := range map[int]bool{1: false, 2: true} {
		t.Run(fmt.Sprint("read ", setIn), func(t *testing.T) {
			inWorld(t, func(w *world) {
				starts := -1
				w.answer = func(context.Context, call) dispatcher.Answer {
					row, _ := w.store.Get(w.t.Context(), timer.SystemClock(), w.ref("a"))
					starts = row.Starts
					return dispatcher.Answer{Status: 200}
				}
				n, clocks := w.startClocked(func(config *dispatcher.Config) {
					config.Redelivered = func(*bus.Delivery) bool { return redelivered }
				})
				reads := 0
				n.store.set(nil, func(op string, _ []store.Finish) error {
					if op != "current" {
						return nil
					}
					if reads++; reads == setIn {
						clocks.SetAway(true)
						clocks.Set(faultstore.Ahead{Monotonic: time.Hour})
					}
					return nil
				})
				w.put("a", 0, nil)
				w.pass(100 * time.Millisecond)
				w.wantCalls("a", 0)
				clocks.SetAway(false) // before the clock is lost
				w.pass(time.Second)
				w.wantCalls("a", 1)
				if want := setIn - 1; starts != want {
					t.Errorf("%d starts were counted, want %d", starts, want)
				}
				w.wantStatus("a", timer.StatusDone)
				n.end()
			})
		})
	}
}

// TestI7_ARowThatWasReadBeforeTheClockWasSetIsReadAgain: the timer is deleted while the delivery waits for the clock.
func TestI7_ARowThatWasReadBeforeTheClockWasSetIsReadAgain(t *testing.T) {
	inWorld(t, func(w *world) {
		n, clocks := w.startClocked()
		reads := 0
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "current" {
				if reads++; reads == 1 {
					clocks.SetAway(true)
					clocks.Set(faultstore.Ahead{Monotonic: time.Hour})
				}
			}
			return nil
		})
		w.put("a", 0, nil)
		w.pass(100 * time.Millisecond)
		w.write(store.Delete{Ref: w.ref("a")})
		clocks.SetAway(false) // before the clock is lost
		w.pass(time.Second)
		w.wantCalls("a", 0)
		n.end()
	})
}

// TestI15_ARetryIsNotPlannedByAClockThatIsNotTrusted: a due time computed from a wrong clock would stay wrong.
func TestI15_ARetryIsNotPlannedByAClockThatIsNotTrusted(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(jump.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = answerAfter(time.Second, 500)
				n, clocks := w.startClocked()
				w.put("a", 0, nil)
				w.pass(500 * time.Millisecond)
				clocks.SetAway(true)
				clocks.Set(faultstore.Ahead{Monotonic: jump})
				w.pass(5 * time.Second)
				w.wantCalls("a", 1)
				clocks.SetAway(false)
				w.pass(time.Second)
				row := w.wantStatus("a", timer.StatusRetrying)
				if in := row.DueAt.Sub(timer.SystemClock()); in < 20*time.Second || in > 40*time.Second {
					t.Errorf("the retry is due in %v, want about 30s", in)
				}
				n.end()
			})
		})
	}
}

// TestI15_ARetryIsNotPlannedByATimeThatWasNotTrusted: the clock is wrong only during the reading of the time for the
// retry.
func TestI15_ARetryIsNotPlannedByATimeThatWasNotTrusted(t *testing.T) {
	for lapse := int32(1); lapse <= 6; lapse++ {
		t.Run(fmt.Sprint("reading ", lapse), func(t *testing.T) {
			inWorld(t, func(w *world) {
				var called atomic.Bool
				var readings atomic.Int32 // since the callback
				w.answer = func(context.Context, call) dispatcher.Answer {
					called.Store(true)
					return dispatcher.Answer{Status: 500}
				}
				clocks := faultstore.NewClocks()
				clock, stop := clocks.Start(w.t.Context())
				w.t.Cleanup(stop)
				n := w.start(func(config *dispatcher.Config) {
					config.StoreClock = clock
					config.Clock = func() timer.Millis {
						if !called.Load() || readings.Add(1) != lapse {
							return clock.Settled()
						}
						clocks.SetAway(true)
						clocks.Set(faultstore.Ahead{Monotonic: time.Hour})
						time.Sleep(time.Second)
						wrong := clock.Settled()
						clocks.SetAway(false)
						time.Sleep(time.Second)
						return wrong
					}
				})
				w.put("a", 0, nil)
				w.pass(5 * time.Second)
				row := w.wantStatus("a", timer.StatusRetrying)
				if in := row.DueAt.Sub(timer.SystemClock()); in < 20*time.Second || in > 40*time.Second {
					t.Errorf("the retry is due in %v, want about 30s", in)
				}
				n.end()
			})
		})
	}
}
