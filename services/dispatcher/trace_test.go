package dispatcher_test

import (
	"context"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestWhatFollowsFromATimerIsInItsTrace: fired event, results and the dead event carry the trace. The callback has it
// in the headers of the timer.
func TestWhatFollowsFromATimerIsInItsTrace(t *testing.T) {
	inWorld(t, func(w *world) {
		trace := event.TraceOf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1")
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		both := func(h timer.Headers) func(*timer.Spec) {
			return func(s *timer.Spec) { s.Deliver, s.Headers = timer.DeliverBoth, h }
		}
		w.put("traced", 10*time.Second, both(trace.Into("")))
		w.put("plain", 10*time.Second, both(""))
		w.pass(11 * time.Second)
		w.wantCalls("traced", 1)
		w.mu.Lock()
		got := map[string]map[bus.Topic]event.Trace{"traced": {}, "plain": {}}
		for _, h := range w.heard {
			got[h.Subject[len("n/"):]][h.topic] = h.Trace
		}
		w.mu.Unlock()
		for _, topic := range []bus.Topic{bus.Fired, bus.Results, bus.Dead} {
			if has, ok := got["traced"][topic]; !ok || has != trace {
				t.Errorf("%s of the traced timer has %+v (there: %v)", topic, has, ok)
			}
			if has, ok := got["plain"][topic]; !ok || has != (event.Trace{}) {
				t.Errorf("%s of the other timer has %+v (there: %v)", topic, has, ok)
			}
		}
		n.end()
	})
}
