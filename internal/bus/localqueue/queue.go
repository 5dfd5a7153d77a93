package localqueue

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/bus/redelivery"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// queue has the unacknowledged messages. Bus.mu guards it.
type queue struct {
	// parts has the unacknowledged messages of each partition.
	parts map[shard.Partition]*part
	// redeliver has the messages that are ready again. They are delivered before those in fresh.
	redeliver, fresh []*item
	// next is the offset of the next message.
	next int64
	// depth counts the unacknowledged messages, and held those of them that are delivered or delayed; heldBytes is their size.
	depth, held, heldBytes int
	deadlines              redelivery.Heap[*item]
}

// part has the items of a partition, oldest first. gone counts those that are gone. The first item is never gone, and at most half of the
// items are.
type part struct {
	items []*item
	gone  int
}

type state int

const (
	ready     state = iota // in redeliver or fresh
	delivered              // until the deadline
	delayed                // after a Nack, until the deadline
	gone                   // acknowledged or removed
)

type item struct {
	bus.Message
	position   bus.Position
	at         time.Time
	size       int
	state      state
	deliveries int
	deadline   redelivery.Entry[*item]
}

func newQueue() queue { return queue{parts: map[shard.Partition]*part{}, next: 1} }

// epoch is the topic epoch. It need not grow, because a process has one queue, and positions are compared within the process only.
const epoch = 1

func (q *queue) add(messages []bus.Message, now time.Time) []bus.Position {
	positions := make([]bus.Position, len(messages))
	for i := range messages {
		m := &messages[i]
		positions[i] = bus.Position{Partition: m.Partition, Epoch: epoch, Offset: q.next}
		it := &item{Message: *m, position: positions[i], at: now, size: m.Size()}
		it.Body = append([]byte(nil), m.Body...)
		it.deadline = redelivery.Entry[*item]{Item: it, Offset: q.next}
		q.next++
		q.depth++
		q.fresh = append(q.fresh, it)
		p := q.parts[m.Partition]
		if p == nil {
			p = &part{}
			q.parts[m.Partition] = p
		}
		p.items = append(p.items, it)
	}
	return positions
}

func (q *queue) floors(partitions int) bus.Floors {
	floors := make(bus.Floors, partitions)
	for i := range floors {
		p := shard.Partition(i)
		end := bus.Position{Partition: p, Epoch: epoch, Offset: q.next}
		floors[i] = bus.Floor{Floor: end, End: end, Depth: q.depth, Waiting: q.depth - q.held}
		if part := q.parts[p]; part != nil && len(part.items) > 0 {
			floors[i].Floor = part.items[0].position
		}
	}
	return floors
}

// takeReady returns a delivery of the first ready message whose partition may allows; nil if there is none.
func (q *queue) takeReady(now time.Time, b *Bus, may func(shard.Partition) bool) *delivery {
	for _, list := range []*[]*item{&q.redeliver, &q.fresh} {
		for at := 0; at < len(*list); at++ {
			it := (*list)[at]
			if it.state == ready && !may(it.Partition) {
				continue
			}
			if at == 0 {
				(*list)[0] = nil
				*list = (*list)[1:]
			} else {
				*list = append((*list)[:at], (*list)[at+1:]...)
			}
			at--
			if it.state != ready {
				continue
			}
			it.deliveries++
			q.hold(it, delivered, now.Add(bus.AckWait))
			d := &delivery{bus: b, item: it, number: it.deliveries}
			d.Delivery = bus.Delivery{Message: it.Message, Position: it.position, Time: it.at, Deliveries: it.deliveries, Acker: d}
			return d
		}
	}
	return nil
}

// hold sets the state of a message, delivered or delayed, until a deadline.
func (q *queue) hold(it *item, as state, until time.Time) {
	if it.state == ready {
		q.held++
		q.heldBytes += it.size
	}
	it.state = as
	q.deadlines.Set(&it.deadline, until)
}

// release ends the hold of a message.
func (q *queue) release(it *item, as state) {
	if it.state == delivered || it.state == delayed {
		q.held--
		q.heldBytes -= it.size
		q.deadlines.Clear(&it.deadline)
	}
	it.state = as
}

func (q *queue) repeat(it *item) {
	q.release(it, ready)
	q.redeliver = append(q.redeliver, it)
}

// remove removes a message: it was acknowledged, or its partition was withdrawn.
func (q *queue) remove(it *item) {
	q.release(it, gone)
	q.depth--
	it.Message = bus.Message{Partition: it.Partition}
	p := q.parts[it.Partition]
	p.gone++
	n := 0
	for n < len(p.items) && p.items[n].state == gone {
		n++
	}
	clear(p.items[:n])
	p.items, p.gone = p.items[n:], p.gone-n
	if 2*p.gone > len(p.items) {
		p.items, p.gone = slices.DeleteFunc(p.items, func(it *item) bool { return it.state == gone }), 0
	}
}

// repeatExpired makes the messages ready whose deadline has passed.
func (q *queue) repeatExpired(now time.Time) {
	for it, ok := q.deadlines.Pop(now); ok; it, ok = q.deadlines.Pop(now) {
		q.repeat(it)
	}
}

// each calls do for the messages of a partition that are in one of the states.
func (q *queue) each(p shard.Partition, do func(*item), states ...state) {
	part := q.parts[p]
	if part == nil {
		return
	}
	for _, it := range slices.Clone(part.items) { // do may remove items
		if slices.Contains(states, it.state) {
			do(it)
		}
	}
}

func (q *queue) removeReady(p shard.Partition) { q.each(p, q.remove, ready) }

func (q *queue) removeAll(p shard.Partition) { q.each(p, q.remove, ready, delivered, delayed) }

// returnDelivered makes the delivered messages of a partition ready.
func (q *queue) returnDelivered(p shard.Partition) { q.each(p, q.repeat, delivered) }

// delivery is a delivery and its Acker in one allocation.
type delivery struct {
	bus.Delivery
	bus     *Bus
	item    *item
	number  int      // of this delivery among those of the message
	session *session // set by accept
}

// accept makes a session the one that may acknowledge the delivery. It returns false if the session has ended, or this is no longer the
// message's current delivery. The caller holds Bus.mu.
func (d *delivery) accept(s *session) bool {
	d.session = s
	return d.valid()
}

func (d *delivery) valid() bool {
	return !d.session.ended && d.item.state == delivered && d.item.deliveries == d.number
}

// ifValid runs do if the session has not ended, and this is still the message's current delivery.
func (d *delivery) ifValid(do func(*queue)) {
	d.bus.mu.Lock()
	valid := d.valid()
	if valid {
		do(&d.bus.queue)
	}
	d.bus.mu.Unlock()
	if valid {
		d.bus.signal()
	}
}

// Ack implements bus.Acker.
func (d *delivery) Ack() { d.ifValid(func(q *queue) { q.remove(d.item) }) }

// Nack implements bus.Acker.
func (d *delivery) Nack(after time.Duration) {
	d.ifValid(func(q *queue) {
		if after <= 0 {
			q.repeat(d.item)
			return
		}
		q.hold(d.item, delayed, time.Now().Add(after))
	})
}

// Extend implements bus.Acker.
func (d *delivery) Extend() {
	d.ifValid(func(q *queue) { q.hold(d.item, delivered, time.Now().Add(bus.AckWait)) })
}
