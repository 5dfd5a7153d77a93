package kafkabus

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/pkg/bus"
)

// TestFloorsAreNeverFromBeforeTheCall: callers that arrive while a request is running share the next reply.
func TestFloorsAreNeverFromBeforeTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		shared := sharedFloors{ask: func(context.Context) (bus.Floors, error) {
			asked++
			floor := bus.Floors{{Depth: asked}}
			time.Sleep(time.Second)
			return floor, nil
		}}
		h := handle.New(slog.New(slog.DiscardHandler))
		var callers sync.WaitGroup
		call := func(want int) {
			callers.Go(func() {
				floors, err := shared.floors(t.Context(), h)
				if err != nil || floors[0].Depth != want {
					t.Errorf("got %v, %v, want the answer to question %d", floors, err, want)
				}
				floors[0].Depth = -1 // must not change the floors of other callers
			})
		}
		call(1)
		time.Sleep(500 * time.Millisecond)
		for range 10 {
			call(2)
		}
		time.Sleep(time.Second) // during the second request
		call(3)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := shared.floors(gone, h); err == nil {
			t.Error("who has gone got an answer")
		}
		callers.Wait()
		synctest.Wait()
		call(4) // after a pause
		callers.Wait()
		synctest.Wait()
		if asked != 4 {
			t.Errorf("%d questions, want 4", asked)
		}
	})
}
