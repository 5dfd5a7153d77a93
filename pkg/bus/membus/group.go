package membus

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/bus/assign"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// group is one consumer group on one topic. broker.mu guards all fields.
type group struct {
	broker    *Broker
	topic     bus.Topic
	name      string
	mode      bus.Mode
	consumers []*consumer // in the order of joining
	parts     []part      // Ordered and Live
}

// part is the state of one partition in a group.
type part struct {
	owner     *session
	committed bus.Position // Ordered
	held      bool         // without an owner, and not assignable yet
	holds     int          // counts holds, so that the timer of an earlier hold does not end a later one
	moved     *consumer    // the owner that a simulator wants instead of the computed one
}

// consumer is one Consume call.
type consumer struct {
	member   *Member
	group    *group
	id       string
	spec     bus.Spec
	open     bus.OpenSession
	base     context.Context
	sessions sync.WaitGroup
	health   *health.Consumer

	// Guarded by broker.mu.
	leaving bool
	session *session   // Queue: the only session
	resting bool       // Queue: a session failed, and the backoff before the next one has not ended
	zombies []*session // lost, but not notified yet
}

func (b *Broker) group(spec bus.Spec) (*group, error) {
	for _, g := range b.groups {
		if g.topic != spec.Topic {
			continue
		}
		if g.name == spec.Group {
			return g, nil
		}
		if g.mode == bus.Queue {
			return nil, fmt.Errorf("consume %s: %w: the queue belongs to group %q, not %q",
				spec.Topic, bus.ErrUnsupported, g.name, spec.Group)
		}
	}
	g := &group{broker: b, topic: spec.Topic, name: spec.Group, mode: spec.Mode}
	if spec.Mode != bus.Queue {
		n := b.opts.Partitions
		if l := b.logOf(spec.Topic); l != nil {
			n = len(l.parts) // a larger cluster may have created the user topic
		}
		g.parts = make([]part, n)
	}
	b.groups = append(b.groups, g)
	return g, nil
}

// find returns the group, or nil if it has never consumed.
func (b *Broker) find(topic bus.Topic, name string) *group {
	for _, g := range b.groups {
		if g.topic == topic && g.name == name {
			return g
		}
	}
	return nil
}

func (b *Broker) committed(topic bus.Topic, name string, p shard.Partition) bus.Position {
	if g := b.find(topic, name); g != nil {
		return g.parts[p].committed
	}
	return bus.Position{}
}

// able reports whether the broker may give the consumer work.
func (c *consumer) able() bool {
	return !c.leaving && !c.member.closed && !c.member.frozen && !c.member.down
}

// rebalance starts sessions on free partitions and revokes those that should have another owner. A revoked partition
// is free once its session has ended; rebalance is then called again.
func (g *group) rebalance() {
	if g.mode == bus.Queue {
		for _, c := range g.consumers {
			if c.able() && c.session == nil && !c.resting {
				c.session = g.start(c, 0)
			}
		}
		return
	}
	byID := make(map[string]*consumer, len(g.consumers))
	ids := make([]string, 0, len(g.consumers))
	for _, c := range g.consumers {
		if c.able() {
			byID[c.id] = c
			ids = append(ids, c.id)
		}
	}
	owners := assign.Owners(string(g.topic)+"/"+g.name, ids, len(g.parts))
	if owners == nil {
		return
	}
	for i := range g.parts {
		p := &g.parts[i]
		want := byID[owners[i]]
		if p.moved != nil && p.moved.able() {
			want = p.moved
		}
		for _, c := range g.consumers {
			if c != want {
				c.health.Works(health.Partition(i)) // failures of the partition no longer concern this member
			}
		}
		switch {
		case p.owner != nil && p.owner.consumer != want:
			// An unreachable member cannot close its session: its lease must expire.
			if m := p.owner.consumer.member; !m.frozen && !m.down {
				p.owner.end(bus.ErrRevoked)
			}
		case p.owner == nil && !p.held:
			p.owner = g.start(want, shard.Partition(i))
		}
	}
}

// start begins a session. It fixes the session's first delivery here, before open is called.
func (g *group) start(c *consumer, p shard.Partition) *session {
	s := &session{
		consumer:  c,
		partition: p,
		wake:      make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancelCause(c.base)
	switch g.mode {
	case bus.Ordered:
		s.source = newLogReader(s)
	case bus.Live:
		s.source = &hints{session: s, limit: g.broker.opts.LiveBuffer}
	case bus.Queue:
		s.source = g.broker.queues[g.topic].attach(s)
	}
	c.sessions.Add(1)
	c.health.Opening(s.part())
	go s.run()
	return s
}

// hold prevents any member from owning the partition for d.
func (g *group) hold(p shard.Partition, d time.Duration) {
	part := &g.parts[p]
	part.owner = nil
	part.held = true
	part.holds++
	holds := part.holds
	time.AfterFunc(d, func() {
		g.broker.mu.Lock()
		defer g.broker.mu.Unlock()
		if part.holds == holds {
			part.held = false
			g.rebalance()
		}
	})
}

// free releases the session's partition, if the session still owns it.
func (g *group) free(s *session) {
	if g.mode == bus.Queue {
		if s.consumer.session == s {
			s.consumer.session = nil
		}
	} else if part := &g.parts[s.partition]; part.owner == s {
		part.owner = nil
	}
	g.rebalance()
}

// rest releases the session's partition and prevents its assignment during the pause.
func (g *group) rest(s *session, pause time.Duration) {
	if g.mode != bus.Queue {
		if g.parts[s.partition].owner == s {
			g.hold(s.partition, pause)
		}
		return
	}
	c := s.consumer
	if c.session != s {
		return
	}
	c.session = nil
	c.resting = true
	time.AfterFunc(pause, func() {
		g.broker.mu.Lock()
		defer g.broker.mu.Unlock()
		c.resting = false
		g.rebalance()
	})
}

// leave ends the consumer's sessions gracefully.
func (c *consumer) leave() {
	if c.leaving {
		return
	}
	c.leaving = true
	for _, s := range c.owned() {
		s.end(bus.ErrStopping)
	}
	c.tell()
	c.group.rebalance()
}

// tell ends the sessions of zombies with ErrLost.
func (c *consumer) tell() {
	for _, s := range c.zombies {
		s.end(bus.ErrLost)
	}
	c.zombies = nil
}

// owned lists the consumer's sessions in the order of their partitions.
func (c *consumer) owned() []*session {
	if c.session != nil {
		return []*session{c.session}
	}
	var owned []*session
	for i := range c.group.parts {
		if s := c.group.parts[i].owner; s != nil && s.consumer == c {
			owned = append(owned, s)
		}
	}
	return owned
}
