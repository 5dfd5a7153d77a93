package faultstore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Faults applies a plan. It may wrap several handles, such as those of one process, and counts their calls together.
type Faults struct {
	mu    sync.Mutex
	plan  Plan
	calls map[string]int
	late  []func() // delayed calls, oldest first
}

// New returns a Faults. A nil plan has no faults.
func New(plan Plan) *Faults {
	return &Faults{plan: plan, calls: map[string]int{}}
}

// Follow replaces the plan for later calls. The counts continue.
func (f *Faults) Follow(plan Plan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plan = plan
}

// Calls returns how often a method was called.
func (f *Faults) Calls(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// Late returns how many calls wait for CommitNext.
func (f *Faults) Late() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.late)
}

// CommitNext applies the oldest call that CommitLate has delayed. It returns after the store has applied or refused it;
// the result is dropped. It returns false if there was no such call.
func (f *Faults) CommitNext() bool {
	f.mu.Lock()
	if len(f.late) == 0 {
		f.mu.Unlock()
		return false
	}
	next := f.late[0]
	f.late = f.late[1:]
	f.mu.Unlock()
	next()
	return true
}

func (f *Faults) next(method string) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[method]++
	if f.plan == nil {
		return Fault{}
	}
	return f.plan(method, f.calls[method])
}

type call[T any] struct {
	method string
	// writes is set if the call changes the store.
	writes bool
	// do applies the call. partly applies the part that FailPartly applies; nil: none.
	do, partly func(ctx context.Context) (T, error)
}

// through makes a call with the fault of the plan.
func through[T any](ctx context.Context, f *Faults, c call[T]) (T, error) {
	var none T
	fault := f.next(c.method)
	switch fault.Kind {
	case FailBefore:
		return none, fmt.Errorf("%s: injected fault: %w", c.method, store.ErrUnavailable)
	case FailAfter:
		return none, c.lose(c.do(ctx))
	case FailPartly:
		if c.partly == nil {
			return none, c.lost()
		}
		return none, c.lose(c.partly(ctx))
	case Delay:
		if !timer.Sleep(ctx, fault.For) {
			return none, c.ended(ctx)
		}
		return c.do(ctx)
	case Freeze:
		select {
		case <-fault.Until:
			return c.do(ctx)
		case <-ctx.Done():
			return none, c.ended(ctx)
		}
	case CommitLate:
		f.hold(func() { _, _ = c.do(context.WithoutCancel(ctx)) })
		if fault.Hold {
			<-ctx.Done()
			return none, c.ended(ctx)
		}
		return none, c.lost()
	default:
		return c.do(ctx)
	}
}

func (f *Faults) hold(apply func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, apply)
}

// lose drops an answer, refusals included. ErrClosed is returned, because the client knows it without an answer.
func (c *call[T]) lose(_ T, err error) error {
	if errors.Is(err, store.ErrClosed) {
		return err
	}
	return c.lost()
}

func (c *call[T]) lost() error {
	if !c.writes {
		return fmt.Errorf("%s: injected fault: answer lost: %w", c.method, store.ErrUnavailable)
	}
	return fmt.Errorf("%s: injected fault: answer lost: %w", c.method, store.ErrOutcomeUnknown)
}

func (c *call[T]) ended(ctx context.Context) error {
	if !c.writes {
		return fmt.Errorf("%s: injected fault: %w", c.method, ctx.Err())
	}
	return fmt.Errorf("%s: injected fault: %w: %w", c.method, store.ErrOutcomeUnknown, ctx.Err())
}
