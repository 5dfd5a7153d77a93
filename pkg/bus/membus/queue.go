package membus

import (
	"time"

	"github.com/timerbus/timerbus/internal/bus/redelivery"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// queue is one topic of KindQueue: as on JetStream, one queue for all partitions and for the one group that consumes
// it. Guarded by broker.mu.
//
// The queue assigns messages to members round-robin, when they are published or become ready again. The assignment
// does not depend on when a member's goroutine runs, so a simulation is repeatable.
type queue struct {
	broker *Broker
	topic  bus.Topic
	epoch  int64
	ids    seen

	items []*item // offsets first, first+1, and so on; acknowledged items at the front are removed
	first int64
	depth int // number of unacknowledged items
	held  int // of these, the items that are delivered, or delayed after a Nack
	// recent has the last acknowledged messages, oldest first, for CrashQueue.
	recent []recentItem

	again []*item // items to redeliver; they precede fresh
	fresh []*item
	feeds []*feed // in the order in which their sessions started
	turn  int
	due   redelivery.Heap[*item]
	timer *time.Timer
}

type state int

const (
	ready   state = iota // in again or fresh
	handed               // delivered to a member, until its deadline
	delayed              // after a Nack, until its deadline
	acked
)

type item struct {
	bus.Message
	offset     int64
	epoch      int64 // topic epoch when the queue accepted the message
	at         time.Time
	state      state
	deadline   redelivery.Entry[*item]
	holder     *feed
	deliveries int
}

// feed is the source of one session.
type feed struct {
	queue    *queue
	session  *session
	inbox    []*bus.Delivery
	inFlight int
	bytes    int // size of the items in flight
}

func newQueue(b *Broker, topic bus.Topic, epoch int64) *queue {
	return &queue{broker: b, topic: topic, epoch: epoch, first: 1}
}

func (q *queue) end0() int64 { return q.first + int64(len(q.items)) }

// end is the position that the next message will get.
func (q *queue) end(p shard.Partition) bus.Position {
	return bus.Position{Partition: p, Epoch: q.epoch, Offset: q.end0()}
}

func (it *item) position(p shard.Partition) bus.Position {
	return bus.Position{Partition: p, Epoch: it.epoch, Offset: it.offset}
}

func (q *queue) append(m bus.Message, now time.Time) bus.Position {
	if at, ok := q.ids.position(m.ID, now); ok {
		return at
	}
	at := q.end(m.Partition)
	q.ids.add(m.ID, at, now.Add(q.broker.opts.DedupeWindow))
	it := &item{Message: m, offset: at.Offset, epoch: at.Epoch, at: now}
	it.deadline = redelivery.Entry[*item]{Item: it, Offset: at.Offset}
	q.items = append(q.items, it)
	q.depth++
	q.fresh = append(q.fresh, it)
	return at
}

func (q *queue) floor(p shard.Partition) bus.Floor {
	f := bus.Floor{Floor: q.end(p), End: q.end(p), Depth: q.depth, Waiting: q.depth - q.held}
	if len(q.items) > 0 {
		f.Floor = q.items[0].position(p)
	}
	return f
}

func (q *queue) attach(s *session) *feed {
	f := &feed{queue: q, session: s}
	q.feeds = append(q.feeds, f)
	q.dispatch(time.Now())
	return f
}

// dispatch assigns ready items round-robin to the members that have room.
func (q *queue) dispatch(now time.Time) {
	for {
		it := q.head()
		if it == nil {
			break
		}
		f := q.taker()
		if f == nil {
			break
		}
		if len(q.again) > 0 && q.again[0] == it {
			q.again = q.again[1:]
		} else {
			q.fresh = q.fresh[1:]
		}
		q.hand(it, f, now)
	}
	q.arm(now)
}

// head returns the next ready item. It drops items that were acknowledged or purged while they were waiting.
func (q *queue) head() *item {
	for len(q.again) > 0 && q.again[0].state != ready {
		q.again = q.again[1:]
	}
	if len(q.again) > 0 {
		return q.again[0]
	}
	for len(q.fresh) > 0 && q.fresh[0].state != ready {
		q.fresh = q.fresh[1:]
	}
	if len(q.fresh) > 0 {
		return q.fresh[0]
	}
	return nil
}

// taker returns the next feed, round-robin, that has room.
func (q *queue) taker() *feed {
	for range q.feeds {
		q.turn = (q.turn + 1) % len(q.feeds)
		f := q.feeds[q.turn]
		m, spec := f.session.consumer.member, &f.session.consumer.spec
		if f.inFlight < spec.MaxInFlight && f.bytes < spec.MaxBytes && !m.frozen && !m.down && f.session.cause == nil {
			return f
		}
	}
	return nil
}

// queueDelivery is a delivery and its Acker in one allocation.
type queueDelivery struct {
	bus.Delivery
	item     *item
	feed     *feed
	delivery int // its number among the item's deliveries
}

func (q *queue) hand(it *item, f *feed, now time.Time) {
	it.deliveries++
	it.holder = f
	q.move(it, handed, now.Add(bus.AckWait))
	f.inFlight++
	f.bytes += it.Size()
	d := &queueDelivery{item: it, feed: f, delivery: it.deliveries}
	d.Delivery = bus.Delivery{
		Message:    it.Message,
		Position:   it.position(it.Partition),
		Time:       it.at,
		Deliveries: it.deliveries,
		Acker:      d,
	}
	f.inbox = append(f.inbox, &d.Delivery)
	f.session.signal()
}

// move changes an item's state. until is the deadline of the states that have one.
func (q *queue) move(it *item, to state, until time.Time) {
	if it.state == handed || it.state == delayed {
		q.held--
	}
	it.state = to
	if to == handed || to == delayed {
		q.held++
		q.due.Set(&it.deadline, until)
	} else {
		q.due.Clear(&it.deadline)
	}
}

// release takes an item from its holder.
func (it *item) release() {
	if it.holder != nil {
		it.holder.inFlight--
		it.holder.bytes -= it.Size()
		it.holder.session.signal()
		it.holder = nil
	}
}

// repeat makes an item ready again.
func (q *queue) repeat(it *item) {
	it.release()
	q.move(it, ready, time.Time{})
	q.again = append(q.again, it)
}

// finish removes an acknowledged item.
func (q *queue) finish(it *item) {
	it.release()
	q.move(it, acked, time.Time{})
	q.remember(it)
	it.Message = bus.Message{Partition: it.Partition}
	q.depth--
	n := 0
	for n < len(q.items) && q.items[n].state == acked {
		n++
	}
	clear(q.items[:n])
	q.items = q.items[n:]
	q.first += int64(n)
}

// expire repeats the items whose deadline has passed.
func (q *queue) expire() {
	q.broker.mu.Lock()
	defer q.broker.mu.Unlock()
	now := time.Now()
	for it, ok := q.due.Pop(now); ok; it, ok = q.due.Pop(now) {
		q.repeat(it)
	}
	q.dispatch(now)
}

// arm sets the timer to the next deadline. An empty queue has no timer: a simulation's clock would jump to it.
func (q *queue) arm(now time.Time) {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	next := q.due.Next()
	switch {
	case next.IsZero():
	case next.After(now):
		q.timer = time.AfterFunc(next.Sub(now), q.expire)
	default:
		go q.expire() // not AfterFunc(0), which crashes the race detector in synctest bubbles (golang/go#78156)
	}
}

func (f *feed) next() *bus.Delivery {
	if len(f.inbox) == 0 {
		return nil
	}
	d := f.inbox[0]
	f.inbox[0] = nil
	f.inbox = f.inbox[1:]
	return d
}

// end removes the feed. If commit is set, the feed's delivered messages become ready immediately; otherwise they are
// redelivered after AckWait, as on a bus that cannot distinguish a dead member from a slow one.
func (f *feed) end(commit bool) {
	q := f.queue
	for i, o := range q.feeds {
		if o == f {
			q.feeds = append(q.feeds[:i:i], q.feeds[i+1:]...)
			break
		}
	}
	q.turn = 0
	f.inbox = nil
	if commit {
		for _, it := range q.items {
			if it.state == handed && it.holder == f {
				q.repeat(it)
			}
		}
	}
	q.dispatch(time.Now())
}

// settle runs one acknowledgement if it is still valid: the session is alive, and the item was not delivered again
// since.
func (d *queueDelivery) settle(do func(q *queue, now time.Time)) {
	q := d.feed.queue
	q.broker.mu.Lock()
	defer q.broker.mu.Unlock()
	it := d.item
	if !d.feed.session.counts() || it.state != handed || it.deliveries != d.delivery {
		return
	}
	now := time.Now()
	do(q, now)
	q.dispatch(now)
}

func (d *queueDelivery) Ack() {
	d.settle(func(q *queue, _ time.Time) { q.finish(d.item) })
}

func (d *queueDelivery) Nack(after time.Duration) {
	d.settle(func(q *queue, now time.Time) {
		if after <= 0 {
			q.repeat(d.item)
			return
		}
		d.item.release()
		q.move(d.item, delayed, now.Add(after))
	})
}

func (d *queueDelivery) Extend() {
	d.settle(func(q *queue, now time.Time) { q.move(d.item, handed, now.Add(bus.AckWait)) })
}
