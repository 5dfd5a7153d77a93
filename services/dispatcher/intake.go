package dispatcher

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

// intake guards the admission queue, and those fields of deliveries and sessions that change together with it.
type intake struct {
	// wake has a token if Decide may return another decision, aging if the first delivery was added to the aging list.
	wake, aging chan struct{}
	// flows has a token if a request for a flow may be due, and permits if permits of flows may end earlier.
	flows, permits chan struct{}
	// idle is closed when the queue is closed and no delivery holds room.
	idle chan struct{}

	mu         sync.Mutex
	queue      *admission.Queue
	idleClosed bool // idle is closed
}

func newIntake(limits *admission.Limits) *intake {
	return &intake{
		wake: make(chan struct{}, 1), aging: make(chan struct{}, 1), flows: make(chan struct{}, 1), permits: make(chan struct{}, 1),
		idle: make(chan struct{}), queue: admission.New(limits),
	}
}

// step runs one step of the queue, and sends the signals that follow from it.
func (i *intake) step(do func(q *admission.Queue)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	watched := i.queue.AgingLen()
	do(i.queue)
	if i.queue.Changed() {
		signal(i.wake)
		if i.queue.Flows().Known > 0 {
			signal(i.flows)
			signal(i.permits)
		}
	}
	if watched == 0 && i.queue.AgingLen() > 0 {
		signal(i.aging)
	}
	if i.queue.Idle() && !i.idleClosed {
		i.idleClosed = true
		close(i.idle)
	}
}

func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default: // the token is already there
	}
}

// running returns the number of deliveries that hold room.
func (i *intake) running() (n int) {
	i.step(func(q *admission.Queue) { n = q.InRoom() })
	return n
}

func (i *intake) hosts() (counts admission.HostCounts) {
	i.step(func(q *admission.Queue) { counts = q.Hosts() })
	return counts
}

func (i *intake) hostUses(namespace string) (uses []admission.HostUse) {
	i.step(func(q *admission.Queue) { uses = q.HostUses(namespace) })
	return uses
}

func (i *intake) flowCounts() (counts admission.FlowCounts) {
	i.step(func(q *admission.Queue) { counts = q.Flows() })
	return counts
}

// delivery is one due event while this process handles it.
type delivery struct {
	ticket  admission.Ticket
	due     event.Due
	ref     store.Ref
	session *session

	// Guarded by intake.mu.
	messages []*bus.Delivery // not yet acknowledged
	inline   [1]*bus.Delivery
	lease    *lease

	// Used by one goroutine at a time: the checker, then the delivery's goroutine, or its lease renewer until that
	// ends.
	row       timer.Timer
	startedAt timer.Millis
	// traced is the service's life with the span of the attempt.
	traced context.Context //nolint:containedctx // it ends with the delivery.
	// ctx ends with the service, or when cancel is called. It is set when the delivery begins.
	ctx    context.Context //nolint:containedctx // it ends with the delivery.
	cancel context.CancelCauseFunc
	// namespace is set by namespaceOf and flowNamespace.
	namespace *store.Namespace
	// knownRevision is the last revision of the row known to belong to this delivery; knownDueAt is the due time of
	// that revision.
	knownRevision timer.Revision
	knownDueAt    timer.Millis
	// unconfirmedRevision is the revision of a write whose answer was lost; 0 if there is none.
	unconfirmedRevision timer.Revision
	// resultUnconfirmed: that write has the result of the attempt.
	resultUnconfirmed bool
	// startCounted: the row check or the row lease counted the start that this delivery made, or the answer of that
	// lease was lost. No later lease counts it, and a postponement subtracts it.
	startCounted bool
	// startMaybeCounted: a row check counted a start or may have counted one, although this delivery may not have started.
	// No later check counts it again.
	startMaybeCounted bool
	// notCalled: the delivery ends without a callback. If the store is lost, the write of its outcome does not wait for the store,
	// because no answer of a receiver is lost.
	notCalled bool
	// authorization is the header Authorization of the callback, and token the token in it; empty for none.
	authorization, token string
	// clockLost: the clock was not trusted when a time of the outcome was computed, and the service is ending. Nothing
	// is written.
	clockLost atomic.Bool
	// afterOutcomes: its postponement must not delay outcomes, so these are written first.
	afterOutcomes bool
	write         finishJob
}

func deliveryOf(t *admission.Ticket) *delivery {
	return t.Delivery.(*delivery) //nolint:errcheck // Deliver sets it.
}

// maxAhead is the longest time for which this process keeps a message that arrived before its due time. A message that
// is further ahead goes back to the queue, because another member may have the correct clock.
const maxAhead = bus.AckWait

// clockReadInterval is the time within which the clock is read again. An event far ahead of its time may come from a
// scheduler that noticed a step of the store's clock earlier than this process (I15).
const clockReadInterval = 500 * time.Millisecond

// session is one assignment of the due queue.
type session struct {
	service *Service

	// acking counts deliveries whose messages are being acknowledged. It increases only under intake.mu.
	acking atomic.Int64

	// Guarded by intake.mu.
	admitted   admission.Session
	idle       chan struct{} // closed when the session has ended, and no delivery is exposed or being acknowledged
	idleClosed bool          // idle is closed
}

func (s *Service) open(context.Context, shard.Partition) (bus.Session, error) {
	return &session{service: s, idle: make(chan struct{})}, nil
}

// wasRedelivered is the default of Config.Redelivered.
func wasRedelivered(d *bus.Delivery) bool { return d.Deliveries >= 2 }

// Deliver implements bus.Session.
func (o *session) Deliver(_ context.Context, m *bus.Delivery) error {
	s := o.service
	due, err := event.UnmarshalDue(m.Body)
	if err != nil {
		s.unreadable(m, err)
		return nil
	}
	now, redelivered := s.config.Clock(), s.config.Redelivered(m)
	if ahead := due.DueAt.Sub(now); ahead > s.config.ClockBound {
		s.metrics.early.Inc()
		if ahead > maxAhead && s.config.StoreClock.Trusted() {
			most := 6 * maxAhead
			if !redelivered {
				most = clockReadInterval
			}
			m.Nack(min(ahead, most))
			return nil
		}
	}
	d := &delivery{
		due: due, ref: store.Ref{Shard: due.Shard, UUID: due.UUID}, session: o,
		ticket: admission.Ticket{
			State: admission.State{UUID: due.UUID, Revision: due.Revision}, DueAt: due.DueAt, Target: due.Target,
			Redelivered:   redelivered || due.MaybeStarted || due.Revision.MaybeStarted(),
			Postponements: due.Revision.Postponements(), Session: &o.admitted,
		},
	}
	d.ticket.Delivery, d.messages = d, append(d.inline[:0], m)
	if ns := s.config.Directory.OfShard(due.Shard); ns != nil {
		d.ticket.Namespace, d.ticket.HostLimit = ns.Name, ns.Settings.HostConcurrency
	}
	elapsed := s.stopwatch.Elapsed()
	s.intake.step(func(q *admission.Queue) {
		if running := q.Offer(&d.ticket, now, elapsed); running != nil {
			// The message is acknowledged together with the running delivery.
			deliveryOf(running).messages = append(deliveryOf(running).messages, m)
			s.metrics.duplicates.Inc()
		}
	})
	return nil
}

// Close implements bus.Session. After a graceful end of the session it waits until the deliveries that have begun are
// settled or leased, so that no other process repeats them. Long callbacks hold leases and delay nothing. After a loss
// it does not wait, because acknowledgements have no effect any more. It does not wait either while the store or the
// clock is lost: no outcome is written, so other processes repeat the deliveries that have begun here.
func (o *session) Close(ctx context.Context, cause error) error {
	o.service.intake.step(func(q *admission.Queue) {
		q.EndSession(&o.admitted)
		o.closeIfIdle()
	})
	if errors.Is(cause, bus.ErrLost) {
		return nil
	}
	select {
	case <-o.idle:
		return nil
	case <-o.service.config.Reach.Lost():
		return nil
	case <-o.service.config.StoreClock.Lost():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeIfIdle closes idle if the session is idle. The caller holds intake.mu.
func (o *session) closeIfIdle() {
	if o.admitted.Idle() && o.acking.Load() == 0 && !o.idleClosed {
		o.idleClosed = true
		close(o.idle)
	}
}

// ackAndRemove removes a delivery whose outcome is known, and acknowledges its messages.
func (s *Service) ackAndRemove(d *delivery) {
	s.acknowledge(d, func(q *admission.Queue) { q.End(&d.ticket) })
}

// ackLeased acknowledges the messages of a delivery whose row is leased, or has changed (revision 0).
func (s *Service) ackLeased(d *delivery, revision timer.Revision) {
	s.acknowledge(d, func(q *admission.Queue) { q.Lease(&d.ticket, revision) })
}

// acknowledge acknowledges the messages of a delivery after a step. Its session stays open until then.
func (s *Service) acknowledge(d *delivery, step func(q *admission.Queue)) {
	var messages []*bus.Delivery
	s.intake.step(func(q *admission.Queue) {
		messages, d.messages = d.messages, nil
		if len(messages) > 0 {
			d.session.acking.Add(1)
		}
		step(q)
		d.session.closeIfIdle()
	})
	for _, m := range messages {
		m.Ack()
	}
	if len(messages) > 0 && d.session.acking.Add(-1) == 0 {
		s.intake.step(func(*admission.Queue) { d.session.closeIfIdle() })
	}
}

// discard removes a delivery without acknowledging its messages: the bus redelivers them to this or another process.
func (s *Service) discard(d *delivery) {
	s.intake.step(func(q *admission.Queue) {
		q.End(&d.ticket)
		d.session.closeIfIdle()
	})
}

// A due event of an unknown version goes back to the queue, because a process of a later release can deliver it. The
// delay doubles from unknownMinDelay to unknownMaxDelay. After unknownMaxDeliveries deliveries (10 minutes) the event
// is dropped: on Kafka an event that is never acknowledged stops its partition, and the sweep publishes the timer again
// (I4).
const (
	unknownMinDelay      = time.Second
	unknownMaxDelay      = 30 * time.Second
	unknownMaxDeliveries = 24
)

// unreadable handles a message that UnmarshalDue refused with err.
func (s *Service) unreadable(m *bus.Delivery, err error) {
	if errors.Is(err, event.ErrUnknown) && m.Deliveries < unknownMaxDeliveries {
		s.metrics.unknown.Inc()
		if s.unknown[m.Body[0]].CompareAndSwap(false, true) {
			s.config.Logger.Warn("due event returned to the queue: a later release must deliver it", "error", err, "key", m.Key)
		}
		m.Nack(unknownDelay(m.Deliveries))
		return
	}
	// No process can deliver it. The sweep will find the timer's row.
	s.metrics.malformed.Inc()
	s.config.Logger.Warn("message on the due queue dropped", "error", err, "key", m.Key, "deliveries", m.Deliveries)
	m.Ack()
}

// unknownDelay returns the delay after the n-th delivery. On a bus that does not count deliveries, n is 0.
func unknownDelay(n int) time.Duration {
	return min(unknownMinDelay<<min(max(n-1, 0), 10), unknownMaxDelay)
}
