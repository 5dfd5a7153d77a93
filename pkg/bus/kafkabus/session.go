package kafkabus

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/bus/consume"
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
		s := newSession(a, where)
		if !a.begin(s) {
			return
		}
		s.Run(s)
		if !timer.Sleep(a.ended, health.Backoff(a.membership.bus.opts.RetryPause, s.Failures())) {
			return
		}
		where = func() ([]place, error) { return a.membership.places(a.membership.base) }
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
		s.End(cause)
	}
}

// source supplies the deliveries of one mode. Only the session's goroutine calls its methods.
type source interface {
	// start fixes the position, before open is called.
	start(at place)
	// next implements consume.Source.
	next(ctx context.Context) (*bus.Delivery, error)
	// finish ends the acknowledging and releases the session's messages. With commit, it first commits the
	// acknowledgements.
	finish(ctx context.Context, commit bool) error
}

// session is one session of an assignment, and its consume.Source.
type session struct {
	*consume.Session

	membership *membership
	bus        *Bus
	partition  shard.Partition
	where      func() ([]place, error) // looks up the positions of the partitions
	source     source                  // nil until the position is known
}

const (
	// settle is how long a session must last before it counts as open: brokers refuse a fetch within its maximum wait.
	settle = 2 * fetchWait
	// finishWait bounds the last commit of a session.
	finishWait = 3 * time.Second
)

func newSession(a *assignment, where func() ([]place, error)) *session {
	m := a.membership
	s := &session{membership: m, bus: m.bus, partition: shard.Partition(a.partition), where: where}
	part := health.Partition(s.partition)
	s.Session = consume.New(consume.Config{
		Base: m.base, Partition: s.partition, Open: m.open,
		Log:       m.bus.log.With("topic", m.topic, "group", m.groupID, "partition", int(s.partition)),
		CloseWait: m.bus.opts.CloseWait, FinishWait: finishWait,
		Opened: func() { m.health.Opened(part, settle) },
		Failed: func(err error) int {
			if errors.Is(err, errRecreated) {
				return 0
			}
			return m.health.Failed(part, err)
		},
		Late: func() {
			if a.ended.Err() != nil {
				a.release()
			}
		},
	})
	return s
}

// Start implements consume.Source.
func (s *session) Start(ctx context.Context) error {
	places, err := s.where()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	switch s.membership.spec.Mode {
	case bus.Live:
		s.source = &liveSource{session: s}
	case bus.Queue:
		s.source = newQueueSource(s)
	default:
		s.source = &orderedSource{session: s}
	}
	s.source.start(places[s.partition])
	return nil
}

// Next implements consume.Source.
func (s *session) Next(ctx context.Context) (*bus.Delivery, error) { return s.source.next(ctx) }

// Finish implements consume.Source.
func (s *session) Finish(ctx context.Context, commit bool) error {
	if s.source == nil {
		return nil
	}
	return s.source.finish(ctx, commit)
}
