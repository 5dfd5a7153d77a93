package natsbus

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

// source supplies a session's deliveries. Only the session's goroutine calls its methods.
type source interface {
	// start fixes the position, before open is called.
	start(ctx context.Context) error
	// next waits for the next delivery. When ctx ends, it returns an error that the caller ignores.
	next(ctx context.Context) (*bus.Delivery, error)
	// finish ends the acknowledging and releases the partition or the messages of the session. With commit, it first
	// makes the acknowledgements durable.
	finish(ctx context.Context, commit bool) error
}

// session is one assignment.
type session struct {
	bus       *Bus
	spec      bus.Spec
	open      bus.OpenSession
	base      context.Context
	giveUp    context.CancelCauseFunc // ends the whole Consume; nil in Queue mode
	term      *term                   // nil in Queue mode
	partition shard.Partition
	source    source
	health    *health.Consumer
	ctx       context.Context
	cancel    context.CancelCauseFunc

	// void means that acknowledgements have no effect any more. It is set as soon as a session is lost, before ctx is
	// cancelled.
	void atomic.Bool

	gaps []bus.Gap // not reported yet; used by the session's goroutine

	mu       sync.Mutex
	cause    error
	failures int // consecutive failed sessions, including this one; 0: it has not failed
}

func newSession(g *group, t *term, p shard.Partition, e entry) *session {
	s := &session{bus: g.bus, spec: g.spec, open: g.open, base: g.base, giveUp: g.giveUp, term: t, partition: p, health: g.health}
	s.ctx, s.cancel = context.WithCancelCause(g.base)
	h := &holding{bus: g.bus, key: recordKey(g.name, p), entry: e}
	if g.spec.Mode == bus.Live {
		s.source = newLiveSource(s, h)
	} else {
		s.source = newOrderedSource(s, h)
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

// fail ends the session because of an error in this process or from the server.
func (s *session) fail(what string, err error) {
	s.mu.Lock()
	switch {
	case s.cause != nil: // it is ending anyway
	case errors.Is(err, errLinkChanged): // logged by the connection's handlers
		s.health.Waiting(s.part(), err)
		s.failures = 1
	default:
		s.failures = s.health.Failed(s.part(), fmt.Errorf("%s: %w", what, s.bus.plain(err)))
	}
	s.mu.Unlock()
	s.end(fmt.Errorf("%w: %s: %w", bus.ErrLost, what, s.bus.plain(err)))
	if errors.Is(err, bus.ErrNoTopic) && s.giveUp != nil {
		s.giveUp(err) // a user topic is gone, and this process must not create it
	}
}

func (s *session) part() health.Part { return health.Partition(s.partition) }

// failed returns how many consecutive sessions have failed, which determines the backoff; 0 if this session has not
// failed.
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

func (s *session) run() {
	defer s.cancel(nil)
	if s.term != nil {
		defer context.AfterFunc(s.term.ctx, func() { s.end(context.Cause(s.term.ctx)) })()
	}
	if err := s.source.start(s.ctx); err != nil {
		s.fail("start", err)
		s.finish(false)
		return
	}
	handler, err := s.open(s.ctx, s.partition)
	if err != nil {
		s.fail("open", err)
		s.finish(false)
		return
	}
	s.health.Opened(s.part(), 0)
	s.reportGaps(s.ctx, handler)
	for s.ctx.Err() == nil {
		d, err := s.source.next(s.ctx)
		switch {
		case s.ctx.Err() != nil:
		case err != nil:
			s.fail("read", err)
		case s.term != nil && !s.term.valid():
			// The process may have been suspended; the goroutine that ends the term may not have run yet.
			s.end(fmt.Errorf("%w: the lease has expired", bus.ErrLost))
		default:
			s.reportGaps(s.ctx, handler)
			if err := handler.Deliver(s.ctx, d); err != nil {
				s.fail("deliver", err)
			}
		}
	}
	s.close(handler)
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
			s.bus.log.Warn("session did not close cleanly", "topic", s.spec.Topic, "partition", int(s.partition), "error", err)
		}
	}()
	select {
	case <-closed:
		s.finish(!s.void.Load())
	case <-ctx.Done():
		s.bus.log.Warn("session did not close in time, releasing its partition", "topic", s.spec.Topic, "partition", int(s.partition))
		s.finish(false)
		<-closed
	}
}

func (s *session) finish(commit bool) {
	ctx, cancel := context.WithTimeout(s.base, s.bus.opts.LeaseTTL)
	defer cancel()
	err := s.source.finish(ctx, commit)
	s.void.Store(true)
	if err != nil {
		s.bus.log.Warn("final commit or release of a session failed", "topic", s.spec.Topic, "partition", int(s.partition), "error", err)
	}
}

// holding is a session's write access to its owner record.
type holding struct {
	bus *Bus
	key string
	entry
}

// put writes the record. On a conflict it checks whether an earlier write of this session succeeded although the
// reply was lost. If the record has another owner, the session is lost.
func (h *holding) put(ctx context.Context, r record) error {
	revision, err := h.bus.write(ctx, h.key, r, h.revision)
	if err != nil && conflict(err) {
		found, getErr := h.bus.owners.Get(ctx, h.key)
		if getErr != nil {
			return fmt.Errorf("read record %s: %w", h.key, getErr)
		}
		if ours, err := decodeRecord(found.Value()); err != nil || ours.Owner != h.Owner {
			return fmt.Errorf("record %s: %w: it has another owner", h.key, bus.ErrLost)
		}
		revision, err = h.bus.write(ctx, h.key, r, found.Revision())
	}
	if err != nil {
		return fmt.Errorf("write record %s: %w", h.key, err)
	}
	h.entry = entry{record: r, revision: revision}
	return nil
}

// release gives the partition up, at the last committed position.
func (h *holding) release(ctx context.Context) error {
	r := h.record
	r.Owner = ""
	return h.put(ctx, r)
}

// releases reports whether the session should release its record: only while the lease is valid and the process is
// connected. Otherwise the next owner takes the record over.
func (s *session) releases() bool {
	return s.term.valid() && s.bus.nc.IsConnected()
}

// resting waits for the backoff after a failure.
func (s *session) resting(ctx context.Context) {
	if failures := s.failed(); failures > 0 {
		timer.Sleep(ctx, health.Backoff(s.bus.opts.RetryPause, failures))
	}
}

var errLinkChanged = errors.New("the connection was lost")

// later returns a timer channel; nil for a zero time.
func later(t time.Time) (<-chan time.Time, func()) {
	if t.IsZero() {
		return nil, func() {}
	}
	timer := time.NewTimer(time.Until(t))
	return timer.C, func() { timer.Stop() }
}
