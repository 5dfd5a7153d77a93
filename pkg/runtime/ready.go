package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Question is something whose answer is needed for work. Reason tells whoever probes what is wrong when it
// fails, and names no hosts.
type Question struct {
	Reason string
	Ask    func(ctx context.Context) error
}

// UnreadyError is a question that got no answer. The cause, which may name hosts, is for the log.
type UnreadyError struct {
	Reason string
	Cause  error
}

func (u *UnreadyError) Error() string { return fmt.Sprintf("%s: %v", u.Reason, u.Cause) }

// Unwrap implements what errors.Is looks for.
func (u *UnreadyError) Unwrap() error { return u.Cause }

// readyFor is how long an answer is remembered: probes come often and from anybody.
const readyFor = time.Second

// Readiness asks its questions at most once a second, however often it is probed, and logs changes.
type Readiness struct {
	questions []Question
	timeout   time.Duration
	watch     timer.Stopwatch
	logger    *slog.Logger

	turn  chan struct{} // holds one token: one asks at a time
	until time.Duration // by watch, so that setting the wall clock does not freeze the answer
	last  []*UnreadyError
}

// NewReadiness makes one; timeout bounds each question.
func NewReadiness(timeout time.Duration, logger *slog.Logger, questions ...Question) *Readiness {
	return &Readiness{
		questions: questions, timeout: timeout, watch: timer.NewStopwatch(), logger: logger, turn: make(chan struct{}, 1),
	}
}

// Ask returns what does not work; nothing if all does.
func (r *Readiness) Ask() []*UnreadyError {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if r.watch.Elapsed() < r.until {
		return r.last
	}
	before := len(r.last)
	r.last = r.askAll()
	r.until = r.watch.Elapsed() + readyFor
	switch after := len(r.last); {
	case after > 0 && before == 0:
		for _, u := range r.last {
			r.logger.Warn("not ready", "reason", u.Reason, "error", u.Cause)
		}
	case after == 0 && before > 0:
		r.logger.Info("ready again")
	}
	return r.last
}

func (r *Readiness) askAll() []*UnreadyError {
	var all []*UnreadyError
	for _, q := range r.questions {
		ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
		if err := q.Ask(ctx); err != nil {
			all = append(all, &UnreadyError{q.Reason, err})
		}
		cancel()
	}
	return all
}
