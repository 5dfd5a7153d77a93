package runtime

import (
	"context"
	"errors"
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

// Answers are cached, because probes may come often. That something does not work is cached for a shorter time, so that
// the end of a start or of a short outage is seen soon.
const (
	readyFor   = time.Second
	unreadyFor = 50 * time.Millisecond
)

// Readiness asks its questions at most once a second while it is ready, and twenty times a second while it is not, however
// often it is probed, and logs changes.
type Readiness struct {
	questions []Question
	timeout   time.Duration
	watch     timer.Stopwatch
	logger    *slog.Logger

	turn  chan struct{} // holds one token: one asks at a time
	until time.Duration // by watch, so that setting the wall clock does not freeze the answer
	last  []*UnreadyError
	began bool // it was ready once
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
	if len(r.last) > 0 {
		r.until = r.watch.Elapsed() + unreadyFor
	}
	switch after := len(r.last); {
	case after > 0 && before == 0:
		level := slog.LevelWarn
		if !r.began {
			level = slog.LevelInfo // it is starting
		}
		for _, u := range r.last {
			r.logger.Log(context.Background(), level, "not ready", "reason", u.Reason, "error", u.Cause)
		}
	case after == 0 && before > 0:
		r.logger.Info("ready again")
	}
	r.began = r.began || len(r.last) == 0
	return r.last
}

func (r *Readiness) askAll() []*UnreadyError {
	var all []*UnreadyError
	for _, q := range r.questions {
		ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
		if err := q.Ask(ctx); err != nil {
			reason := q.Reason
			// An error may know better what is wrong, such as a store that answers and takes no writes.
			var knows interface{ ReadyReason() string }
			if errors.As(err, &knows) {
				reason = knows.ReadyReason()
			}
			all = append(all, &UnreadyError{reason, err})
		}
		cancel()
	}
	return all
}
