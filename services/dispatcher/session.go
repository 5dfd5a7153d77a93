package dispatcher

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// farAhead is how long a message that came before its time is held in this process; what is further
// ahead goes back to the queue, perhaps to a member whose clock is right.
const farAhead = bus.AckWait

// session is one assignment of the due queue.
type session struct {
	service *Service

	// acking counts deliveries whose messages are being acknowledged. It grows only under board.mu.
	acking atomic.Int64

	// Guarded by board.mu.
	gone    bool
	exposed int
	idle    chan struct{} // closed when gone, and nothing is exposed or being acknowledged
	told    bool
}

func (s *Service) open(context.Context, shard.Partition) (bus.Session, error) {
	return &session{service: s, idle: make(chan struct{})}, nil
}

// Deliver implements bus.Session.
func (o *session) Deliver(_ context.Context, m *bus.Delivery) error {
	s := o.service
	due, err := event.UnmarshalDue(m.Body)
	if err != nil {
		s.unreadable(m, err)
		return nil
	}
	now := s.config.Clock()
	if ahead := due.DueAt.Sub(now); ahead > s.config.ClockBound {
		s.metrics.early.Inc()
		if ahead > farAhead {
			m.Nack(min(ahead, 6*farAhead))
			return nil
		}
	}
	d := &delivery{
		due: due, ref: store.Ref{Shard: due.Shard, UUID: due.UUID}, dueAt: due.DueAt,
		redelivered: s.config.Redelivered(m), session: o, target: due.Target,
	}
	if ns, ok := s.config.Directory.OfShard(due.Shard); ok {
		d.namespace = ns.Name
	}
	if s.config.Planted.ReadFirst {
		d.dueAt = now
	}
	if !s.board.admit(d, m, now, s.watch.Elapsed()) {
		s.metrics.duplicates.Inc()
	}
	return nil
}

// Close implements bus.Session. In good order it waits for what has begun until that is settled or
// leased, so that nobody repeats it; long callbacks hold leases and hold nothing up. After a loss
// nothing is waited for: acknowledgements do not count any more. Nor while the store is lost: no outcome can be
// written, so other processes deliver again what has begun here.
func (o *session) Close(ctx context.Context, cause error) error {
	o.service.board.leave(o)
	if errors.Is(cause, bus.ErrLost) {
		return nil
	}
	select {
	case <-o.idle:
		return nil
	case <-o.service.config.Reach.Lost():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell closes idle when it is time. The board's lock is held.
func (o *session) tell() {
	if o.gone && o.exposed == 0 && o.acking.Load() == 0 && !o.told {
		o.told = true
		close(o.idle)
	}
}
