package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Check checks whether a component that a process uses works.
type Check struct {
	// Component names the component, such as store or bus.
	Component string
	// Reason describes the failure for the answer of /readyz. Anyone may probe, so it contains no host names.
	Reason string
	// Degrades means that the process can serve its requests without the component, but less well. It stays ready, and
	// /readyz lists the component. Otherwise the component is required.
	Degrades bool
	Run      func(ctx context.Context) error
}

// ComponentError reports a component that does not work. The cause, which may contain host names, is only logged.
type ComponentError struct {
	Component, Reason string
	// Since is when the failure was first noticed.
	Since timer.Millis
	// Degrades means that the process is ready in spite of the failure.
	Degrades bool
	Cause    error

	began time.Duration // Since by Readiness.watch
}

func (f *ComponentError) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Cause) }

// Unwrap returns the cause.
func (f *ComponentError) Unwrap() error { return f.Cause }

// Answers are cached, because probes may come often. Failures are cached for a shorter time, so that the end of the
// startup or of a short outage is noticed soon.
const (
	readyFor   = time.Second
	unreadyFor = 50 * time.Millisecond
)

const (
	// startupGrace is how long after its start a process can be not ready because of components that only degrade it.
	startupGrace = 30 * time.Second
	// degradeTimeout bounds the check of such a component after the startup. Kubernetes, for example, waits 1 s for the
	// answer to a probe, and a hanging bus must not make a process unready that works without it. During the startup only
	// the timeout of all checks applies, because on a busy machine a bus that works may need longer than this.
	degradeTimeout = 500 * time.Millisecond
)

// Readiness runs its checks at most once a second while all components work, and at most twenty times a second while
// one does not, however often it is probed. It logs changes.
//
// A process that has just started is not ready until all components have worked once, or for 30 s: a program that has
// started it can wait for readiness before it publishes commands, and a process that starts during an outage still
// serves requests.
type Readiness struct {
	checks    []Check
	timeout   time.Duration
	clock     timer.Clock     // for the displayed times
	stopwatch timer.Stopwatch // for decisions, so that a step of the wall clock does not freeze an answer
	logger    *slog.Logger

	running []chan struct{} // for each check a mutex, held while it runs
	lock    chan struct{}   // mutex: one caller of Check at a time
	until   time.Duration
	last    []*ComponentError
	settled bool
}

// NewReadiness returns a Readiness; timeout bounds each check.
func NewReadiness(clock timer.Clock, timeout time.Duration, logger *slog.Logger, checks ...Check) *Readiness {
	r := &Readiness{
		checks: checks, timeout: timeout, clock: clock, stopwatch: timer.NewStopwatch(), logger: logger, lock: make(chan struct{}, 1),
	}
	for range checks {
		r.running = append(r.running, make(chan struct{}, 1))
	}
	return r
}

// Check returns the components that do not work. The process is ready if all of them only degrade it.
func (r *Readiness) Check() []*ComponentError {
	r.lock <- struct{}{}
	defer func() { <-r.lock }()
	if r.stopwatch.Elapsed() < r.until {
		return r.last
	}
	found := r.checkAll()
	now, before, starting := r.stopwatch.Elapsed(), r.last, !r.settled
	r.settled = r.settled || len(found) == 0 || now >= startupGrace
	r.last = r.applyRules(found, before, now)
	r.until = now + readyFor
	if len(r.last) > 0 {
		r.until = now + unreadyFor
	}
	r.log(before, starting, now)
	return r.last
}

// checkAll runs all checks concurrently and returns the failures in the order of the questions.
func (r *Readiness) checkAll() []*ComponentError {
	all := make([]*ComponentError, len(r.checks))
	var running sync.WaitGroup
	for i, q := range r.checks {
		running.Go(func() {
			timeout := r.timeout
			if q.Degrades && r.settled {
				timeout = min(timeout, degradeTimeout)
			}
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			if err := r.run(ctx, i); err != nil {
				reason := q.Reason
				// An error may have a more precise reason, such as a store that answers but accepts no writes.
				var knows interface{ ReadyReason() string }
				if errors.As(err, &knows) {
					reason = knows.ReadyReason()
				}
				all[i] = &ComponentError{Component: q.Component, Reason: reason, Degrades: q.Degrades, Cause: err}
			}
		})
	}
	running.Wait()
	return slices.DeleteFunc(all, func(f *ComponentError) bool { return f == nil })
}

// run runs a check and returns when ctx ends, even if the check does not: a client that waits for DNS may hold its lock and
// ignore ctx. Such a check ends in the background, and until then no other run of it begins.
func (r *Readiness) run(ctx context.Context, i int) error {
	select {
	case r.running[i] <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("an earlier check still waits: %w", ctx.Err())
	}
	done := make(chan error, 1)
	go func() {
		defer func() { <-r.running[i] }()
		done <- r.checks[i].Run(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the check still waits: %w", ctx.Err())
	}
}

// applyRules sets the start times of the failures and decides which failures make the process unready. A component that
// one role of the process requires is required.
func (r *Readiness) applyRules(found, before []*ComponentError, now time.Duration) []*ComponentError {
	required := map[string]bool{}
	for _, f := range found {
		required[f.Component] = required[f.Component] || !f.Degrades
	}
	var failures []*ComponentError
	for _, f := range found {
		if f.Degrades && required[f.Component] {
			continue // reported as required by another question
		}
		f.Degrades = f.Degrades && r.settled
		f.Since, f.began = r.clock(), now
		if i := slices.IndexFunc(before, f.same); i >= 0 {
			f.Since, f.began = before[i].Since, before[i].began
		}
		failures = append(failures, f)
	}
	return failures
}

func (f *ComponentError) same(o *ComponentError) bool {
	return f.Component == o.Component && f.Reason == o.Reason
}

// log writes a line for each component that started or stopped failing.
func (r *Readiness) log(before []*ComponentError, starting bool, now time.Duration) {
	level := slog.LevelWarn
	if starting {
		level = slog.LevelInfo
	}
	for _, f := range r.last {
		i := slices.IndexFunc(before, f.same)
		switch {
		case i >= 0 && before[i].Degrades == f.Degrades:
		case f.Degrades:
			r.logger.Log(context.Background(), slog.LevelWarn, "degraded", "component", f.Component, "reason", f.Reason, "error", f.Cause)
		default:
			r.logger.Log(context.Background(), level, "not ready", "component", f.Component, "reason", f.Reason, "error", f.Cause)
		}
	}
	for _, f := range before {
		if !slices.ContainsFunc(r.last, f.same) {
			r.logger.Info("component recovered", "component", f.Component, "reason", f.Reason, "after", now-f.began)
		}
	}
}

// WriteHealth writes an answer of /healthz or /readyz.
func WriteHealth(w http.ResponseWriter, status int, health api.Health) {
	text, err := json.Marshal(health)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // fails only if the client has disconnected
}

// HealthOf returns the answer of /readyz.
func HealthOf(failures []*ComponentError) (status int, health api.Health) {
	status, health = http.StatusOK, api.Health{Status: "ready"}
	for _, f := range failures {
		if f.Degrades {
			health.Degraded = append(health.Degraded, api.DegradedPart{Part: f.Component, Reason: f.Reason, Since: api.At(f.Since.Time())})
			continue
		}
		status, health.Status = http.StatusServiceUnavailable, "not ready"
		health.Reasons = append(health.Reasons, f.Reason)
	}
	return status, health
}
