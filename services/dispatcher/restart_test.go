package dispatcher_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// A deployment cuts off callbacks that take longer than the drain. Five deployments must not park a timer, and the next
// process delivers it immediately.
func TestI13_AnOrderlyStopIsNoStart(t *testing.T) {
	for name, c := range map[string]struct {
		after, drain time.Duration
		redelivered  bool
	}{
		"leased":                            {10 * time.Second, 3 * time.Second, false},
		"leased, of a redelivered message":  {10 * time.Second, 3 * time.Second, true},
		"leased during the drain":           {time.Second, 3 * time.Second, false},
		"not leased yet":                    {time.Second, time.Millisecond, false},
		"not leased, a redelivered message": {time.Second, time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.answer = answerAfter(time.Minute, 200)
				change := func(d *dispatcher.Config) {
					d.Drain = c.drain
					d.Redelivered = func(m *bus.Delivery) bool { return c.redelivered || m.Deliveries >= 2 }
				}
				w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
				for i := range 5 {
					n := w.start(change)
					w.pass(c.after)
					n.end()
					synctest.Wait()
					w.wantCalls("a", i+1)
					row := w.wantStatus("a", timer.StatusScheduled)
					if row.Starts != 0 || row.Attempts != 0 || row.DueAt > timer.SystemClock() || w.depth() != 0 {
						t.Fatalf("stop %d left %d starts, %d attempts, due %v from now, %d messages",
							i+1, row.Starts, row.Attempts, row.DueAt.Sub(timer.SystemClock()), w.depth())
					}
					w.wantHint("a")
				}
				n := w.start(change)
				w.pass(70 * time.Second)
				w.wantCalls("a", 6)
				w.wantStatus("a", timer.StatusDone)
				n.end()
			})
		})
	}
}

// An orderly stop takes back one start, and keeps the starts of killed processes.
func TestI13_AnOrderlyStopLeavesTheCountsOfKills(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Minute, 200)
		w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		n := w.start()
		w.pass(5 * time.Second)
		n.kill()
		<-n.done
		for range 3 {
			n = w.start(func(c *dispatcher.Config) { c.Drain = time.Second })
			w.pass(20 * time.Second) // the lease of the killed process ends
			if row := w.get("a"); row.Starts != 2 {
				t.Fatalf("begun again: %d starts, want 2", row.Starts)
			}
			n.end()
			if row := w.get("a"); row.Starts != 1 {
				t.Fatalf("after an orderly stop: %d starts, want that of the kill", row.Starts)
			}
		}
	})
}

// Without a store the lease expires, as after a kill, and the stop is not delayed.
func TestAnOrderlyStopWithoutAStoreEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = answerAfter(time.Minute, 200)
		w.put("a", 0, func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout })
		n := w.start(func(c *dispatcher.Config) { c.Drain = 3 * time.Second })
		w.pass(5 * time.Second)
		n.store.set(func(string, []store.Finish) error { return store.ErrUnavailable }, nil)
		stopped := timer.SystemClock()
		n.end()
		if took := timer.SystemClock().Sub(stopped); took > 6*time.Second {
			t.Errorf("the stop took %v", took)
		}
		if row := w.get("a"); row.Starts != 1 {
			t.Errorf("%d starts", row.Starts)
		}
		n = w.start()
		w.pass(90 * time.Second)
		w.wantStatus("a", timer.StatusDone)
		n.end()
	})
}
