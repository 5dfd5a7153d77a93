package enginetest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// patience bounds a wait for a required event. It is long because tests run on loaded machines.
const patience = time.Minute

// Inbox is a session that forwards deliveries; the test acknowledges them.
type Inbox chan *bus.Delivery

// Deliver implements bus.Session.
func (i Inbox) Deliver(ctx context.Context, d *bus.Delivery) error {
	select {
	case i <- d:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close implements bus.Session.
func (i Inbox) Close(context.Context, error) error { return nil }

// Next waits for a delivery.
func (i Inbox) Next(tb testing.TB) *bus.Delivery {
	tb.Helper()
	select {
	case d := <-i:
		return d
	case <-time.After(patience):
		tb.Fatal("nothing was delivered")
		return nil
	}
}

// Counter is a session that acknowledges every delivery.
type Counter struct {
	left atomic.Int64
	done chan struct{}
}

// NewCounter returns a session for n deliveries.
func NewCounter(n int) *Counter {
	c := &Counter{done: make(chan struct{})}
	c.left.Store(int64(n))
	return c
}

// Done is closed after the last delivery.
func (c *Counter) Done() <-chan struct{} { return c.done }

// Deliver implements bus.Session.
func (c *Counter) Deliver(_ context.Context, d *bus.Delivery) error {
	d.Ack()
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
	return nil
}

// Close implements bus.Session.
func (c *Counter) Close(context.Context, error) error { return nil }
