package kafkabus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/internal/health"
	"github.com/timerbus/timerbus/pkg/shard"
)

// renewEvery is how often the broker's lock on a held message is renewed, which lasts 15 s.
const renewEvery = 5 * time.Second

// shareWait is how long a broker keeps a fetch that finds nothing.
const shareWait = 100 * time.Millisecond

// flushAfter is how long acknowledgements gather while the rest of a batch is under way.
const flushAfter = 5 * time.Millisecond

// lane is one member of a share group.
type lane struct {
	sharing  *sharing
	client   *kgo.Client
	identity identity
	batch    int

	mu      sync.Mutex
	left    int // of the batch
	unsent  bool
	settled chan struct{} // holds at most one token: "something was settled"
}

// lane has one member after the other until ctx ends.
func (s *sharing) lane(ctx context.Context, batch int, part health.Part) error {
	for ctx.Err() == nil {
		err := s.laneOnce(ctx, batch, part)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end, and whatever failed meanwhile matters no more
		case final(err):
			return fmt.Errorf("%w: share group %s: %w", bus.ErrUnavailable, s.groupID(), err)
		}
		pause(ctx, health.Backoff(s.bus.opts.RetryPause, s.health.Failed(part, err)))
	}
	return nil
}

func (s *sharing) laneOnce(ctx context.Context, batch int, part health.Part) error {
	topic := s.topic()
	if err := s.bus.identify(ctx, topic); err != nil {
		return err
	}
	l := &lane{sharing: s, batch: batch, identity: s.bus.identities.get(topic), settled: make(chan struct{}, 1)}
	broken := make(chan error, 1)
	var err error
	l.client, err = s.bus.opts.client(
		kgo.ShareGroup(s.groupID()),
		kgo.ConsumeTopics(topic),
		kgo.ShareMaxRecords(int32(batch)),
		kgo.ShareMaxRecordsStrict(),
		kgo.FetchMaxBytes(int32(max(min(s.spec.MaxBytes/s.lanes(), fetchMaxBytes), 1))),
		kgo.MaxConcurrentFetches(0), // nothing is locked before it can be delivered
		// One fetch at a time means one broker at a time: this is how long the others' messages wait for it.
		kgo.FetchMaxWait(shareWait),
		kgo.WithHooks(&laneHooks{
			refused: func(err error) {
				s.health.Failed(part, fmt.Errorf("join share group %s: %w", s.groupID(), err))
				select {
				case broken <- err:
				default:
				}
			},
			heartbeat: func(err error) {
				if err != nil {
					s.health.Failed(part, fmt.Errorf("heartbeat of share group %s: %w", s.groupID(), err))
				} else {
					s.health.Opened(part, 0)
				}
			},
		}),
	)
	if err != nil {
		return err
	}
	defer l.leave()
	for {
		one := s.current(ctx)
		if one == nil {
			return ctx.Err()
		}
		fetches := l.client.PollFetches(ctx)
		if ctx.Err() != nil {
			return ctx.Err() // leaving releases what came
		}
		select {
		case err := <-broken:
			if final(err) {
				return err
			}
		default:
		}
		for _, e := range fetches.Errors() {
			if !harmless(e.Err) {
				return fmt.Errorf("fetch partition %d of %s: %w", e.Partition, topic, e.Err)
			}
		}
		if err := l.deliver(ctx, one, fetches); err != nil {
			return err
		}
	}
}

// laneHooks are called by the client about its membership.
type laneHooks struct {
	refused   func(error)
	heartbeat func(error) // one was answered, or not; refused follows if the answer is an error
}

// OnGroupManageError implements kgo.HookGroupManageError.
func (h *laneHooks) OnGroupManageError(err error) { h.refused(err) }

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (h *laneHooks) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key == kmsg.ShareGroupHeartbeat.Int16() {
		h.heartbeat(e2e.Err())
	}
}

// leave gives back what is not settled.
func (l *lane) leave() {
	ctx, cancel := context.WithTimeout(l.sharing.base, leaveWait)
	defer cancel()
	if err := l.client.LeaveGroupContext(ctx); err != nil {
		l.sharing.bus.log.Debug("share group not told that this member leaves", "group", l.sharing.groupID(), "error", err)
	}
	l.client.Close()
}

// deliver hands over a batch and waits until all of it is settled.
func (l *lane) deliver(ctx context.Context, one *shareSession, fetches kgo.Fetches) error {
	records := fetches.Records()
	l.mu.Lock()
	l.left = len(records)
	l.mu.Unlock()
	held := make([]*shareDelivery, 0, len(records))
	for _, record := range records {
		d := l.delivery(one, record)
		held = append(held, d)
		if !one.deliver(d) {
			l.settle(d, kgo.AckRelease)
		}
	}
	return l.await(ctx, held)
}

func (l *lane) delivery(one *shareSession, record *kgo.Record) *shareDelivery {
	now := time.Now()
	d := &shareDelivery{lane: l, session: one, record: record, renewAt: now.Add(renewEvery), releaseAt: now.Add(bus.AckWait)}
	p := shard.Partition(record.Partition)
	d.Delivery = bus.Delivery{
		Message:    decode(record),
		Position:   position(p, l.identity.incarnation, record.Offset),
		Time:       taken(record),
		Deliveries: int(record.DeliveryCount()),
		Acker:      d,
	}
	return d
}

// await waits for a batch: it renews locks, and gives back what nobody answered for.
func (l *lane) await(ctx context.Context, held []*shareDelivery) error {
	for {
		l.mu.Lock()
		left, unsent := l.left, l.unsent
		l.mu.Unlock()
		if left == 0 {
			return nil
		}
		now := time.Now()
		next := now.Add(bus.AckWait)
		if unsent {
			next = now.Add(flushAfter)
		}
		for _, d := range held {
			next = earliest(next, d.tend(now))
		}
		timer := time.NewTimer(next.Sub(now))
		select {
		case <-l.settled:
			timer.Stop()
		case <-timer.C:
			if unsent {
				l.flush(ctx)
			}
		case <-ctx.Done():
			timer.Stop()
			// The session has ended, and with it everything was settled; or it will be, by leaving.
			return ctx.Err()
		}
	}
}

// flush sends acknowledgements now; otherwise they wait for the next poll, or a second.
func (l *lane) flush(ctx context.Context) {
	l.mu.Lock()
	l.unsent = false
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := l.client.FlushAcks(ctx); err != nil {
		l.sharing.bus.log.Debug("acknowledgements not sent yet", "group", l.sharing.groupID(), "error", err)
	}
}

// settle tells the broker, once for each delivery.
func (l *lane) settle(d *shareDelivery, status kgo.AckStatus) {
	d.mu.Lock()
	first := !d.settled
	d.settled = true
	d.mu.Unlock()
	if !first {
		return
	}
	d.record.Ack(status)
	l.mu.Lock()
	l.left--
	l.unsent = true
	l.mu.Unlock()
	signal(l.settled)
}

// shareDelivery is a delivery and its Acker in one allocation.
type shareDelivery struct {
	bus.Delivery
	lane    *lane
	session *shareSession
	record  *kgo.Record

	mu        sync.Mutex
	settled   bool
	releaseAt time.Time // after AckWait, or a Nack's delay
	renewAt   time.Time
}

// tend renews the lock or gives the message back when it is time, and tells when to look again; zero:
// never.
func (d *shareDelivery) tend(now time.Time) time.Time {
	d.mu.Lock()
	settled, releaseAt := d.settled, d.releaseAt
	renew := !settled && !now.Before(d.renewAt)
	if renew {
		d.renewAt = now.Add(renewEvery)
	}
	renewAt := d.renewAt
	d.mu.Unlock()
	switch {
	case settled:
		return time.Time{}
	case !now.Before(releaseAt):
		d.session.take(d)
		d.lane.settle(d, kgo.AckRelease)
		return time.Time{}
	case renew:
		d.record.Ack(kgo.AckRenew)
	}
	return earliest(releaseAt, renewAt)
}

func (d *shareDelivery) Ack() {
	if d.session.take(d) {
		d.lane.settle(d, kgo.AckAccept)
	}
}

// Nack holds the message until its delay is over: the broker knows none.
func (d *shareDelivery) Nack(after time.Duration) {
	if !d.session.take(d) {
		return
	}
	if after <= 0 {
		d.lane.settle(d, kgo.AckRelease)
		return
	}
	d.until(time.Now().Add(after))
}

func (d *shareDelivery) Extend() {
	d.session.mu.Lock()
	_, ok := d.session.held[d]
	void := d.session.void
	d.session.mu.Unlock()
	if ok && !void {
		d.until(time.Now().Add(bus.AckWait))
	}
}

func (d *shareDelivery) until(t time.Time) {
	d.mu.Lock()
	d.releaseAt = t
	d.mu.Unlock()
	signal(d.lane.settled)
}

// earliest is the earlier of two times, of which zero is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
