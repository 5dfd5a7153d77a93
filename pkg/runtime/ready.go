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

// Question asks whether a part that a process uses works.
type Question struct {
	// Part names the part, such as store or bus.
	Part string
	// Reason says what is wrong when Ask fails. It is for anyone who may probe, and names no hosts.
	Reason string
	// Degrades: the process serves its requests without the part, less well. It stays ready, and /readyz lists the
	// part. Otherwise the part is required.
	Degrades bool
	Ask      func(ctx context.Context) error
}

// PartError is a part that does not work. The cause, which may name hosts, is for the log.
type PartError struct {
	Part, Reason string
	// Since is when it was first found not to work.
	Since timer.Millis
	// Degrades: the process is ready all the same.
	Degrades bool
	Cause    error

	began time.Duration // Since, by the readiness's watch
}

func (f *PartError) Error() string { return fmt.Sprintf("%s: %v", f.Reason, f.Cause) }

// Unwrap implements what errors.Is looks for.
func (f *PartError) Unwrap() error { return f.Cause }

// Answers are cached, because probes may come often. Failures are cached for a shorter time, so that the end of a start or
// of a short outage is seen soon.
const (
	readyFor   = time.Second
	unreadyFor = 50 * time.Millisecond
)

const (
	// settleWithin is how long after its start a process is not ready because of parts that only degrade it.
	settleWithin = 30 * time.Second
	// degradeTimeout bounds a question about such a part. Kubernetes, say, waits 1 s for the answer to a probe, and a
	// hanging bus must not make a process unready that works without it.
	degradeTimeout = 500 * time.Millisecond
)

// Readiness asks its questions at most once a second while all parts work, and twenty times a second while one does not,
// however often it is probed, and logs changes.
//
// A process that has just started is not ready until all parts have worked once, or for 30 s: a program that has started it
// can wait for readiness before it publishes commands, and one that comes up during an outage serves requests nevertheless.
type Readiness struct {
	questions []Question
	timeout   time.Duration
	clock     timer.Clock     // for what is shown
	watch     timer.Stopwatch // for what is decided, so that setting the wall clock does not freeze an answer
	logger    *slog.Logger

	turn    chan struct{} // holds one token: one asks at a time
	until   time.Duration
	last    []*PartError
	settled bool
}

// NewReadiness makes one; timeout bounds each question.
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

// askAll asks all questions at the same time and returns the failures in the order of the questions.
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
				// An error may know better what is wrong, such as a store that answers and takes no writes.
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

// judge dates the failures and decides which ones make the process unready. A part that one role of the process requires
// is required.
func (r *Readiness) judge(found, before []*PartError, now time.Duration) []*PartError {
	required := map[string]bool{}
	for _, f := range found {
		required[f.Part] = required[f.Part] || !f.Degrades
	}
	var judged []*PartError
	for _, f := range found {
		if f.Degrades && required[f.Part] {
			continue // the role that requires the part has reported it
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

// log writes a line for each part that began or ended to fail.
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
			r.logger.Info("part works again", "part", f.Part, "reason", f.Reason, "after", now-f.began)
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
	_, _ = w.Write(text) // fails only if the client has gone
}

// HealthOf is the answer of /readyz.
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
