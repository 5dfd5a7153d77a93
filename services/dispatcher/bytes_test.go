package dispatcher_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestDeliveriesAreBoundedInBytes delivers 60 timers of 50 KiB to receivers that take a second, with room for ten rows.
func TestDeliveriesAreBoundedInBytes(t *testing.T) {
	inWorld(t, func(w *world) {
		const timers, size, room, batch = 60, 50 << 10, 500 << 10, 4
		w.answer = answerAfter(time.Second, 200)
		n := w.start(func(c *dispatcher.Config) { c.RoomBytes, c.Batch = room, batch })
		payload := []byte(`"` + strings.Repeat("x", size) + `"`)
		for i := range timers {
			w.put(fmt.Sprint(i), 0, func(s *timer.Spec) {
				s.Payload, s.CallbackURL = payload, fmt.Sprintf("http://host-%d.test/", i)
			})
		}
		w.pass(20 * time.Second)
		w.mu.Lock()
		defer w.mu.Unlock()
		most := 0
		for _, c := range w.calls {
			running := 0
			for _, other := range w.calls {
				if other.at <= c.at && c.at < other.at.Add(time.Second) {
					running++
				}
			}
			most = max(most, running)
		}
		if limit := room/size + batch; most > limit || most < limit/2 {
			t.Errorf("%d deliveries of 50 KiB at once, want at most %d", most, limit)
		}
		if len(w.calls) != timers {
			t.Errorf("%d of %d timers were delivered", len(w.calls), timers)
		}
		n.end()
	})
}
