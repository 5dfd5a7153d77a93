package partition

import (
	"slices"
	"strconv"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/timerheap"
)

// Outgoing is one due event to be published.
type Outgoing struct {
	Row   store.DueRow
	Event event.Due
	// ID is the message ID by which the bus deduplicates.
	ID        string
	namespace string
}

// Namespace returns the name of the row's namespace.
func (o *Outgoing) Namespace() string { return o.namespace }

// NextPublishAt returns the due time of the next state that TakeDue could take with this credit; Never if there is none, or
// if the due queue is full (QueueDepth).
func (p *Partition) NextPublishAt(now timer.Millis, credit int) timer.Millis {
	if p.floor.Depth >= p.limits.QueueDepth {
		return timer.Never
	}
	next := p.timers.NextDue(p.mayPublish(now, &credit))
	for i := range p.fromSweep {
		if credit > 0 || !p.needsCredit(p.fromSweep[i].namespace, now) {
			return min(next, p.fromSweep[i].Row.DueAt)
		}
	}
	return next
}

// TakeDue takes up to limit states that are due at now, never before their due time: first the states that the sweep
// found, then those of the timer heap, whose namespaces take turns. They are in flight until their publication is
// acknowledged. The caller repeats the publish with the same IDs until the bus has the batch, and calls Published.
//
// left is the unused part of credit. Namespaces with few timers due and in flight publish without credit.
func (p *Partition) TakeDue(now timer.Millis, limit, credit int) (batch []Outgoing, left int) {
	if p.floor.Depth >= p.limits.QueueDepth {
		return nil, credit
	}
	p.fromSweep = slices.DeleteFunc(p.fromSweep, func(o Outgoing) bool {
		if len(batch) == limit {
			return false
		}
		if p.needsCredit(o.namespace, now) {
			if credit == 0 {
				return false
			}
			credit--
		}
		batch = append(batch, o)
		return true
	})
	for len(batch) < limit {
		namespace, row, ok := p.timers.Pop(now, p.mayPublish(now, &credit))
		if !ok {
			break
		}
		s := p.shard(row.Ref.Shard)
		if s == nil {
			continue
		}
		p.addInFlight(timerheap.StateOf(&row), &publication{row: row, namespace: namespace})
		if p.needsCredit(namespace, now) {
			credit = max(0, credit-1)
		}
		batch = append(batch, p.outgoing(s, row))
	}
	for i := range batch {
		if s := p.shard(batch[i].Row.Ref.Shard); s != nil && batch[i].Row.Key().After(s.published) {
			s.published = batch[i].Row.Key()
		}
	}
	return batch, credit
}

// outgoing builds the event. Its ID is different for each publication, because a bus that drops repeated IDs would also
// drop a needed repetition and report success. Only retries of the same publication have the same ID.
func (p *Partition) outgoing(s *ownedShard, row store.DueRow) Outgoing {
	p.sequence++
	return Outgoing{
		Row: row,
		Event: event.Due{
			Shard: row.Ref.Shard, UUID: row.Ref.UUID, Revision: row.Revision,
			Generation: row.Generation, Attempt: row.Attempt, DueAt: row.DueAt,
			ClaimVersion: s.claim.Version, Owner: s.claim.Owner, Sequence: p.sequence, Target: row.Target,
			MaybeStarted: p.maybeStarted(s, &row),
		},
		ID: row.Ref.UUID.String() + "." + row.Revision.String() +
			"." + strconv.FormatInt(s.claim.Version, 10) + "." + strconv.FormatUint(p.sequence, 10),
		namespace: s.namespace,
	}
}

// maybeStarted reports whether an earlier owner may have published the state to a queue in its memory (I13).
func (p *Partition) maybeStarted(s *ownedShard, row *store.DueRow) bool {
	written := p.limits.AloneSince > 0 && row.UpdatedAt >= p.limits.AloneSince
	return p.limits.LocalQueue && !written && row.DueAt <= s.claimedAt.Add(p.limits.ClockBound)
}

// Published records that the bus has the batch.
func (p *Partition) Published(now timer.Millis, batch []Outgoing, positions []bus.Position) {
	p.ticks++
	for i := range batch {
		pub, ok := p.inFlight[timerheap.StateOf(&batch[i].Row)]
		if !ok {
			continue
		}
		pub.confirmed, pub.bySweep = true, false
		pub.at, pub.tick = now, p.ticks
		if i < len(positions) {
			pub.position = positions[i]
		}
	}
}

// Message encodes a due event as a message of the due topic.
func Message(o *Outgoing, partition shard.Partition) bus.Message {
	return bus.Message{
		Partition: partition, Key: o.Row.Ref.Shard.String(), ID: o.ID, Body: event.MarshalDue(o.Event),
	}
}
