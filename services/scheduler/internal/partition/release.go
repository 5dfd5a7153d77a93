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

// ReleaseAt returns when the next state may be published with so much credit (Release); Never while a bound is reached.
func (p *Partition) ReleaseAt(now timer.Millis, credit int) timer.Millis {
	if p.floor.Depth >= p.limits.QueueDepth {
		return timer.Never
	}
	next := p.agenda.NextDue(p.mayPublish(now, &credit)).Add(-p.limits.Planted.Early)
	if len(p.repeat) > 0 && credit > 0 {
		next = min(next, p.repeat[0].Row.DueAt)
	}
	return next
}

// Release takes up to limit states that are due at now, never before: first what the sweep found, then
// the agenda, namespaces in turn. They are then in flight. The caller publishes them until
// the bus has them, with the same IDs, and calls Published.
//
// Each of them uses one of credit, as far as there is any; left is the rest. Without credit, only namespaces publish
// that have few timers due and in flight.
func (p *Partition) Release(now timer.Millis, limit, credit int) (batch []Outgoing, left int) {
	if p.floor.Depth >= p.limits.QueueDepth {
		return nil, credit
	}
	n := min(limit, len(p.repeat), credit)
	credit -= n
	batch = append(batch, p.repeat[:n]...)
	p.repeat = append(p.repeat[:0], p.repeat[n:]...)
	for len(batch) < limit {
		group, e, ok := p.agenda.Pop(now.Add(p.limits.Planted.Early), p.mayPublish(now, &credit))
		if !ok {
			break
		}
		s := p.shard(e.Row.Ref.Shard)
		if s == nil {
			continue
		}
		credit = max(0, credit-1)
		p.launch(agenda.StateOf(&e.Row), &publication{row: e.Row, group: group})
		batch = append(batch, p.outgoing(s, e.Row, e.Again))
	}
	for i := range batch {
		if s := p.shard(batch[i].Row.Ref.Shard); s != nil && batch[i].Row.Key().After(s.sent) {
			s.sent = batch[i].Row.Key()
		}
	}
	return batch, credit
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
