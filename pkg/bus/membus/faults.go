package membus

import (
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Faults are faults of messages that a simulator injects. The broker calls the functions from Publish without a lock;
// nil functions have no effect.
type Faults struct {
	// Publish is called before the broker accepts messages of logs and queues.
	Publish func(by *Member, topic bus.Topic, messages []bus.Message) PublishFault
	// Hint returns the delays after which a hint reaches its owner, one for each copy: an empty slice drops the hint,
	// two delays duplicate it, and different delays reorder hints. {0} is a normal delivery.
	Hint func(by *Member, m bus.Message) []time.Duration
}

// PublishFault makes one Publish fail. With the zero value it succeeds.
type PublishFault struct {
	// Err is returned, wrapped: bus.ErrUnavailable or bus.ErrOutcomeUnknown.
	Err error
	// Taken is how many of the messages, from the first, the bus accepts in spite of the error.
	Taken int
}

// SetFaults replaces the faults. The zero Faults removes them.
func (b *Broker) SetFaults(f Faults) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = f
}

// judge calls the fault functions for one Publish. For hints it returns each message's delays.
func (b *Broker) judge(m *Member, topic bus.Topic, messages []bus.Message) (PublishFault, [][]time.Duration) {
	b.mu.Lock()
	f := b.faults
	b.mu.Unlock()
	if topic.Kind() != bus.KindHints {
		if f.Publish == nil {
			return PublishFault{}, nil
		}
		return f.Publish(m, topic, messages), nil
	}
	if f.Hint == nil {
		return PublishFault{}, nil
	}
	fates := make([][]time.Duration, len(messages))
	for i, msg := range messages {
		fates[i] = f.Hint(m, msg)
	}
	return PublishFault{}, fates
}

// Crash ends the member like kill -9: its sessions' contexts are cancelled, Close is not called, nothing is
// committed, and its calls fail with bus.ErrClosed. Its partitions become free after LeaseTTL, and its queue messages
// are redelivered after bus.AckWait.
func (m *Member) Crash() {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	if m.closed {
		return
	}
	m.closed, m.crashed = true, true
	for _, c := range m.consumers {
		c.leaving = true
		for _, s := range append(c.owned(), c.zombies...) {
			s.crashed = true
			s.retire(false)
			s.cancel(bus.ErrClosed)
			s.signal()
			if c.group.mode != bus.Queue && c.group.parts[s.partition].owner == s {
				c.group.hold(s.partition, m.broker.opts.LeaseTTL)
			}
		}
	}
	close(m.gone)
}

// Freeze turns the member into a zombie: the broker ignores its acknowledgements and sends it no deliveries. Its
// leases expire after LeaseTTL, but its sessions remain open without notice, and it can still publish. If Thaw is
// called before the leases expire, the sessions continue; otherwise Thaw ends them with ErrLost.
func (m *Member) Freeze() {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	if m.frozen || m.closed {
		return
	}
	m.frozen = true
	m.expire(func() bool { return m.frozen }, (*session).detach)
}

// Thaw ends a Freeze.
func (m *Member) Thaw() {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	m.frozen = false
	m.resume()
}

// Disconnect cuts the member's connection: Publish and Floor fail with ErrUnavailable. After LeaseTTL the member's
// Ordered and Live sessions end with ErrLost, and their partitions move to other members.
func (m *Member) Disconnect() {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	if m.down || m.closed {
		return
	}
	m.down = true
	m.expire(func() bool { return m.down }, func(s *session) { s.detach(); s.end(bus.ErrLost) })
}

// Connect ends a Disconnect.
func (m *Member) Connect() {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	m.down = false
	m.resume()
}

// expire lets the member's leases expire after LeaseTTL if still returns true then.
func (m *Member) expire(still func() bool, lose func(*session)) {
	m.downs++
	downs := m.downs
	time.AfterFunc(m.broker.opts.LeaseTTL, func() {
		m.broker.mu.Lock()
		defer m.broker.mu.Unlock()
		if m.downs != downs || !still() || m.closed {
			return
		}
		for _, c := range m.consumers {
			if c.group.mode == bus.Queue {
				continue // owns nothing: its messages are redelivered after AckWait
			}
			for _, s := range c.owned() {
				lose(s)
			}
			c.group.rebalance()
		}
	})
}

// resume gives the member work again after Thaw or Connect.
func (m *Member) resume() {
	for _, c := range m.consumers {
		c.tell()
		for _, s := range c.owned() {
			s.signal()
		}
		if c.group.mode == bus.Queue {
			m.broker.queues[c.group.topic].dispatch(time.Now())
		}
		c.group.rebalance()
	}
}

// detach takes the partition from its session without notifying the session.
func (s *session) detach() {
	part := &s.consumer.group.parts[s.partition]
	if part.owner != s {
		return
	}
	part.owner = nil
	s.retire(false)
	s.consumer.zombies = append(s.consumer.zombies, s)
}

// owner returns the session that owns a partition of an Ordered or Live group; nil if none does.
func (b *Broker) owner(topic bus.Topic, groupName string, p shard.Partition) (*group, *session) {
	g := b.find(topic, groupName)
	if g == nil || g.mode == bus.Queue || !b.valid(p) {
		return nil, nil
	}
	return g, g.parts[p].owner
}

// Owner returns the member that owns a partition of an Ordered or Live group; nil if none does.
func (b *Broker) Owner(topic bus.Topic, groupName string, p shard.Partition) *Member {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, s := b.owner(topic, groupName, p); s != nil {
		return s.consumer.member
	}
	return nil
}

// Revoke revokes a partition gracefully. The group then assigns it again, possibly to the same member.
func (b *Broker) Revoke(topic bus.Topic, groupName string, p shard.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, s := b.owner(topic, groupName, p); s != nil {
		s.end(bus.ErrRevoked)
	}
}

// Lose takes a partition from its owner immediately: the session ends with ErrLost while the next owner already
// opens.
func (b *Broker) Lose(topic bus.Topic, groupName string, p shard.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g, s := b.owner(topic, groupName, p); s != nil {
		g.parts[p].owner = nil
		s.end(bus.ErrLost)
		g.rebalance()
	}
}

// Zombify gives a partition to another member, if there is one, without notifying the owner. The owner's session
// stays open until Thaw is called on its member.
func (b *Broker) Zombify(topic bus.Topic, groupName string, p shard.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g, s := b.owner(topic, groupName, p)
	if s == nil {
		return
	}
	s.detach()
	for _, c := range g.consumers {
		if c != s.consumer && c.able() {
			g.parts[p].moved = c
			break
		}
	}
	g.rebalance()
}

// Move gives a partition gracefully to a member that consumes in the group, and keeps it there until the member
// leaves or the partition is moved again. A nil member removes the fixed assignment.
func (b *Broker) Move(topic bus.Topic, groupName string, p shard.Partition, to *Member) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.find(topic, groupName)
	if g == nil || g.mode == bus.Queue || !b.valid(p) {
		return
	}
	g.parts[p].moved = nil
	for _, c := range g.consumers {
		if c.member == to && c.able() {
			g.parts[p].moved = c
			break
		}
	}
	g.rebalance()
}

// Redeliver makes the queue immediately repeat the delivered, unacknowledged messages that which selects; a nil which
// selects all. It returns the number of these messages.
func (b *Broker) Redeliver(topic bus.Topic, which func(bus.Message) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := b.queues[topic]
	if q == nil {
		return 0
	}
	n := 0
	for _, it := range q.items {
		if it.state == handed && (which == nil || which(it.Message)) {
			q.repeat(it)
			n++
		}
	}
	q.dispatch(time.Now())
	return n
}

// Remove removes the messages before a position of a log's partition, consumed or not, as retention would.
func (b *Broker) Remove(topic bus.Topic, before bus.Position) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.logOf(topic); l != nil {
		l.parts[before.Partition].remove(before.Offset)
	}
}

// Purge removes every message of a log or queue, delivered or not. Offsets continue, and message IDs are still
// deduplicated.
func (b *Broker) Purge(topic bus.Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.logOf(topic); l != nil {
		for i := range l.parts {
			l.parts[i].first = l.parts[i].end()
			l.parts[i].records = nil
		}
	}
	if q := b.queues[topic]; q != nil {
		q.purge()
		q.dispatch(time.Now())
	}
}

// Recreate replaces a log or queue by an empty one with a newer topic epoch, as after the loss of the bus's disk.
// Sessions of the topic end with ErrLost.
func (b *Broker) Recreate(topic bus.Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch l := b.logOf(topic); l {
	case nil:
	case b.logs[topic]:
		b.logs[topic] = newLog(b, topic, l.epoch+1)
	default:
		b.server.own[topic] = newLog(b, topic, l.epoch+1)
	}
	if q := b.queues[topic]; q != nil {
		q.purge()
		q.dispatch(time.Now())
		b.queues[topic] = newQueue(b, topic, q.epoch+1)
	}
	b.loseSessions(topic)
}

func (q *queue) purge() {
	for len(q.items) > 0 {
		q.finish(q.items[0])
	}
	for _, f := range q.feeds {
		f.inbox = nil
	}
}
