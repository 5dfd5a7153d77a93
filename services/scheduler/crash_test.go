package scheduler_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// TestEventsThatTheBusForgotFireSoon crashes the due queue under a scheduler that lives on. Events that are gone,
// at positions beyond the queue's new end, come again without new timers that would push the end past them, and
// those that the queue has kept are not repeated by the scheduler.
func TestEventsThatTheBusForgotFireSoon(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a")
		w.set(holding)
		kept := w.many(10, time.Second, true)
		w.pass(2 * time.Second)
		w.wantFired(0, kept...)
		lost := w.many(20, time.Second, true)
		w.pass(2 * time.Second)
		w.wantFired(0, lost...)
		w.set(finishing)
		w.broker.CrashQueue(bus.Due, len(lost), 0)
		w.pass(25 * time.Second)
		w.wantFired(15*time.Second, append(kept, lost...)...)
		n.end()
	})
}
