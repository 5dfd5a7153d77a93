package dispatcher_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/faultstore"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestI13_ACountedStartThatWasNotMadeParksNothing: the clock is set during the counting read of the last start.
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
