package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// assignment is one partition for as long as the group assigns it to this member. It runs sessions, one after the
// other. After a failed session the member keeps the partition, because a group member cannot give up a single
// partition.
type assignment struct {
	membership *membership
	partition  int32
	ended      context.Context // its cause is the cause of the end
	cancel     context.CancelCauseFunc
	released   chan struct{} // closed when the partition may move to another member
	release    func()

	mu      sync.Mutex
	cause   error
	session *session
}

func newAssignment(m *membership, p int32) *assignment {
	a := &assignment{membership: m, partition: p, released: make(chan struct{})}
	a.release = sync.OnceFunc(func() { close(a.released) })
	a.ended, a.cancel = context.WithCancelCause(m.base)
	return a
}

// run starts the first session at the position that was looked up for all partitions together.
func (a *assignment) run(together func() ([]place, error)) {
	defer a.release()
	defer a.membership.health.Works(health.Partition(a.partition)) // failures of the partition no longer concern this member
	defer a.cancel(nil)
	where := together
	for {
		s := newSession(a)
		if !a.begin(s) {
			return
		}
		s.run(where)
		if !timer.Sleep(a.ended, health.Backoff(a.membership.bus.opts.RetryPause, s.failed())) {
			return
		}
		where = func() ([]place, error) { return a.membership.places(s.base) }
	}
}

func (a *assignment) begin(s *session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cause != nil {
		return false
	}
	a.session = s
	return true
}

// end ends the assignment. A loss overrides an earlier revoke.
func (a *assignment) end(cause error) {
	a.mu.Lock()
	if a.cause == nil || errors.Is(cause, bus.ErrLost) {
		a.cause = cause
	}
	s := a.session
	a.mu.Unlock()
	a.cancel(cause)
	if s != nil {
		s.end(cause)
	}
}

// source supplies a session's deliveries. Only the session's goroutine calls its methods.
type source interface {
	// start fixes the position, before open is called.
	start(at place)
	// next waits for the next delivery. When ctx ends, it returns an error that the caller ignores.
	next(ctx context.Context) (*bus.Delivery, error)
	// finish ends the acknowledging and releases the session's messages. With commit, it first commits the
	// acknowledgements.
	finish(ctx context.Context, commit bool) error
}

// session is one call of open and its deliveries.
type session struct {
	assignment *assignment
	membership *membership
	bus        *Bus
	base       context.Context
	partition  shard.Partition
	source     source
	ctx        context.Context
	cancel     context.CancelCauseFunc

	// void means that acknowledgements have no effect any more. It is set as soon as a session is lost, before ctx is
	// cancelled.
	void atomic.Bool

	gaps []bus.Gap // not reported yet; used by the session's goroutine

	mu       sync.Mutex
	cause    error
	failures int // consecutive failed sessions, including this one; 0: it has not failed
}

func newSession(a *assignment) *session {
	m := a.membership
	s := &session{assignment: a, membership: m, bus: m.bus, base: m.base, partition: shard.Partition(a.partition)}
	s.ctx, s.cancel = context.WithCancelCause(m.base)
	switch m.spec.Mode {
	case bus.Live:
		s.source = &liveSource{session: s}
	case bus.Queue:
		s.source = newQueueSource(s)
	default:
		s.source = newOrderedSource(s)
	}
	return s
}

// end requests the end of the session. A loss overrides an earlier revoke, except for the cause of a Close that was
// already called.
func (s *session) end(cause error) {
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

// fail ends the session because of an error in this process or from the brokers.
func (s *session) fail(what string, err error) {
	s.mu.Lock()
	if s.cause == nil && !errors.Is(err, errRecreated) {
		s.failures = s.membership.health.Failed(health.Partition(s.partition), fmt.Errorf("%s: %w", what, err))
	}
	s.mu.Unlock()
	s.end(fmt.Errorf("%w: %s: %w", bus.ErrLost, what, err))
}

func (s *session) failed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

func (s *session) why() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// settle is how long a session must last before it counts as open: brokers refuse a fetch within its maximum wait.
const settle = 2 * fetchWait

func (s *session) run(where func() ([]place, error)) {
	defer s.cancel(nil)
	places, err := where()
	if err != nil {
		s.fail("start", err)
		return
	}
	if s.ctx.Err() != nil {
		return
	}
	s.source.start(places[s.partition])
	handler, err := s.membership.open(s.ctx, s.partition)
	if err != nil {
		s.fail("open", err)
		s.finish(false)
		return
	}
	s.membership.health.Opened(health.Partition(s.partition), settle)
	s.reportGaps(handler)
	for s.ctx.Err() == nil {
		d, err := s.source.next(s.ctx)
		switch {
		case s.ctx.Err() != nil:
		case err != nil:
			s.fail("read", err)
		default:
			if err := handler.Deliver(s.ctx, d); err != nil {
				s.fail("deliver", err)
			}
		}
	}
	s.close(handler)
}

// reportGaps calls Missed for the gaps found since the last call. It logs them if the session is no GapSession.
func (s *session) reportGaps(handler bus.Session) {
	gaps := s.gaps
	s.gaps = nil
	told, ok := handler.(bus.GapSession)
	for _, gap := range gaps {
		switch {
		case ok:
			told.Missed(s.ctx, gap)
		case gap.After == (bus.Position{}): // the group is new to the topic
		default:
			s.bus.log.Error("messages were removed before the group had read them",
				"topic", s.membership.topic, "group", s.membership.groupID, "partition", int(s.partition),
				"after", gap.After.Offset, "first", gap.First.Offset, "messages", gap.Messages)
		}
	}
}

// close calls the service's Close. After CloseWait it releases the partition without a commit, and further
// acknowledgements have no effect; it still waits until Close returns.
func (s *session) close(handler bus.Session) {
	ctx, cancel := context.WithTimeout(s.base, s.bus.opts.CloseWait)
	defer cancel()
	cause := s.why()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if err := handler.Close(ctx, cause); err != nil {
			s.bus.log.Warn("session did not close cleanly", "topic", s.membership.topic, "partition", int(s.partition), "error", err)
		}
	}()
	select {
	case <-closed:
		s.finish(!s.void.Load())
	case <-ctx.Done():
		s.bus.log.Warn("session did not close in time", "topic", s.membership.topic, "partition", int(s.partition))
		s.finish(false)
		if s.assignment.ended.Err() != nil {
			s.assignment.release()
		}
		<-closed
	}
}

// finishWait bounds the last commit of a session.
const finishWait = 3 * time.Second

func (s *session) finish(commit bool) {
	ctx, cancel := context.WithTimeout(s.base, finishWait)
	defer cancel()
	err := s.source.finish(ctx, commit)
	s.void.Store(true)
	if err != nil {
		s.bus.log.Warn("final commit of a session failed", "topic", s.membership.topic, "partition", int(s.partition), "error", err)
	}
}
