package kafkabus

import (
	"context"
	"slices"
	"sync"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/pkg/bus"
)

// sharedFloors lets concurrent callers that request the same floors share one reply. All partitions request floors for
// their sweeps, and a scheduler that takes over eight partitions sends eight equal requests at once.
//
// A request that is already running began before the call of a new caller, so its reply may be too old for that
// caller. New callers share the next request.
type sharedFloors struct {
	ask func(ctx context.Context) (bus.Floors, error)

	mu      sync.Mutex
	running bool
	next    *round
}

// round is one request and the callers that wait for it.
type round struct {
	done   chan struct{}
	floors bus.Floors
	err    error
}

// floors returns the reply to a request that begins after this call began. The handle bounds the request, ctx the waiting.
func (t *sharedFloors) floors(ctx context.Context, h *handle.Handle) (bus.Floors, error) {
	t.mu.Lock()
	if t.next == nil {
		t.next = &round{done: make(chan struct{})}
	}
	mine := t.next
	if !t.running {
		t.running = true
		h.Go(func() { t.run(h.Context()) })
	}
	t.mu.Unlock()
	select {
	case <-mine.done:
		return slices.Clone(mine.floors), mine.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run sends requests as long as there are waiting callers.
func (t *sharedFloors) run(life context.Context) {
	for {
		t.mu.Lock()
		r := t.next
		t.next, t.running = nil, r != nil
		t.mu.Unlock()
		if r == nil {
			return
		}
		r.floors, r.err = t.ask(life)
		close(r.done)
	}
}
