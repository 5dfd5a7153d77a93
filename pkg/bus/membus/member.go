package membus

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Member is one process's handle. It implements bus.Bus.
type Member struct {
	broker *Broker
	name   string
	gone   chan struct{} // closed by Close and Crash

	// Guarded by broker.mu.
	closed    bool
	crashed   bool
	frozen    bool // leases expire without notice to this member
	down      bool // no connection, and the member knows it
	downs     int  // counts disconnections, so that a late expiry does not affect a later one
	joins     int  // counts Consume calls
	consumers []*consumer

	health health.Registry
}

var _ bus.Bus = (*Member)(nil)

// String returns the member's name and the number of its Join.
func (m *Member) String() string { return m.name }

// Partitions implements bus.Bus.
func (m *Member) Partitions() int { return m.broker.opts.Partitions }

// Properties implements bus.Bus. The prefix has no effect: a Broker serves one cluster.
func (*Member) Properties() bus.Properties { return bus.Properties{Prefix: "timerbus"} }

// Publish implements bus.Bus.
func (m *Member) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	b := m.broker
	if err := handle.Check(topic, messages, b.opts.Partitions, checkOwn); err != nil {
		return nil, err
	}
	_, own := topic.OwnName()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, err)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	fault, fates := b.judge(m, topic, messages)

	b.mu.Lock()
	defer b.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("publish to %s: %w", topic, bus.ErrClosed)
	}
	if m.down {
		return nil, fmt.Errorf("publish to %s: %w: not connected", topic, bus.ErrUnavailable)
	}
	if own && b.logOf(topic) == nil {
		return nil, fmt.Errorf("publish to %s: %w", topic, noTopic(topic))
	}
	take := len(messages)
	if fault.Err != nil {
		take = min(fault.Taken, take)
	}
	positions := make([]bus.Position, len(messages))
	now := time.Now()
	var full error
	for i, msg := range messages[:take] {
		switch topic.Kind() {
		case bus.KindLog:
			l := b.logOf(topic)
			if own {
				msg.Partition = l.place(msg.Key)
			}
			if positions[i], full = l.append(taken(msg), now); full != nil {
				return nil, fmt.Errorf("publish to %s: %w: %w", topic, halfway(i), full)
			}
		case bus.KindQueue:
			positions[i] = b.queues[topic].append(taken(msg), now)
		case bus.KindHints:
			b.hint(topic, taken(msg), now, fates, i)
		}
	}
	if q := b.queues[topic]; q != nil {
		q.dispatch(now)
	}
	if fault.Err != nil {
		return nil, fmt.Errorf("publish to %s: %w", topic, fault.Err)
	}
	return positions, nil
}

// halfway returns the error class of a call of which the broker accepted the first n messages.
func halfway(n int) error {
	if n > 0 {
		return bus.ErrOutcomeUnknown
	}
	return bus.ErrUnavailable
}

// Consume implements bus.Bus.
func (m *Member) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if err := spec.Complete(); err != nil {
		return err
	}
	if err := checkOwn(spec.Topic); err != nil {
		return fmt.Errorf("consume %w", err)
	}
	b := m.broker
	b.mu.Lock()
	if m.closed {
		b.mu.Unlock()
		return fmt.Errorf("consume %s: %w", spec.Topic, bus.ErrClosed)
	}
	if spec.Mode == bus.Ordered && b.logOf(spec.Topic) == nil {
		b.mu.Unlock()
		return fmt.Errorf("consume %s: %w", spec.Topic, noTopic(spec.Topic))
	}
	g, err := b.group(spec)
	if err != nil {
		b.mu.Unlock()
		return err
	}
	if g.mode != bus.Queue && slices.ContainsFunc(m.consumers, func(c *consumer) bool { return c.group == g }) {
		b.mu.Unlock()
		return fmt.Errorf("consume %s: this handle already consumes it in group %q", spec.Topic, spec.Group)
	}
	c := &consumer{
		member: m,
		group:  g,
		id:     fmt.Sprintf("%s/%d", m.name, m.joins),
		spec:   spec,
		open:   open,
		base:   context.WithoutCancel(ctx),
		health: m.health.Begin(spec, slog.New(slog.DiscardHandler)),
	}
	defer c.health.End()
	m.joins++
	m.consumers = append(m.consumers, c)
	g.consumers = append(g.consumers, c)
	g.rebalance()
	c.health.Works(health.Member)
	b.mu.Unlock()

	select {
	case <-ctx.Done():
	case <-m.gone:
	}

	b.mu.Lock()
	c.leave()
	b.mu.Unlock()
	c.sessions.Wait()

	b.mu.Lock()
	defer b.mu.Unlock()
	m.consumers = slices.DeleteFunc(m.consumers, func(o *consumer) bool { return o == c })
	g.consumers = slices.DeleteFunc(g.consumers, func(o *consumer) bool { return o == c })
	if m.crashed {
		return fmt.Errorf("consume %s: %w: crashed", spec.Topic, bus.ErrClosed)
	}
	return nil
}

// Ready implements bus.Bus.
func (m *Member) Ready(topic bus.Topic, group string) error {
	m.broker.mu.Lock()
	closed, cut := m.closed, m.down || m.frozen
	m.broker.mu.Unlock()
	switch {
	case closed:
		return fmt.Errorf("consume %s in group %q: %w", topic, group, bus.ErrClosed)
	case cut:
		return fmt.Errorf("consume %s in group %q: %w: not connected", topic, group, bus.ErrUnavailable)
	}
	return m.health.Ready(topic, group)
}

// Floor implements bus.Bus.
func (m *Member) Floor(ctx context.Context, topic bus.Topic, groupName string) (bus.Floors, error) {
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case m.closed:
		return nil, fmt.Errorf("floor of %s: %w", topic, bus.ErrClosed)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("floor of %s: %w: %w", topic, bus.ErrUnavailable, ctx.Err())
	case m.down:
		return nil, fmt.Errorf("floor of %s: %w: not connected", topic, bus.ErrUnavailable)
	}
	if _, own := topic.OwnName(); own {
		return nil, fmt.Errorf("floor of %q: %w", topic, bus.ErrUnsupported)
	}
	floors := make(bus.Floors, b.opts.Partitions)
	for i := range floors {
		p := shard.Partition(i)
		switch topic.Kind() {
		case bus.KindLog:
			floors[i] = b.logs[topic].floor(p, b.committed(topic, groupName, p))
		case bus.KindQueue:
			floors[i] = b.queues[topic].floor(p)
		default:
			return nil, fmt.Errorf("floor of %q: %w", topic, bus.ErrUnsupported)
		}
	}
	return floors, nil
}

// Close implements bus.Bus.
func (m *Member) Close() error {
	b := m.broker
	b.mu.Lock()
	if !m.closed {
		m.closed = true
		close(m.gone)
	}
	consumers := slices.Clone(m.consumers)
	for _, c := range consumers {
		c.leave()
	}
	b.mu.Unlock()
	for _, c := range consumers {
		c.sessions.Wait()
	}
	return nil
}
