package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/pkg/store"
)

// Calls counts the running calls of a store, so that Close waits for them. The zero value is an open store.
type Calls struct {
	mu     sync.RWMutex // read-locked by every running call, and write-locked by Close
	closed bool
}

// Enter begins a call. It returns an error if ctx has ended or the store is closed. Leave ends the call.
func (c *Calls) Enter(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	c.mu.RLock()
	if c.closed {
		c.mu.RUnlock()
		return fmt.Errorf("%s: %w", op, store.ErrClosed)
	}
	return nil
}

// Leave ends a call that Enter began.
func (c *Calls) Leave() { c.mu.RUnlock() }

// Close waits until no call is running, refuses later calls, and then runs release once. Closing again does nothing.
func (c *Calls) Close(release func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	return release()
}
