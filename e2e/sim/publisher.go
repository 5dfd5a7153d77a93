package sim

import (
	"context"

	"github.com/timerbus/timerbus/internal/bus/localqueue"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
)

// publisher is a scheduler's bus. It records the due events that are sent and those that are acknowledged.
type publisher struct {
	bus.Bus

	node *node
	// queue is the due queue in memory, which is a part of Bus; nil: the bus has it.
	queue *localqueue.Bus
}

func (p *publisher) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if topic != bus.Due {
		return p.Bus.Publish(ctx, topic, messages...)
	}
	events := make([]event.Due, len(messages))
	for i := range messages {
		var err error
		events[i], err = event.UnmarshalDue(messages[i].Body)
		must(err)
	}
	w := p.node.world
	asked := bus.Bus(w.outside)
	if p.queue != nil {
		asked = p.queue
	}
	floors, err := asked.Floor(context.WithoutCancel(ctx), bus.Due, bus.GroupDispatchers)
	must(err)
	checks := make([]store.Check, len(events))
	for i, e := range events {
		checks[i] = store.Check{Ref: store.Ref{Shard: e.Shard, UUID: e.UUID}, DueAt: e.DueAt, Revision: e.Revision}
	}
	rows, err := w.db.Open().Current(context.WithoutCancel(ctx), checks)
	must(err)
	for i := range events {
		w.recording.publishes(&dueEvent{
			Due: events[i], node: p.node.index, queue: p.queue, floor: floors[messages[i].Partition].Floor,
			there: rows[i].Matches(events[i].Revision),
		}, w.fence.publishes(&events[i]))
	}
	positions, err := p.Bus.Publish(ctx, topic, messages...)
	if err == nil {
		for i := range events {
			w.fence.published(&events[i])
			w.recording.published(&events[i], positions[i])
		}
	}
	return positions, err
}

// publishes records an event before it is published, and returns its owner; nil if a mutant has invented the claim.
func (f *fence) publishes(e *event.Due) *ownership {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.owners[claimOf(e)]
	if key := keyOf(e); o != nil && key.After(o.sent) {
		o.sent = key
	}
	return o
}

// published records that the bus has acknowledged an event.
func (f *fence) published(e *event.Due) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.owners[claimOf(e)]; o != nil {
		o.published[dueState{e.UUID, e.Revision}] = true
	}
}

// publishes records an event at its first publish.
func (r *recording) publishes(e *dueEvent, by *ownership) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.sequences[sequenceOf(&e.Due)]; known {
		return
	}
	r.sequences[sequenceOf(&e.Due)] = len(r.events)
	e.at = r.now()
	if by != nil {
		e.begin, e.claimed = by.begin, by.claimed
	}
	r.events = append(r.events, *e)
}

func (r *recording) published(e *event.Due, at bus.Position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events[r.sequences[sequenceOf(e)]].position = at
}

// sequence identifies a due event among those of all owners (I9).
type sequence struct {
	claim  store.Claim
	number uint64
}

func sequenceOf(e *event.Due) sequence { return sequence{claimOf(e), e.Sequence} }

func claimOf(e *event.Due) store.Claim {
	return store.Claim{Shard: e.Shard, Version: e.ClaimVersion, Owner: e.Owner}
}

func keyOf(e *event.Due) store.Key { return store.Key{DueAt: e.DueAt, UUID: e.UUID} }
