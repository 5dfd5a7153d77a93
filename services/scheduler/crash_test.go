package scheduler_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// TestEventsLostInACrashOfTheQueueAreRepeated crashes the due queue while the scheduler keeps running. The scheduler
// repeats the lost events, even without new timers that would move the queue's end past their positions. It does not
// repeat the events that survived.
func TestEventsLostInACrashOfTheQueueAreRepeated(t *testing.T) {
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
