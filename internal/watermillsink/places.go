package watermillsink

import (
	"context"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/pkg/bus"
)

// ownPlaces limits the calls of the Publisher for user topics. Publisher takes no context, so a call may last long
// after its caller has given up. Therefore each topic has at most one call at a time: a retry for a topic that hangs
// waits for the earlier call, and uses no permit of other topics.
type ownPlaces struct {
	all chan struct{}

	mu sync.Mutex
	// busy has an entry for each topic with a running call. The channel is closed when the call has returned.
	busy map[string]chan struct{}
}

func newOwnPlaces(n int) ownPlaces {
	return ownPlaces{all: make(chan struct{}, n), busy: map[string]chan struct{}{}}
}

// take waits for a permit until ctx or life ends.
func (p *ownPlaces) take(ctx, life context.Context, name string) (release func(), err error) {
	for {
		mine := make(chan struct{})
		p.mu.Lock()
		before, busy := p.busy[name]
		if !busy {
			p.busy[name] = mine
		}
		p.mu.Unlock()
		if !busy {
			return p.enter(ctx, life, name, mine)
		}
		select {
		case <-before:
		case <-life.Done():
			return nil, bus.ErrClosed
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: an earlier call of the Publisher for this topic has not returned: %w",
				bus.ErrUnavailable, ctx.Err())
		}
	}
}

// enter acquires one of the permits that all user topics share.
func (p *ownPlaces) enter(ctx, life context.Context, name string, mine chan struct{}) (release func(), err error) {
	leave := func() {
		p.mu.Lock()
		delete(p.busy, name)
		p.mu.Unlock()
		close(mine)
	}
	if err := enter(ctx, life, p.all); err != nil {
		leave()
		return nil, err
	}
	return func() { <-p.all; leave() }, nil
}

// enter acquires a permit of room.
func enter(ctx, life context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-life.Done():
		return bus.ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %d calls of the Publisher are in flight: %w", bus.ErrUnavailable, cap(room), ctx.Err())
	}
}
