package kafkabus

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/internal/bus/redelivery"
	"github.com/timerbus/timerbus/internal/bus/window"
	"github.com/timerbus/timerbus/pkg/bus"
)

// queueSource implements a queue on a partition of a consumer group. The group assigns each partition to one member.
// Therefore queueSource implements the queue operations that a server has on other buses: after a Nack or AckWait it
// redelivers to the same member, and it stores acknowledgements beyond the committed offset in the commit's metadata,
// where the next owner reads them.
//
// The metadata also bounds the delivered messages (progress.reach). The reach is committed before the deliveries, so
// that the next owner, even after a kill, knows which messages may have been delivered before (rule I13).
type queueSource struct {
	session *session
	feed    *feed
	window  *window.Window
	ledger  *ledger
	wake    chan struct{}

	// Used by the session's goroutine only.
	before place       // position at the start of the session
	doubt  int64       // earlier owners may have delivered messages before it, and none after it
	held   *kgo.Record // a record that waits until its reach is committed

	mu      sync.Mutex
	ending  bool  // the last progress is being committed
	high    int64 // one past the last delivery
	reach   int64 // the reach to commit
	written int64 // the committed reach
	due     redelivery.Heap[*item]
}

// item is a message that was delivered.
type item struct {
	record     *kgo.Record // nil if the message is acknowledged
	slot       window.Slot
	again      redelivery.Entry[*item] // AckWait after the last delivery, or a Nack's delay after the Nack
	deliveries int
	current    *queueDelivery // the last delivery
}

func newQueueSource(s *session) *queueSource {
	return &queueSource{session: s, wake: make(chan struct{}, 1)}
}

// ahead is how far the committed reach extends beyond the last delivery: after a crash, that many waiting messages
// count as redelivered.
func (q *queueSource) ahead() int64 { return int64(max(q.session.membership.spec.MaxInFlight, 64)) }

func (q *queueSource) start(at place) {
	s := q.session
	if at.found && at.progress.next != at.next {
		s.bus.log.Warn("queue does not contain the committed position", "topic", s.membership.topic,
			"partition", int(s.partition), "committed", at.progress.next, "reading_from", at.next, "end", at.end)
	}
	q.before, q.doubt = at, min(at.progress.reach, at.end)
	if at.found && at.progress.topic == "" {
		q.doubt = at.end // moved by other tools: every existing message may have been delivered
	}
	q.high = at.next
	q.reach = max(at.progress.reach, at.next+q.ahead())
	q.window = window.New(s.membership.spec.MaxInFlight, s.membership.spec.MaxBytes, at.next-1)
	q.ledger = &ledger{partition: int32(s.partition), progress: q.progress, wrote: q.wrote}
	s.membership.committer.add(q.ledger)
	s.membership.committer.poke()
	q.feed = s.membership.reader.open(int32(s.partition), at.next)
}

func (q *queueSource) progress() (progress, bool) {
	if q.session.Void() {
		return progress{}, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	committed, acked := q.window.Progress(q.ending)
	reach := q.reach
	if q.ending {
		reach = max(q.high, q.doubt)
	}
	return progress{
		next: committed + 1, topic: q.session.membership.identity.id.String(), reach: max(reach, committed+1), acked: acked,
	}, true
}

func (q *queueSource) wrote(p progress) {
	q.mu.Lock()
	q.written = p.reach
	q.mu.Unlock()
	consume.Signal(q.wake)
}

func (q *queueSource) next(ctx context.Context) (*bus.Delivery, error) {
	for {
		d, wakeAt := q.redeliver(time.Now())
		if d != nil {
			return d, nil
		}
		arrived := q.feed.arrived
		if q.window.Full() {
			arrived = nil
		} else {
			if q.held == nil {
				record, err := q.feed.next()
				if err != nil {
					return nil, err
				}
				q.held = record
			}
			if q.held != nil {
				d, wait := q.accept(q.held)
				if d != nil {
					return d, nil
				}
				if !wait {
					continue
				}
				arrived = nil
			}
		}
		timer, stop := consume.At(wakeAt)
		select {
		case <-arrived:
		case <-timer:
		case <-q.wake:
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		}
		stop()
	}
}

// accept returns the first delivery of a record in this session, unless the record was acknowledged to an earlier
// owner, or must wait until its reach is committed.
func (q *queueSource) accept(record *kgo.Record) (d *bus.Delivery, wait bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if record.Offset+1+q.ahead()/2 > q.reach {
		q.reach = record.Offset + 1 + q.ahead()
		q.session.membership.committer.poke()
	}
	acked := q.before.progress.isAcked(record.Offset)
	if !acked && record.Offset >= q.written {
		return nil, true
	}
	slot, ok := q.window.Push(record.Offset, size(record))
	if !ok {
		return nil, true // sealed: the session ends
	}
	q.held = nil
	if acked {
		q.window.Done(slot)
		return nil, false
	}
	q.high = record.Offset + 1
	it := &item{record: record, slot: slot}
	it.again = redelivery.Entry[*item]{Item: it, Offset: record.Offset}
	if record.Offset < q.doubt {
		it.deliveries = 1 // possibly delivered before
	}
	return q.hand(it, time.Now()), false
}

// redeliver returns the next delivery of the first item whose deadline has passed, or else the next deadline.
func (q *queueSource) redeliver(now time.Time) (*bus.Delivery, time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it, ok := q.due.Pop(now); ok {
		return q.hand(it, now), time.Time{}
	}
	return nil, q.due.Next()
}

// hand returns the next delivery of an item. The caller must lock mu.
func (q *queueSource) hand(it *item, now time.Time) *bus.Delivery {
	it.deliveries++
	d := &queueDelivery{source: q, item: it}
	d.Delivery = bus.Delivery{
		Message:    decode(it.record),
		Position:   position(q.session.partition, q.session.membership.identity.epoch, it.record.Offset),
		Time:       taken(it.record),
		Deliveries: it.deliveries,
		Acker:      d,
	}
	it.current = d
	q.due.Set(&it.again, now.Add(q.session.bus.opts.ackWait))
	return &d.Delivery
}

func (q *queueSource) finish(ctx context.Context, commit bool) error {
	q.feed.close()
	committer := q.session.membership.committer
	defer committer.remove(q.ledger)
	if !commit {
		return nil
	}
	q.mu.Lock()
	q.ending = true
	q.mu.Unlock()
	return committer.settle(ctx, q.ledger)
}

// queueDelivery is a delivery and its Acker in one allocation.
type queueDelivery struct {
	bus.Delivery
	source  *queueSource
	item    *item
	settled bool // guarded by source.mu
}

// settle runs one acknowledgement if it is still valid.
func (d *queueDelivery) settle(do func(q *queueSource, it *item)) {
	q := d.source
	if q.session.Void() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if d.settled || q.ending || d.item.record == nil {
		return
	}
	do(q, d.item)
	consume.Signal(q.wake)
}

// Ack is also valid for a delivery that was repeated since, because the outcome is durable.
func (d *queueDelivery) Ack() {
	d.settle(func(q *queueSource, it *item) {
		d.settled = true
		q.due.Clear(&it.again)
		q.window.Done(it.slot)
		it.record, it.current = nil, nil
	})
}

func (d *queueDelivery) Nack(after time.Duration) {
	d.settle(func(q *queueSource, it *item) {
		d.settled = true
		if it.current == d {
			q.due.Set(&it.again, time.Now().Add(after))
		}
	})
}

func (d *queueDelivery) Extend() {
	d.settle(func(q *queueSource, it *item) {
		if it.current == d {
			q.due.Set(&it.again, time.Now().Add(q.session.bus.opts.ackWait))
		}
	})
}
