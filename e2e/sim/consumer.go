package sim

import (
	"context"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// consumer is a dispatcher's access to the bus. It records which due events the process gets.
type consumer struct {
	bus.Bus

	life *life
}

func (c *consumer) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return c.Bus.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		if err != nil {
			return nil, err
		}
		return &consumption{s, c.life}, nil
	})
}

type consumption struct {
	bus.Session

	life *life
}

func (c *consumption) Deliver(ctx context.Context, m *bus.Delivery) error {
	due, err := event.UnmarshalDue(m.Body)
	must(err)
	c.life.node.world.recording.handed(&due, c.life)
	return c.Session.Deliver(ctx, m)
}

// handover is a due event that a process got.
type handover struct {
	to *life
	at time.Duration
}

// subject is the attempt that a due event is about.
type subject struct {
	uuid       timer.UUID
	generation string
	number     timer.Attempt
}

func (r *recording) handed(e *event.Due, to *life) {
	r.mu.Lock()
	defer r.mu.Unlock()
	about := subject{e.UUID, e.Generation.String(), e.Attempt}
	r.handovers[about] = append(r.handovers[about], handover{to, r.now()})
}

// handedOver returns who got the due events of an attempt.
func (r *recording) handedOver(about subject) []handover {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.handovers[about]
}
