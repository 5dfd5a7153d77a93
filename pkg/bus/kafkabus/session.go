package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/internal/health"
	"github.com/timerbus/timerbus/pkg/shard"
)

// assignment is one partition for as long as the group leaves it with this member. It has one session
// after the other: a session that fails gives nothing back, since a member of a group cannot give up
// a single partition.
type assignment struct {
	membership *membership
	partition  int32
	ended      context.Context // with the cause
	cancel     context.CancelCauseFunc
	released   chan struct{} // closed when the partition may go to another member
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

// run has the first session start from what was looked up for all partitions together.
func (a *assignment) run(together func() ([]place, error)) {
	defer a.release()
	defer a.membership.health.Works(health.Partition(a.partition)) // its failures here are over
	defer a.cancel(nil)
	where := together
	for {
		s := newSession(a)
		if !a.begin(s) {
			return
		}
		s.run(where)
		if !pause(a.ended, health.Backoff(a.membership.bus.opts.RetryPause, s.failed())) {
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

// end takes the partition away. A loss overrules an earlier revoke.
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

// source is where a session's deliveries come from. Its methods are called by the session's goroutine
// only.
type source interface {
	// start fixes the position, before open is called.
	start(at place)
	// next waits for the next delivery. It ends with ctx, with an error that says nothing more.
	next(ctx context.Context) (*bus.Delivery, error)
	// finish ends acknowledging and gives up what the session held: with commit, what was
	// acknowledged is committed first.
	finish(ctx context.Context, commit bool) error
}

// session is one call of open and what follows.
type session struct {
	assignment *assignment
	membership *membership
	bus        *Bus
	base       context.Context
	partition  shard.Partition
	source     source
	ctx        context.Context
	cancel     context.CancelCauseFunc

	// void says that acknowledgements do nothing any more. It is set the moment a session is lost,
	// before anybody is told.
	void atomic.Bool

	gaps []bus.Gap // not reported yet; of the session's goroutine

	mu       sync.Mutex
	cause    error
	failures int // of sessions in a row, this one's included; 0: it has not failed
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

// end asks the session to end. A loss overrules an earlier revoke, unless Close was already told.
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

// fail ends the session because of its own error.
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

// reportGaps calls Missed for the gaps found since the last call.
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

// close calls the service's Close. Past CloseWait the partition goes on without it, and what it still
// acknowledges does not count; but it is awaited.
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
		s.bus.log.Warn("partition goes on without its session's Close", "topic", s.membership.topic, "partition", int(s.partition))
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
		s.bus.log.Warn("session not finished cleanly", "topic", s.membership.topic, "partition", int(s.partition), "error", err)
	}
}
