package testclock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// shortestPause and longestPause bound the time between two reads of the store while timers are due.
	shortestPause = time.Millisecond
	longestPause  = 20 * time.Millisecond
	// maxLook bounds the time that look may take. It is below the time after which a dispatcher leases the row of a running
	// delivery (2 s).
	maxLook = time.Second
)

var (
	// ErrBusy means that another call moves the clock.
	ErrBusy = errors.New("another call moves the test clock")
	// ErrStopped means that the process stops.
	ErrStopped = errors.New("the process stops")
)

// NotQuietError means that timers were still due when the time for a move of the clock ended, or the process stops.
type NotQuietError struct {
	// Now is the clock's time, and Target the time to which it was to be moved.
	Now, Target timer.Millis
	// NextDueAt is the earliest due time.
	NextDueAt timer.Millis
	// Delivering is set if a callback is running that has lasted for some seconds.
	Delivering bool
	// cause is why the clock could not be moved further, if timers are not the reason: the last error of the store, or
	// ErrStopped.
	cause error
}

func (e *NotQuietError) Error() string {
	why := fmt.Sprintf("a timer is still due since %v", e.NextDueAt)
	switch {
	case e.cause != nil:
		why = e.cause.Error()
	case e.Delivering:
		why = "a callback is still running"
	case e.NextDueAt > e.Now:
		why = fmt.Sprintf("the next timer is due at %v", e.NextDueAt)
	}
	return fmt.Sprintf("the test clock shows %v and has not reached %v in the time for the call: %s; set it to this time to continue",
		e.Now, e.Target, why)
}

func (e *NotQuietError) Unwrap() error { return e.cause }

// Store is the part of a store that a Driver reads.
type Store interface {
	store.Namespaces
	Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error)
}

// State is what a test clock shows.
type State struct {
	Now timer.Millis
	// Offset is how far the clock is ahead of the machine's clock.
	Offset time.Duration
	// NextDueAt is the earliest due time of a timer or a schedule, Never if there is none. Paused and parked timers do not count.
	NextDueAt timer.Millis
}

// Driver moves the Clock of a process. One call at a time moves it.
type Driver struct {
	clock  *Clock
	store  Store
	leases store.Exclusive
	// now is the time of the process's store.Clock, which follows Clock when it is read.
	now  timer.Clock
	busy chan struct{}
	// life ends when the process stops.
	life context.Context //nolint:containedctx // it ends with the Driver.
	end  context.CancelCauseFunc
}

// NewDriver returns a driver of a clock. now must be the Now of a virtual store.Clock on clock. The store must have
// store.Exclusive.
func NewDriver(clock *Clock, s store.Store, now timer.Clock) (*Driver, error) {
	leases, ok := store.As[store.Exclusive](s)
	if !ok {
		return nil, errors.New("a test clock needs an embedded database: the clock of a shared database cannot be moved")
	}
	d := &Driver{clock: clock, store: s, leases: leases, now: now, busy: make(chan struct{}, 1)}
	d.life, d.end = context.WithCancelCause(context.Background())
	return d, nil
}

// Offset returns how far the clock is ahead of the machine's clock.
func (d *Driver) Offset() time.Duration { return d.clock.Offset() }

// Stop ends the running call with a NotQuietError, and all later ones.
func (d *Driver) Stop() { d.end(ErrStopped) }

// State returns what the clock shows.
func (d *Driver) State(ctx context.Context) (State, error) {
	l, err := d.look(ctx)
	return State{Now: d.now(), Offset: d.clock.Offset(), NextDueAt: l.next}, err
}

// Advance moves the clock forward by a duration. It is Set to the time that the clock shows plus the duration.
func (d *Driver) Advance(ctx context.Context, by, timeout time.Duration) (State, error) {
	if by < 0 {
		return State{}, timer.Invalid("by", timer.FormatDuration(by), "a duration of at least 0s, because the clock only moves forward")
	}
	return d.move(ctx, timeout, func(now, latest timer.Millis) (timer.Millis, error) {
		to := now.Add(by)
		if to > latest {
			return to, timer.Invalid("by", timer.FormatDuration(by), fmt.Sprintf(
				"at most %s, because the clock shows %v and can be moved to %v", timer.FormatDuration(latest.Sub(now)), now, latest))
		}
		return to, nil
	})
}

// Set moves the clock forward to a time. It waits until no timer is due and no callback is running, moves the clock to the
// next due time or to the target if that is earlier, and repeats this until the clock has reached the target and no timer is
// due. After the timeout it returns a NotQuietError. It returns ErrBusy if another call is moving the clock.
func (d *Driver) Set(ctx context.Context, to timer.Millis, timeout time.Duration) (State, error) {
	return d.move(ctx, timeout, func(now, latest timer.Millis) (timer.Millis, error) {
		if to < now || to > latest {
			return to, timer.Invalid("time", to, fmt.Sprintf("a time from %v, which the test clock shows, to %v", now, latest))
		}
		return to, nil
	})
}

// move is Set. target returns the time to which the clock is to be moved: from now, which it shows, to latest.
func (d *Driver) move(
	ctx context.Context, timeout time.Duration, target func(now, latest timer.Millis) (timer.Millis, error),
) (State, error) {
	select {
	case d.busy <- struct{}{}:
		defer func() { <-d.busy }()
	default:
		return State{}, ErrBusy
	}
	now := d.now()
	to, err := target(now, d.clock.Real(now).Add(maxOffset))
	if err != nil {
		return State{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer context.AfterFunc(d.life, func() { stop(ErrStopped) })()
	l, err := d.run(ctx, to)
	switch {
	case err == nil:
		return State{Now: d.now(), Offset: d.clock.Offset(), NextDueAt: l.next}, nil
	case errors.Is(err, ErrStopped):
		return State{}, &NotQuietError{Now: d.now(), Target: to, NextDueAt: l.next, cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return State{}, &NotQuietError{Now: d.now(), Target: to, NextDueAt: l.next, Delivering: l.leased, cause: l.failed}
	default:
		return State{}, err
	}
}

// run moves the clock to a time, step by step. Its error is the cause of ctx, or a failure to move the clock.
func (d *Driver) run(ctx context.Context, to timer.Millis) (last look, err error) {
	pause := shortestPause
	for {
		l, err := d.look(ctx)
		if err == nil || ctx.Err() == nil {
			last, last.failed = l, err
		}
		now := d.now()
		switch {
		case ctx.Err() != nil:
			return last, context.Cause(ctx)
		case err != nil && !store.IsTransient(err):
			return last, err
		case err != nil, l.leased, l.slow, l.next <= now:
			// Everything that the service does about a timer ends with a write of its row. Until then the row is due or leased.
			if !timer.Sleep(ctx, pause) {
				return last, context.Cause(ctx)
			}
			pause = min(pause+pause/2, longestPause)
			continue
		case now >= to:
			return last, nil
		}
		if err := d.clock.forward(min(l.next, to)); err != nil {
			return last, err
		}
		pause = shortestPause
	}
}

// look is what the store contains.
type look struct {
	// next is the earliest due time, Never for none.
	next timer.Millis
	// leased is set if a row is leased. slow is set if the reads took so long that they may be inconsistent.
	leased, slow bool
	failed       error
}

// look reads the earliest due time and whether a row is leased. A lease moves the due time of its row to the lease's end, and
// the outcome moves it back, so the two reads are consistent only if no row was leased during the second read of the due
// times. That is so if none was leased before it and none was due before that: a row that became due in between is leased
// after maxLook at the earliest.
func (d *Driver) look(ctx context.Context) (l look, err error) {
	began := d.now()
	if l.next, err = d.nextDueAt(ctx); err != nil || l.next <= began {
		return l, err
	}
	leases, err := d.leases.Leased(ctx, d.now(), 1)
	if l.leased = len(leases) > 0; err != nil || l.leased {
		return l, err
	}
	l.next, err = d.nextDueAt(ctx)
	l.slow = d.now().Sub(began) > maxLook
	return l, err
}

// nextDueAt returns the earliest due time of all shards.
func (d *Driver) nextDueAt(ctx context.Context) (timer.Millis, error) {
	next := timer.Never
	for ns, err := range store.AllNamespaces(ctx, d.store) {
		if err != nil {
			return next, err
		}
		states, err := d.store.Inspect(ctx, ns.Shards.In(0, 1))
		if err != nil {
			return next, err
		}
		for i := range states {
			next = min(next, states[i].NextDueAt)
		}
	}
	return next, nil
}
