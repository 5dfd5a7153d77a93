package membus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// session is one assignment. Its goroutine calls the service's Session; all other code runs under broker.mu.
type session struct {
	consumer  *consumer
	partition shard.Partition
	source    source
	ctx       context.Context
	cancel    context.CancelCauseFunc
	wake      chan struct{} // has at most one token, which makes the goroutine check its state

	// Guarded by broker.mu.
	cause   error     // why the session ends; nil while it is alive
	crashed bool      // the process has crashed: Close is not called
	failed  int       // consecutive failures of open or Deliver; if > 0, back off before the next session
	over    bool      // acknowledgements have no effect any more
	gaps    []bus.Gap // not reported yet
}

// source supplies a session's deliveries. Both methods are called under broker.mu.
type source interface {
	// next returns the next delivery, or nil if there is none now. When that may have changed, the session is
	// signalled.
	next() *bus.Delivery
	// end is called once when the session is over. With commit, the source commits or returns unfinished work.
	end(commit bool)
}

func (s *session) part() health.Part { return health.Partition(s.partition) }

func (s *session) broker() *Broker { return s.consumer.member.broker }

// counts reports whether the broker still accepts the session's acknowledgements.
func (s *session) counts() bool {
	m := s.consumer.member
	return !s.over && !errors.Is(s.cause, bus.ErrLost) && !m.frozen && !m.down
}

// signal makes the session's goroutine check its state.
func (s *session) signal() {
	select {
	case s.wake <- struct{}{}:
	default: // there is a token already
	}
}

// end requests the end of the session. A loss overrides an earlier revoke: the partition may already have another
// owner, so the revoke's commit must not happen.
func (s *session) end(cause error) {
	lost := errors.Is(cause, bus.ErrLost)
	if s.cause == nil || (lost && !errors.Is(s.cause, bus.ErrLost)) {
		s.cause = cause
		s.cancel(cause)
		s.signal()
	}
	if lost {
		s.retire(false)
	}
}

// retire makes acknowledgements void, at most once.
func (s *session) retire(commit bool) {
	if !s.over {
		s.over = true
		s.source.end(commit)
	}
}

func (s *session) run() {
	defer s.consumer.sessions.Done()
	defer s.cancel(nil)
	handler, err := s.consumer.open(s.ctx, s.partition)
	if err != nil {
		s.fail(fmt.Errorf("open: %w: %w", bus.ErrLost, err))
		s.finish()
		return
	}
	s.consumer.health.Opened(s.part(), 0)
	for {
		s.reportGaps(handler)
		d := s.next()
		if d == nil {
			break
		}
		s.reportGaps(handler)
		if err := handler.Deliver(s.ctx, d); err != nil {
			s.fail(fmt.Errorf("deliver: %w: %w", bus.ErrLost, err))
		}
	}
	s.close(handler)
	s.finish()
}

// reportGaps calls Missed for the gaps found since the last call.
func (s *session) reportGaps(handler bus.Session) {
	b := s.broker()
	b.mu.Lock()
	gaps := s.gaps
	s.gaps = nil
	b.mu.Unlock()
	told, ok := handler.(bus.GapSession)
	for _, gap := range gaps {
		if ok {
			told.Missed(s.ctx, gap)
		}
	}
}

// next waits for a delivery; nil means that the session ends.
func (s *session) next() *bus.Delivery {
	b := s.broker()
	for {
		b.mu.Lock()
		ending := s.cause != nil || s.crashed
		var d *bus.Delivery
		if m := s.consumer.member; !ending && !m.frozen && !m.down {
			d = s.source.next()
		}
		b.mu.Unlock()
		if ending || d != nil {
			return d
		}
		<-s.wake
	}
}

func (s *session) fail(cause error) {
	b := s.broker()
	b.mu.Lock()
	defer b.mu.Unlock()
	// A session that was ending anyway did not fail: its partition needs no backoff.
	if s.cause == nil {
		s.failed = s.consumer.health.Failed(s.part(), cause)
	}
	s.end(cause)
}

// close calls the service's Close. After CloseWait the partition moves to the next owner even if Close has not
// returned, and later acknowledgements have no effect.
func (s *session) close(handler bus.Session) {
	b := s.broker()
	b.mu.Lock()
	cause, crashed := s.cause, s.crashed
	b.mu.Unlock()
	if crashed {
		return
	}
	ctx, cancel := context.WithTimeout(s.consumer.base, b.opts.CloseWait)
	defer cancel()
	late := time.AfterFunc(b.opts.CloseWait, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		s.retire(false)
		s.consumer.group.free(s)
	})
	defer late.Stop()
	// The contract uses Close's error only for the engine's log, and this engine has none.
	_ = handler.Close(ctx, cause)
}

// finish commits, unless the session was lost, and releases the partition.
func (s *session) finish() {
	b := s.broker()
	b.mu.Lock()
	defer b.mu.Unlock()
	s.retire(s.counts())
	if s.failed > 0 {
		s.consumer.group.rest(s, health.Backoff(b.opts.RetryPause, s.failed))
		return
	}
	s.consumer.health.Works(s.part())
	s.consumer.group.free(s)
}
