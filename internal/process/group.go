package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Component is a component that runs as long as the process.
type Component struct {
	Name string
	// Run works until ctx ends and then returns; nil if it stopped in an orderly way. If it returns before that, with
	// or without an error, the component has died and the whole group stops.
	Run func(ctx context.Context) error
	// Stop, if not nil, is called before Run's ctx ends: an HTTP server stops accepting requests and answers those it
	// has. ctx has the drain deadline.
	Stop func(ctx context.Context) error
}

// Group runs components together: if one of them ends, all are stopped.
type Group struct {
	// Components start in this order and stop in reverse; the last one is the intake.
	Components []Component
	// Drain bounds the stop of all components together.
	Drain  time.Duration
	Logger *slog.Logger
}

// ErrNotDrained reports that a component had not stopped when the drain deadline passed.
var ErrNotDrained = errors.New("not stopped within the drain timeout")

// running is a component with its goroutine.
type running struct {
	Component

	cancel context.CancelCauseFunc
	// done is closed when Run has returned err.
	done chan struct{}
	err  error
}

// errStopping is the cause of the end of the components' contexts in an orderly stop.
var errStopping = errors.New("stopping")

// Run starts the components and blocks until ctx ends or a component dies. It then stops them one after another, in
// reverse order. It returns nil after an orderly stop, otherwise the cause of the death and the failures while
// stopping. Run does not wait for components that do not stop in time; the caller should end the process.
func (g *Group) Run(ctx context.Context) error {
	deaths := make(chan *running, len(g.Components)) // buffered, so that a component that ends never blocks
	var components []*running
	var failure error
	for _, p := range g.Components {
		components = append(components, g.start(ctx, p, deaths))
	}
	select {
	case <-ctx.Done():
		g.Logger.Info("draining", "reason", context.Cause(ctx).Error(), "timeout", g.Drain.String())
	case dead := <-deaths:
		failure = dead.exitError()
		g.Logger.Error("component failed, stopping all", "component", dead.Name, "error", failure)
	}
	return errors.Join(failure, g.stop(ctx, components))
}

func (g *Group) start(ctx context.Context, p Component, deaths chan<- *running) *running {
	// Components end one after another, not together with the group's context.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r := &running{Component: p, cancel: cancel, done: make(chan struct{})}
	go func() {
		r.err = p.Run(ctx)
		close(r.done)
		deaths <- r
	}()
	return r
}

func (r *running) exitError() error {
	if r.err == nil {
		return fmt.Errorf("%s ended unexpectedly", r.Name)
	}
	return fmt.Errorf("%s: %w", r.Name, r.err)
}

func (r *running) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (g *Group) stop(ctx context.Context, components []*running) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), g.Drain, ErrNotDrained)
	defer cancel()
	var failures []error
	for _, r := range slices.Backward(components) {
		if r.ended() {
			r.cancel(errStopping)
			continue // the component that died, or one that ended at the same time
		}
		failures = append(failures, r.stop(ctx))
		g.Logger.Debug("component stopped", "component", r.Name)
	}
	return errors.Join(failures...)
}

func (r *running) stop(ctx context.Context) error {
	defer r.cancel(errStopping)
	if r.Stop != nil {
		if err := r.Stop(ctx); err != nil {
			return fmt.Errorf("stop %s: %w", r.Name, cmpCause(ctx, err))
		}
	}
	r.cancel(errStopping)
	select {
	case <-r.done:
	case <-ctx.Done():
		if !r.ended() {
			return fmt.Errorf("stop %s: %w", r.Name, context.Cause(ctx))
		}
	}
	if r.err != nil && !errors.Is(r.err, context.Canceled) {
		return fmt.Errorf("stop %s: %w", r.Name, r.err)
	}
	return nil
}

// cmpCause returns the cause of the context's end instead of the context's error.
func cmpCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}
