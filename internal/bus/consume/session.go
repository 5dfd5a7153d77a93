package consume

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Source supplies a session's deliveries. Only the session's goroutine calls its methods.
type Source interface {
	// Start fixes the position, before open is called.
	Start(ctx context.Context) error
	// Next waits for the next delivery. When ctx ends, it returns an error that the session ignores.
	Next(ctx context.Context) (*bus.Delivery, error)
	// Finish ends the acknowledging and releases the partition or the messages of the session. With commit, it first
	// makes the acknowledgements durable. Finish is called once, also if Start has failed.
	Finish(ctx context.Context, commit bool) error
}

// Config has the parts of a session that depend on the engine.
type Config struct {
	Base      context.Context // does not end with the Consume
	Partition shard.Partition
	Open      bus.OpenSession
	Log       *slog.Logger // with the topic, the group and the partition
	// CloseWait bounds how long the partition waits for the service's Close, and FinishWait how long for Finish.
	CloseWait, FinishWait time.Duration

	// Opened is called when the service's session is open.
	Opened func()
	// Failed is called when the session fails by itself. It returns how many consecutive sessions have failed,
	// including this one. The session is locked during the call, so Failed must not call its methods.
	Failed func(error) int
	// Late is called when Close has not returned within CloseWait, after Finish. It may be nil.
	Late func()
}

// Session is one call of open and its deliveries.
type Session struct {
	config Config
	ctx    context.Context
	cancel context.CancelCauseFunc

	// void means that acknowledgements have no effect any more. It is set as soon as a session is lost, before ctx is
	// cancelled.
	void atomic.Bool

	gaps []bus.Gap // not reported yet; used by the session's goroutine

	mu       sync.Mutex
	cause    error
	failures int
}

// New returns a session that has not started.
func New(config Config) *Session {
	s := &Session{config: config}
	s.ctx, s.cancel = context.WithCancelCause(config.Base)
	return s
}

// Void reports whether acknowledgements have no effect any more.
func (s *Session) Void() bool { return s.void.Load() }

// Missed records a gap, which is reported before the next delivery. Only the source may call it.
func (s *Session) Missed(gap bus.Gap) { s.gaps = append(s.gaps, gap) }

// Failures returns how many consecutive sessions have failed, including this one; 0 if this session has not failed.
func (s *Session) Failures() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

// Cause returns why the session ends; nil if nothing has ended it.
func (s *Session) Cause() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// End requests the end of the session. A loss overrides an earlier revoke, except for the cause of a Close that was
// already called.
func (s *Session) End(cause error) {
	lost := errors.Is(cause, bus.ErrLost)
	if lost {
		s.void.Store(true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause == nil || lost && !errors.Is(s.cause, bus.ErrLost) {
		s.cause = cause
		s.cancel(cause)
	}
}

// fail ends the session because of an error in this process or from the bus. A session that was ending anyway has not
// failed.
func (s *Session) fail(what string, err error) {
	err = fmt.Errorf("%s: %w", what, err)
	s.mu.Lock()
	if s.cause == nil {
		s.failures = s.config.Failed(err)
	}
	s.mu.Unlock()
	s.End(fmt.Errorf("%w: %w", bus.ErrLost, err))
}

// Run runs the session until it ends.
func (s *Session) Run(source Source) {
	defer s.cancel(nil)
	if err := source.Start(s.ctx); err != nil {
		s.fail("start", err)
		s.finish(source, false)
		return
	}
	handler, err := s.config.Open(s.ctx, s.config.Partition)
	if err != nil {
		s.fail("open", err)
		s.finish(source, false)
		return
	}
	s.config.Opened()
	s.reportGaps(handler)
	for s.ctx.Err() == nil {
		d, err := source.Next(s.ctx)
		switch {
		case s.ctx.Err() != nil:
		case err != nil:
			s.fail("read", err)
		default:
			s.reportGaps(handler)
			if err := handler.Deliver(s.ctx, d); err != nil {
				s.fail("deliver", err)
			}
		}
	}
	s.close(source, handler)
}

// reportGaps calls Missed for the gaps found since the last call. It logs them if the session is no GapSession, except
// for a group that is new to the topic.
func (s *Session) reportGaps(handler bus.Session) {
	gaps := s.gaps
	s.gaps = nil
	gapped, ok := handler.(bus.GapSession)
	for _, gap := range gaps {
		switch {
		case ok:
			gapped.Missed(s.ctx, gap)
		case gap.After != (bus.Position{}):
			s.config.Log.Error("messages were removed before the group had read them",
				"after", gap.After.Offset, "first", gap.First.Offset, "messages", gap.Messages)
		}
	}
}

// close calls the service's Close. After CloseWait it releases the partition without a commit, and further
// acknowledgements have no effect; it still waits until Close returns.
func (s *Session) close(source Source, handler bus.Session) {
	ctx, cancel := context.WithTimeout(s.config.Base, s.config.CloseWait)
	defer cancel()
	cause := s.Cause()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := handler.Close(ctx, cause); err != nil {
			s.config.Log.Warn("session did not close cleanly", "error", err)
		}
	}()
	select {
	case <-closed:
		s.finish(source, !s.Void())
	case <-ctx.Done():
		s.config.Log.Warn("session did not close in time")
		s.finish(source, false)
		if s.config.Late != nil {
			s.config.Late()
		}
		<-closed
	}
}

func (s *Session) finish(source Source, commit bool) {
	if !commit {
		s.void.Store(true)
	}
	ctx, cancel := context.WithTimeout(s.config.Base, s.config.FinishWait)
	defer cancel()
	err := source.Finish(ctx, commit)
	s.void.Store(true)
	if err != nil {
		s.config.Log.Warn("final commit or release of a session failed", "error", err)
	}
}
