package watermillsink

import (
	"context"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/pkg/bus"
)

// ownPlaces bounds the calls of the Publisher for topics of users' own. A Publisher knows no context, so a call may
// stay under way long after whoever made it has gone. Each topic therefore has one at a time: who tries again for a
// topic that hangs waits behind it, and takes no place of another topic's.
type ownPlaces struct {
	all chan struct{}

	mu sync.Mutex
	// busy has an entry for each topic with a call under way, closed when it has come back.
	busy map[string]chan struct{}
}

func newOwnPlaces(n int) ownPlaces {
	return ownPlaces{all: make(chan struct{}, n), busy: map[string]chan struct{}{}}
}

// take waits for a place as long as ctx and the sink last.
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
			return nil, fmt.Errorf("%w: the Publisher has not come back from an earlier call for this topic: %w",
				bus.ErrUnavailable, ctx.Err())
		}
	}
}

// enter takes one of the places that topics share.
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

// enter waits for one of the places in a room.
func enter(ctx, life context.Context, room chan struct{}) error {
	select {
	case room <- struct{}{}:
		return nil
	case <-life.Done():
		return bus.ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %d calls of the Publisher are under way: %w", bus.ErrUnavailable, cap(room), ctx.Err())
	}
}
