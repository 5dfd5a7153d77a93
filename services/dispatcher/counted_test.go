package dispatcher_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestI13_ACountedStartThatWasNotMadeParksNothing: the clock is set during the read that counts the last start.
func TestI13_ACountedStartThatWasNotMadeParksNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		n, clocks := w.startClocked(func(config *dispatcher.Config) {
			config.Redelivered = func(*bus.Delivery) bool { return true }
		})
		set := false
		n.store.set(nil, func(op string, _ []store.Finish) error {
			if op == "current" && n.store.asked() > 0 && !set {
				set = true
				clocks.SetAway(true)
				clocks.Set(faultstore.Ahead{Monotonic: time.Hour})
			}
			return nil
		})
		w.put("a", 0, nil)
		w.count("a", 4)
		w.pass(100 * time.Millisecond)
		w.wantCalls("a", 0)
		clocks.SetAway(false) // before the clock is lost
		w.pass(5 * time.Second)
		w.wantCalls("a", 1)
		n.end()
	})
}

// TestI13_AParkedTimerNamesTheStartsThatWereMade: this process counts a start, loses the answer, and does not make the
// start. Another process makes the last start.
func TestI13_AParkedTimerNamesTheStartsThatWereMade(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		n.store.refuse("counted", w.ref("a"), fmt.Errorf("lost: %w", store.ErrOutcomeUnknown))
		w.put("a", 0, nil)
		w.count("a", 4)
		w.pass(100 * time.Millisecond)
		if starts := w.get("a").Starts; starts != 5 {
			t.Fatalf("%d starts are counted, want 5", starts)
		}
		w.count("a", 1) // as the other process does
		w.pass(time.Second)
		w.wantCalls("a", 0)
		parked := w.wantStatus("a", timer.StatusParked)
		if want := "started 5 times without a result"; parked.LastError != want {
			t.Errorf("the error is %q, want %q", parked.LastError, want)
		}
		n.end()
	})
}

// TestI13_ACountedStartThatAnOpenCircuitPreventsParksNothing: the circuit opens between the read that counts the start and
// the next read of the row.
func TestI13_ACountedStartThatAnOpenCircuitPreventsParksNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(ctx context.Context, _ call) dispatcher.Answer {
			after(ctx, 300*time.Millisecond, 0)
			return dispatcher.Answer{Err: context.DeadlineExceeded}
		}
		redelivered := false
		n := w.start(func(c *dispatcher.Config) {
			c.ParkAfter = 1
			c.Redelivered = func(*bus.Delivery) bool { return redelivered }
		})
		for i := range 20 { // their results open the circuit
			w.put(fmt.Sprint("away", i), 0, nil)
		}
		w.pass(100 * time.Millisecond)
		redelivered = true
		n.store.refuse("counted", w.ref("a"), fmt.Errorf("lost: %w", store.ErrOutcomeUnknown))
		w.put("a", 0, func(s *timer.Spec) { s.Retry.InitialInterval = 5 * time.Second })
		w.pass(100 * time.Millisecond)
		if starts := w.get("a").Starts; starts != 1 {
			t.Fatalf("%d starts are counted, want 1", starts)
		}
		w.pass(time.Second)
		w.wantCalls("a", 0)
		if row := w.wantStatus("a", timer.StatusRetrying); row.Attempts != 1 || row.Starts != 0 {
			t.Errorf("%d attempts are used and %d starts counted, want 1 and 0", row.Attempts, row.Starts)
		}
		n.end()
	})
}

// TestI13_AStartThatAnEarlierOwnerMayHaveCausedIsCounted: the due queue of that owner was lost with its process.
func TestI13_AStartThatAnEarlierOwnerMayHaveCausedIsCounted(t *testing.T) {
	for want, maybe := range []bool{false, true} {
		inWorld(t, func(w *world) {
			w.maybeStarted = maybe
			starts := -1
			w.answer = func(context.Context, call) dispatcher.Answer {
				starts = w.get("a").Starts
				return dispatcher.Answer{Status: 200}
			}
			n := w.start()
			w.put("a", 0, nil)
			w.pass(time.Second)
			w.wantCalls("a", 1)
			if starts != want {
				t.Errorf("%d starts are counted during the callback, want %d", starts, want)
			}
			n.end()
		})
	}
}
