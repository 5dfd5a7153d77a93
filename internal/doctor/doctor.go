package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Status is the result of one check.
type Status string

const (
	OK Status = "ok"
	// Warning: the service works, and an operator should look at it.
	Warning Status = "warning"
	// Failed: the service does not work, or timers are late.
	Failed Status = "failed"
	// Skipped: the check could not run, because of a failed check before it or of the kind of store or bus.
	Skipped Status = "skipped"
)

// Result is what one check found.
type Result struct {
	Check  string `json:"check"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	// Advice says what to do; empty if there is nothing to do.
	Advice string `json:"advice,omitempty"`
}

// Options configure Run. All fields but Schema, Bus and NoBus are required.
type Options struct {
	// Schema reads the state of the schema. Nil: the store has none.
	Schema func(ctx context.Context) (store.Schema, error)
	// Store opens the store. Run closes it.
	Store func(ctx context.Context) (store.Store, error)
	// Bus inspects the bus. If it is nil, NoBus says why the bus cannot be inspected.
	Bus   func(ctx context.Context) (bus.Inspection, error)
	NoBus string
	// Partitions is the setting of the processes.
	Partitions int
	Limits
	// Clock is the clock of this machine.
	Clock timer.Clock
	// Random returns random bits, for the id of the timer that is written.
	Random func() uint64
}

// Limits bound the checks.
type Limits struct {
	// Timeout bounds each check.
	Timeout time.Duration
	// Overdue is the lateness from which a timer counts as overdue.
	Overdue time.Duration
}

// Healthy reports whether no check failed.
func Healthy(results []Result) bool {
	return !slices.ContainsFunc(results, func(r Result) bool { return r.Status == Failed })
}

// Run runs all checks on a store and a bus. It takes at most Timeout for each.
func Run(ctx context.Context, o *Options) []Result {
	s, results := checkStore(ctx, o)
	partitions := o.Partitions
	founded := false
	if s != nil {
		var cluster []Result
		cluster, partitions, founded = checkCluster(ctx, o, s)
		results = append(results, cluster...)
		defer closeStore(ctx, o, s)
	}
	results = append(results, Bus(ctx, o, partitions, founded)...)
	if !founded {
		return append(results, Skip("no cluster was found in the store", TimerChecks()...)...)
	}
	return append(results, Timers(ctx, o.Limits, o.Clock(), &storeCluster{store: s, partitions: partitions, now: o.Clock})...)
}

// Skip returns the results of checks that cannot run.
func Skip(why string, checks ...string) []Result {
	results := make([]Result, len(checks))
	for i, name := range checks {
		results[i] = Result{Check: name, Status: Skipped, Found: why}
	}
	return results
}

// errNoAnswer means that a call did not end in time. A write may have been applied.
var errNoAnswer = errors.New("no answer")

// grace is how long a call may take to return after its context has ended.
const grace = 100 * time.Millisecond

// within calls f and waits at most for timeout and grace, even if f ignores its ctx.
func within[T any](ctx context.Context, timeout time.Duration, f func(ctx context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		value, err := f(limited)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && limited.Err() != nil {
			a.err = fmt.Errorf("%w within %v: %w", errNoAnswer, timeout, a.err)
		}
		return a.value, a.err
	case <-time.After(timeout + grace):
		var none T
		return none, fmt.Errorf("%w within %v", errNoAnswer, timeout)
	}
}
