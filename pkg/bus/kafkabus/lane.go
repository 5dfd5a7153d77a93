package kafkabus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// renewEvery is the interval at which the broker's lock on an unacknowledged message is renewed. The lock lasts 15 s.
const renewEvery = 5 * time.Second

// shareWait is how long a broker delays the reply to a fetch that finds no message.
const shareWait = 100 * time.Millisecond

// flushAfter is how long acknowledgements are batched while other messages of a batch are unacknowledged.
const flushAfter = 5 * time.Millisecond

// lane is one member of a share group.
type lane struct {
	sharing  *sharing
	client   *kgo.Client
	identity identity
	batch    int

	mu      sync.Mutex
	left    int // unacknowledged messages of the batch
	unsent  bool
	settled chan struct{} // has at most one token, after a message was settled
}

// lane runs members of the group, one after the other, until ctx ends.
func (s *sharing) lane(ctx context.Context, batch int, part health.Part) error {
	for ctx.Err() == nil {
		err := s.laneOnce(ctx, batch, part)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // Consume is ending, so the error does not matter
		case final(err):
			return fmt.Errorf("%w: share group %s: %w", bus.ErrUnavailable, s.groupID(), err)
		}
		timer.Sleep(ctx, health.Backoff(s.bus.opts.RetryPause, s.health.Failed(part, err)))
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
		kgo.MaxConcurrentFetches(0), // no message is locked before it can be delivered
		// One fetch at a time uses one broker at a time, so messages of the other brokers wait for up to this long.
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
			return ctx.Err() // leaving releases the fetched messages
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

// laneHooks are called by the client with events of its membership.
type laneHooks struct {
	refused   func(error)
	heartbeat func(error) // a heartbeat succeeded or failed; refused is also called if the broker replied with an error
}

// OnGroupManageError implements kgo.HookGroupManageError.
func (h *laneHooks) OnGroupManageError(err error) { h.refused(err) }

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (h *laneHooks) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key == kmsg.ShareGroupHeartbeat.Int16() {
		h.heartbeat(e2e.Err())
	}
}

// leave leaves the group, which releases the messages that are not settled.
func (l *lane) leave() {
	ctx, cancel := context.WithTimeout(l.sharing.base, leaveWait)
	defer cancel()
	if err := l.client.LeaveGroupContext(ctx); err != nil {
		l.sharing.bus.log.Debug("leave share group failed", "group", l.sharing.groupID(), "error", err)
	}
	l.client.Close()
}

// deliver delivers a batch and waits until all its messages are settled.
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
	d := &shareDelivery{lane: l, session: one, record: record, renewAt: now.Add(renewEvery), releaseAt: now.Add(l.sharing.bus.opts.ackWait)}
	p := shard.Partition(record.Partition)
	d.Delivery = bus.Delivery{
		Message:    decode(record),
		Position:   position(p, l.identity.epoch, record.Offset),
		Time:       taken(record),
		Deliveries: int(record.DeliveryCount()),
		Acker:      d,
	}
	return d
}

// await waits until a batch is settled. It renews locks, and releases messages that were not acknowledged in time.
func (l *lane) await(ctx context.Context, held []*shareDelivery) error {
	for {
		l.mu.Lock()
		left, unsent := l.left, l.unsent
		l.mu.Unlock()
		if left == 0 {
			return nil
		}
		now := time.Now()
		next := now.Add(l.sharing.bus.opts.ackWait)
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
			// The end of the session has settled all messages, or leaving the group will.
			return ctx.Err()
		}
	}
}

// flush sends acknowledgements immediately; otherwise they wait for the next poll, or a second.
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

// settle sends the status of a delivery to the broker, once for each delivery.
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

// tend renews the lock or releases the message when it is time. It returns when it must be called again; zero: never.
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

// Nack keeps the message until the delay has passed, because the broker does not support delays.
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
		d.until(time.Now().Add(d.lane.sharing.bus.opts.ackWait))
	}
}

func (d *shareDelivery) until(t time.Time) {
	d.mu.Lock()
	d.releaseAt = t
	d.mu.Unlock()
	signal(d.lane.settled)
}

// earliest returns the earlier of two times; a zero time means none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
