package handle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
)

// Handle is the part of a bus's handle that does not depend on the engine. Its methods are safe for concurrent use.
type Handle struct {
	log    *slog.Logger
	ctx    context.Context
	cancel context.CancelCauseFunc
	health health.Registry

	mu        sync.Mutex
	closed    bool
	consuming map[group]bool // groups with partition owners that this handle consumes
	running   sync.WaitGroup // calls
}

type group struct {
	topic bus.Topic
	name  string
}

// New returns an open handle.
func New(log *slog.Logger) *Handle {
	h := &Handle{log: log, consuming: make(map[group]bool)}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	return h
}

// Context ends with Close or Fail, with its cause.
func (h *Handle) Context() context.Context { return h.ctx }

// Fail ends every Consume: the engine cannot continue.
func (h *Handle) Fail(err error) { h.cancel(err) }

// Closed reports whether Close was called.
func (h *Handle) Closed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed
}

// Close ends the calls that run, waits for them, and refuses later ones. It reports whether it is the first Close.
func (h *Handle) Close() (first bool) {
	h.mu.Lock()
	first = !h.closed
	h.closed = true
	h.mu.Unlock()
	h.cancel(bus.ErrClosed)
	h.running.Wait()
	return first
}

// Do runs a function that Close waits for. It returns ErrClosed, without running it, if the handle is closed.
func (h *Handle) Do(run func() error) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return bus.ErrClosed
	}
	h.running.Add(1)
	h.mu.Unlock()
	defer h.running.Done()
	return run()
}

// Go starts a goroutine that Close waits for. Only a function that Do runs may call it.
func (h *Handle) Go(run func()) { h.running.Go(run) }

// Consume registers a Consume while it runs. Its context also ends with Close, and with Fail, whose error it returns. In
// the modes with partition owners, a handle can consume a group only once, because the handle is the member.
func (h *Handle) Consume(ctx context.Context, spec bus.Spec, run func(context.Context, *health.Consumer) error) error {
	if err := h.enter(spec); err != nil {
		return fmt.Errorf("consume %s: %w", spec.Topic, err)
	}
	defer h.leave(spec)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	record := h.health.Begin(spec, h.log)
	defer record.End()
	err := run(ctx, record)
	if cause := context.Cause(h.ctx); err == nil && !errors.Is(cause, bus.ErrClosed) {
		err = cause
	}
	if err != nil {
		return fmt.Errorf("consume %s: %w", spec.Topic, err)
	}
	return nil
}

func (h *Handle) enter(spec bus.Spec) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return bus.ErrClosed
	}
	if g := (group{spec.Topic, spec.Group}); spec.Mode != bus.Queue {
		if h.consuming[g] {
			return fmt.Errorf("this handle already consumes it in group %q", spec.Group)
		}
		h.consuming[g] = true
	}
	h.running.Add(1)
	return nil
}

func (h *Handle) leave(spec bus.Spec) {
	h.mu.Lock()
	delete(h.consuming, group{spec.Topic, spec.Group})
	h.mu.Unlock()
	h.running.Done()
}

// Ready is bus.Bus's Ready, except for the connection.
func (h *Handle) Ready(topic bus.Topic, group string) error {
	if h.Closed() {
		return fmt.Errorf("consume %s in group %q: %w", topic, group, bus.ErrClosed)
	}
	return h.health.Ready(topic, group)
}
