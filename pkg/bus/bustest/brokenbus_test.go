package bustest_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// brokenBus decorates a member of membus; each non-nil function replaces a correct step of membus.
type brokenBus struct {
	*membus.Member
	spec    func(m *membus.Member, spec bus.Spec) bus.Spec
	deliver func(s *brokenSession, ctx context.Context, d *bus.Delivery) error
	closing func(s *brokenSession, ctx context.Context, cause error) error
	ack     func(s *brokenSession, d *bus.Delivery)

	mu   sync.Mutex
	held []*bus.Delivery // all deliveries of all sessions
}

// decorated makes each member a copy of the broken bus.
func decorated(b *brokenBus) func(*membus.Member, *membus.Broker) bustest.Member {
	return func(m *membus.Member, _ *membus.Broker) bustest.Member {
		broken := &brokenBus{Member: m, spec: b.spec, deliver: b.deliver, closing: b.closing, ack: b.ack}
		return intact(broken, m)
	}
}

func acks(f func(*brokenSession, *bus.Delivery)) func(*membus.Member, *membus.Broker) bustest.Member {
	return decorated(&brokenBus{ack: f})
}

func specs(f func(*membus.Member, bus.Spec) bus.Spec) func(*membus.Member, *membus.Broker) bustest.Member {
	return decorated(&brokenBus{spec: f})
}

// intact returns a member with bus b, which may be broken, and membus's own crash and connection functions.
func intact(b bus.Bus, m *membus.Member) bustest.Member {
	return bustest.Member{
		Bus: b, Crash: m.Crash, Isolate: m.Freeze, Heal: m.Thaw,
		Break: func() {
			m.Disconnect()
			time.AfterFunc(1500*time.Millisecond, m.Connect)
		},
	}
}

func (b *brokenBus) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if b.spec != nil {
		spec = b.spec(b.Member, spec)
	}
	return b.Member.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		inner, err := open(ctx, p)
		if err != nil {
			return nil, err
		}
		return &brokenSession{Session: inner, bus: b, opened: time.Now()}, nil
	})
}

// brokenSession decorates the suite's session.
type brokenSession struct {
	bus.Session
	bus     *brokenBus
	opened  time.Time
	got     []*bus.Delivery
	swapped *bus.Delivery
	closed  bool
}

func (s *brokenSession) Deliver(ctx context.Context, d *bus.Delivery) error {
	s.got = append(s.got, d)
	s.bus.mu.Lock()
	s.bus.held = append(s.bus.held, d)
	s.bus.mu.Unlock()
	outer := *d
	if s.bus.ack != nil {
		outer.Acker = brokenAcker{Acker: d.Acker, session: s, d: d}
	}
	if s.bus.deliver != nil {
		// s.bus.deliver acknowledges the inner delivery. Both deliveries therefore share an intact Acker, unless the
		// broken bus breaks acknowledgements.
		return s.bus.deliver(s, ctx, &outer)
	}
	return s.Session.Deliver(ctx, &outer)
}

func (s *brokenSession) Close(ctx context.Context, cause error) error {
	if s.bus.closing != nil {
		return s.bus.closing(s, ctx, cause)
	}
	return s.Session.Close(ctx, cause)
}

type brokenAcker struct {
	bus.Acker
	session *brokenSession
	d       *bus.Delivery
}

func (a brokenAcker) Ack() { a.session.bus.ack(a.session, a.d) }

// forgetful publishes without message IDs.
type forgetful struct{ *membus.Member }

func (f *forgetful) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	bare := make([]bus.Message, len(messages))
	for i, m := range messages {
		m.ID = ""
		bare[i] = m
	}
	return f.Member.Publish(ctx, topic, bare...)
}

// boastful reports, after a failed call, that the bus has every message except those that are too large.
type boastful struct{ *membus.Member }

func (b *boastful) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	positions, err := b.Member.Publish(ctx, topic, messages...)
	if err == nil || len(messages) == 1 {
		return positions, err
	}
	partial := &bus.PartialError{Errs: make([]error, len(messages))}
	for i, m := range messages {
		if len(m.Body) > 1<<20 {
			partial.Errs[i] = err
		}
	}
	return nil, partial
}

// alarmist reports a gap to every session.
type alarmist struct{ *membus.Member }

func (a *alarmist) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	return a.Member.Consume(ctx, spec, func(ctx context.Context, p shard.Partition) (bus.Session, error) {
		s, err := open(ctx, p)
		if gaps, ok := s.(bus.GapSession); ok {
			gaps.Missed(ctx, bus.Gap{Messages: 3})
		}
		return s, err
	})
}

// discarding makes room in a full topic by removing the topic's messages.
type discarding struct {
	*membus.Member
	broker *membus.Broker
}

func (d *discarding) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	positions, err := d.Member.Publish(ctx, topic, messages...)
	if errors.Is(err, bus.ErrFull) {
		d.broker.Purge(topic)
		return d.Member.Publish(ctx, topic, messages...)
	}
	return positions, err
}

// filled refuses every message after the topic was full once.
type filled struct {
	*membus.Member
	full error
}

func (f *filled) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if f.full != nil {
		return nil, f.full
	}
	positions, err := f.Member.Publish(ctx, topic, messages...)
	if errors.Is(err, bus.ErrFull) {
		f.full = err
	}
	return positions, err
}
