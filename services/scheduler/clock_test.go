package scheduler_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// TestAClockThatIsSetBackDelaysNothing: polls, sweeps and repetitions do not wait until the clock is again where it was.
func TestAClockThatIsSetBackDelaysNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		var ahead atomic.Int64
		ahead.Store(int64(time.Hour))
		n := w.start("a", func(c *scheduler.Config) {
			c.Clock = func() timer.Millis { return timer.SystemClock().Add(time.Duration(ahead.Load())) }
		})
		w.pass(20 * time.Second)
		ahead.Store(0)
		w.pass(time.Second)
		// No hint comes, so the timer must be found by a poll, or by a sweep because it is before the read cursor.
		late := w.put("n", "a", 3*time.Minute, false)
		w.pass(4 * time.Minute)
		w.wantFired(15*time.Second, late)
		n.end()
	})
}
