package runtime

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

// Question checks whether a part that a process uses works.
type Question struct {
	// Part names the part, such as store or bus.
	Part string
	// Reason describes the failure for the answer of /readyz. Anyone may probe, so it contains no host names.
	Reason string
	// Degrades means that the process can serve its requests without the part, but less well. It stays ready, and
	// /readyz lists the part. Otherwise the part is required.
	Degrades bool
	Ask      func(ctx context.Context) error
}

// PartError reports a part that does not work. The cause, which may contain host names, is only logged.
type PartError struct {
	Part, Reason string
	// Since is when the failure was first noticed.
	Since timer.Millis
	// Degrades means that the process is ready in spite of the failure.
	Degrades bool
	Cause    error

	began time.Duration // Since by Readiness.watch
}

func (f *PartError) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Cause) }

// Unwrap returns the cause.
func (f *PartError) Unwrap() error { return f.Cause }

// Answers are cached, because probes may come often. Failures are cached for a shorter time, so that the end of the
// startup or of a short outage is noticed soon.
const (
	readyFor   = time.Second
	unreadyFor = 50 * time.Millisecond
)

const (
	// settleWithin is how long after its start a process can be not ready because of parts that only degrade it.
	settleWithin = 30 * time.Second
	// degradeTimeout bounds the check of such a part. Kubernetes, for example, waits 1 s for the answer to a probe, and
	// a hanging bus must not make a process unready that works without it.
	degradeTimeout = 500 * time.Millisecond
)

// Readiness runs its checks at most once a second while all parts work, and at most twenty times a second while one
// does not, however often it is probed. It logs changes.
//
// A process that has just started is not ready until all parts have worked once, or for 30 s: a program that has
// started it can wait for readiness before it publishes commands, and a process that starts during an outage still
// serves requests.
type Readiness struct {
	questions []Question
	timeout   time.Duration
	clock     timer.Clock     // for the displayed times
	watch     timer.Stopwatch // for decisions, so that a step of the wall clock does not freeze an answer
	logger    *slog.Logger

	turn    chan struct{} // mutex: one caller of Ask at a time
	until   time.Duration
	last    []*PartError
	settled bool
}

// NewReadiness returns a Readiness; timeout bounds each check.
func NewReadiness(clock timer.Clock, timeout time.Duration, logger *slog.Logger, questions ...Question) *Readiness {
	return &Readiness{
		questions: questions, timeout: timeout, clock: clock, watch: timer.NewStopwatch(), logger: logger, turn: make(chan struct{}, 1),
	}
}

// Ask returns the parts that do not work. The process is ready if all of them only degrade it.
func (r *Readiness) Ask() []*PartError {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if r.watch.Elapsed() < r.until {
		return r.last
	}
	found := r.askAll()
	now, before, starting := r.watch.Elapsed(), r.last, !r.settled
	r.settled = r.settled || len(found) == 0 || now >= settleWithin
	r.last = r.judge(found, before, now)
	r.until = now + readyFor
	if len(r.last) > 0 {
		r.until = now + unreadyFor
	}
	r.log(before, starting, now)
	return r.last
}

// askAll runs all checks concurrently and returns the failures in the order of the questions.
func (r *Readiness) askAll() []*PartError {
	all := make([]*PartError, len(r.questions))
	var asking sync.WaitGroup
	for i, q := range r.questions {
		asking.Go(func() {
			timeout := r.timeout
			if q.Degrades {
				timeout = min(timeout, degradeTimeout)
			}
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			defer cancel()
			if err := q.Ask(ctx); err != nil {
				reason := q.Reason
				// An error may have a more precise reason, such as a store that answers but accepts no writes.
				var knows interface{ ReadyReason() string }
				if errors.As(err, &knows) {
					reason = knows.ReadyReason()
				}
				all[i] = &PartError{Part: q.Part, Reason: reason, Degrades: q.Degrades, Cause: err}
			}
		})
	}
	asking.Wait()
	return slices.DeleteFunc(all, func(f *PartError) bool { return f == nil })
}

// judge sets the start times of the failures and decides which failures make the process unready. A part that one role
// of the process requires is required.
func (r *Readiness) judge(found, before []*PartError, now time.Duration) []*PartError {
	required := map[string]bool{}
	for _, f := range found {
		required[f.Part] = required[f.Part] || !f.Degrades
	}
	var judged []*PartError
	for _, f := range found {
		if f.Degrades && required[f.Part] {
			continue // reported as required by another question
		}
		f.Degrades = f.Degrades && r.settled
		f.Since, f.began = r.clock(), now
		if i := slices.IndexFunc(before, f.same); i >= 0 {
			f.Since, f.began = before[i].Since, before[i].began
		}
		judged = append(judged, f)
	}
	return judged
}

func (f *PartError) same(o *PartError) bool { return f.Part == o.Part && f.Reason == o.Reason }

// log writes a line for each part that started or stopped failing.
func (r *Readiness) log(before []*PartError, starting bool, now time.Duration) {
	level := slog.LevelWarn
	if starting {
		level = slog.LevelInfo
	}
	for _, f := range r.last {
		i := slices.IndexFunc(before, f.same)
		switch {
		case i >= 0 && before[i].Degrades == f.Degrades:
		case f.Degrades:
			r.logger.Log(context.Background(), slog.LevelWarn, "degraded", "part", f.Part, "reason", f.Reason, "error", f.Cause)
		default:
			r.logger.Log(context.Background(), level, "not ready", "part", f.Part, "reason", f.Reason, "error", f.Cause)
		}
	}
	for _, f := range before {
		if !slices.ContainsFunc(r.last, f.same) {
			r.logger.Info("part recovered", "part", f.Part, "reason", f.Reason, "after", now-f.began)
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
func HealthOf(failures []*PartError) (status int, health api.Health) {
	status, health = http.StatusOK, api.Health{Status: "ready"}
	for _, f := range failures {
		if f.Degrades {
			health.Degraded = append(health.Degraded, api.DegradedPart{Part: f.Part, Reason: f.Reason, Since: api.At(f.Since.Time())})
			continue
		}
		status, health.Status = http.StatusServiceUnavailable, "not ready"
		health.Reasons = append(health.Reasons, f.Reason)
	}
	return status, health
}
