package membus

import (
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// hints is the source of a Live session: at most limit hints that were published since the session was started.
type hints struct {
	session *session
	limit   int
	waiting []*bus.Delivery
}

// hint sends one message to the present owners of its partition, once for each delay in fates[i], or once without
// fates.
func (b *Broker) hint(topic bus.Topic, m bus.Message, now time.Time, fates [][]time.Duration, i int) {
	if fates == nil {
		b.deliverHint(topic, m, now)
		return
	}
	for _, delay := range fates[i] {
		if delay <= 0 {
			b.deliverHint(topic, m, now)
			continue
		}
		time.AfterFunc(delay, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.deliverHint(topic, m, now)
		})
	}
}

func (b *Broker) deliverHint(topic bus.Topic, m bus.Message, at time.Time) {
	for _, g := range b.groups {
		if g.topic != topic || g.mode != bus.Live {
			continue
		}
		owner := g.parts[m.Partition].owner
		if owner == nil || owner.cause != nil {
			continue
		}
		h, ok := owner.source.(*hints)
		if !ok || len(h.waiting) >= h.limit || owner.consumer.member.down {
			continue
		}
		h.waiting = append(h.waiting, &bus.Delivery{
			Message:  m,
			Position: bus.Position{Partition: m.Partition},
			Time:     at,
			Acker:    noAck{},
		})
		owner.signal()
	}
}

func (h *hints) next() *bus.Delivery {
	if len(h.waiting) == 0 {
		return nil
	}
	d := h.waiting[0]
	h.waiting[0] = nil
	h.waiting = h.waiting[1:]
	return d
}

func (h *hints) end(bool) { h.waiting = nil }

// noAck is the Acker of hints, which are not kept and therefore not acknowledged.
type noAck struct{}

func (noAck) Ack()               {}
func (noAck) Nack(time.Duration) {}
func (noAck) Extend()            {}
