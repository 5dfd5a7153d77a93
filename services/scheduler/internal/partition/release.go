package partition

import (
	"strconv"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/agenda"
)

// Outgoing is one due event on its way to the bus.
type Outgoing struct {
	Row   store.DueRow
	Event event.Due
	// ID is what the bus recognises a repetition by.
	ID string
}

// ReleaseAt returns when the next state may be published; Never while a bound is reached.
func (p *Partition) ReleaseAt() timer.Millis {
	if p.floor.Depth >= p.limits.QueueDepth {
		return timer.Never
	}
	if len(p.repeat) > 0 {
		return p.repeat[0].Row.DueAt
	}
	if len(p.out) >= p.limits.Outstanding {
		return timer.Never
	}
	return p.agenda.NextDue().Add(-p.limits.Planted.Early)
}

// Release takes up to limit states that are due at now, never before: first what the sweep found, then
// the agenda, namespaces in turn. They are outstanding from here on. The caller publishes them until
// the bus has them, with the same IDs, and calls Published.
func (p *Partition) Release(now timer.Millis, limit int) []Outgoing {
	if p.floor.Depth >= p.limits.QueueDepth {
		return nil
	}
	n := min(limit, len(p.repeat))
	batch := append([]Outgoing(nil), p.repeat[:n]...)
	p.repeat = append(p.repeat[:0], p.repeat[n:]...)
	for len(batch) < limit && len(p.out) < p.limits.Outstanding {
		e, ok := p.agenda.Pop(now.Add(p.limits.Planted.Early))
		if !ok {
			break
		}
		s := p.shard(e.Row.Ref.Shard)
		if s == nil {
			continue
		}
		p.out[agenda.StateOf(&e.Row)] = &publication{row: e.Row}
		batch = append(batch, p.outgoing(s, e.Row, e.Again))
	}
	for i := range batch {
		if s := p.shard(batch[i].Row.Ref.Shard); s != nil && batch[i].Row.Key().After(s.sent) {
			s.sent = batch[i].Row.Key()
		}
	}
	return batch
}

// outgoing builds the event. The plain ID lets the bus drop what two owners publish around a take-over;
// a needed repetition must be told apart, or the bus would swallow it and call it success.
func (p *Partition) outgoing(s *ownedShard, row store.DueRow, again bool) Outgoing {
	p.sequence++
	o := Outgoing{
		Row: row,
		Event: event.Due{
			Shard: row.Ref.Shard, UUID: row.Ref.UUID, Revision: row.Revision,
			Generation: row.Generation, Attempt: row.Attempt, DueAt: row.DueAt,
			ClaimVersion: s.claim.Version, Owner: s.claim.Owner, Sequence: p.sequence, Target: row.Target,
		},
		ID: row.Ref.UUID.String() + "." + row.Revision.String(),
	}
	if again {
		o.ID += "." + strconv.FormatInt(s.claim.Version, 10) + "." + strconv.FormatUint(p.sequence, 10)
	}
	return o
}

// Published takes in that the bus has the batch.
func (p *Partition) Published(now timer.Millis, batch []Outgoing, positions []bus.Position) {
	p.ticks++
	for i := range batch {
		pub, ok := p.out[agenda.StateOf(&batch[i].Row)]
		if !ok {
			continue
		}
		pub.acked, pub.repeating = true, false
		pub.at, pub.tick = now, p.ticks
		if i < len(positions) {
			pub.position = positions[i]
		}
	}
}

// Message lays a due event into a message of the due topic.
func Message(o *Outgoing, partition shard.Partition) bus.Message {
	return bus.Message{
		Partition: partition, Key: o.Row.Ref.Shard.String(), ID: o.ID, Body: event.MarshalDue(o.Event),
	}
}
