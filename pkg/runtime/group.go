package runtime

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Part is something that runs for as long as the process does.
type Part struct {
	Name string
	// Run works until ctx ends and then returns; nil if it stopped in good order. Returning before
	// that, with an error or without, is the part's death and stops the whole group.
	Run func(ctx context.Context) error
	// Stop, if given, is called before Run's ctx ends: an HTTP server stops taking requests and
	// answers those it has. ctx bears the drain deadline.
	Stop func(ctx context.Context) error
}

// Group runs parts that live and die together.
type Group struct {
	// Parts start in this order and stop in reverse: the last one is the intake.
	Parts []Part
	// Drain bounds the stop of all parts together.
	Drain  time.Duration
	Logger *slog.Logger
}

// ErrNotDrained says that a part was still working when the drain deadline passed.
var ErrNotDrained = errors.New("not stopped within the drain timeout")

// running is a part with its goroutine.
type running struct {
	Part

	cancel context.CancelCauseFunc
	// done is closed when Run has returned err.
	done chan struct{}
	err  error
}

// errStopping is the cause with which parts' contexts end in an orderly stop.
var errStopping = errors.New("stopping")

// Run starts the parts and blocks until ctx ends or a part dies; then it stops them, one after another
// in reverse order. It returns nil after an orderly stop, else what killed the group and what went
// wrong while stopping. Parts that do not stop in time are left behind; the process is to end.
func (g *Group) Run(ctx context.Context) error {
	deaths := make(chan *running, len(g.Parts)) // never blocks a part that ends
	var parts []*running
	var failure error
	for _, p := range g.Parts {
		parts = append(parts, g.start(ctx, p, deaths))
	}
	select {
	case <-ctx.Done():
		g.Logger.Info("draining", "reason", context.Cause(ctx).Error(), "timeout", g.Drain.String())
	case dead := <-deaths:
		failure = dead.death()
		g.Logger.Error("part died, stopping all", "part", dead.Name, "error", failure)
	}
	return errors.Join(failure, g.stop(ctx, parts))
}

func (g *Group) start(ctx context.Context, p Part, deaths chan<- *running) *running {
	// Parts end in order, not all at once with the group's context.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r := &running{Part: p, cancel: cancel, done: make(chan struct{})}
	go func() {
		r.err = p.Run(ctx)
		close(r.done)
		deaths <- r
	}()
	return r
}

func (r *running) death() error {
	if r.err == nil {
		return fmt.Errorf("%s ended by itself", r.Name)
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

func (g *Group) stop(ctx context.Context, parts []*running) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), g.Drain, ErrNotDrained)
	defer cancel()
	var failures []error
	for _, r := range slices.Backward(parts) {
		if r.ended() {
			r.cancel(errStopping)
			continue // what killed the group, or fell with it
		}
		failures = append(failures, r.stop(ctx))
		g.Logger.Debug("part stopped", "part", r.Name)
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

// cmpCause prefers why the context ended to that it ended.
func cmpCause(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}
