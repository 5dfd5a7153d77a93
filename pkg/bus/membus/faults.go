package membus

import (
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// Faults is what a simulator may do to messages on their way. The functions are called from Publish
// without any lock held; nil ones do nothing.
type Faults struct {
	// Publish is asked before messages of logs and queues are taken.
	Publish func(by *Member, topic bus.Topic, messages []bus.Message) PublishFault
	// Hint gives the delays after which a hint reaches its owner: none drops it, two duplicate it,
	// and different delays reorder hints. {0} is the normal way.
	Hint func(by *Member, m bus.Message) []time.Duration
}

// PublishFault fails one Publish. The zero value lets it pass.
type PublishFault struct {
	// Err is returned, wrapped: bus.ErrUnavailable or bus.ErrOutcomeUnknown.
	Err error
	// Taken is how many of the messages, from the first, the bus takes all the same.
	Taken int
}

// SetFaults replaces the faults; the zero Faults heals the bus.
func (b *Broker) SetFaults(f Faults) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = f
}

// judge asks the faults about one Publish. For hints it returns each message's delays.
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

// Crash ends the member as kill -9 would: its sessions' contexts are cancelled, no Close is called,
// nothing is committed, and its calls fail with bus.ErrClosed. Its partitions are free after LeaseTTL
// and its queue messages come again after bus.AckWait.
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

// Freeze makes a zombie: the broker no longer hears the member's acknowledgements nor gives it
// deliveries, and its leases run out after LeaseTTL, but its sessions stay open, untold, and it can
// still publish. Thaw before that changes nothing; Thaw after it ends the sessions with ErrLost.
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

// Disconnect cuts the member's connection: Publish and Floor fail with ErrUnavailable, and after
// LeaseTTL its Ordered and Live sessions end with ErrLost and go to others.
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

// expire lets the member's leases run out if it is still cut off by then.
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
				continue // owns nothing: its messages come again after AckWait
			}
			for _, s := range c.owned() {
				lose(s)
			}
			c.group.rebalance()
		}
	})
}

// resume lets a member that was cut off go on.
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

// detach takes the partition from its session without telling it.
func (s *session) detach() {
	part := &s.consumer.group.parts[s.partition]
	if part.owner != s {
		return
	}
	part.owner = nil
	s.retire(false)
	s.consumer.zombies = append(s.consumer.zombies, s)
}

// owner finds who has a partition of an Ordered or Live group; nil if nobody.
func (b *Broker) owner(topic bus.Topic, groupName string, p shard.Partition) (*group, *session) {
	g := b.find(topic, groupName)
	if g == nil || g.mode == bus.Queue || !b.valid(p) {
		return nil, nil
	}
	return g, g.parts[p].owner
}

// Owner tells which member has a partition of an Ordered or Live group; nil if nobody has.
func (b *Broker) Owner(topic bus.Topic, groupName string, p shard.Partition) *Member {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, s := b.owner(topic, groupName, p); s != nil {
		return s.consumer.member
	}
	return nil
}

// Revoke takes a partition in good order; it is then given out again, perhaps to the same member.
func (b *Broker) Revoke(topic bus.Topic, groupName string, p shard.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, s := b.owner(topic, groupName, p); s != nil {
		s.end(bus.ErrRevoked)
	}
}

// Lose takes a partition at once: its session is told ErrLost while the next owner already opens.
func (b *Broker) Lose(topic bus.Topic, groupName string, p shard.Partition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if g, s := b.owner(topic, groupName, p); s != nil {
		g.parts[p].owner = nil
		s.end(bus.ErrLost)
		g.rebalance()
	}
}

// Zombify gives a partition to another member, if there is one, and does not tell the owner, who
// believes in its ownership until Thaw is called on its member.
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

// Move gives a partition, in good order, to a member that consumes in the group, and keeps it there
// until the member leaves or the partition is moved again. A nil member ends that.
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

// Redeliver makes the queue repeat at once what members hold and which names; nil names all. It
// returns how many messages that were.
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

// Remove drops what lies before a position of a log's partition, read or not, as its retention would.
func (b *Broker) Remove(topic bus.Topic, before bus.Position) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l := b.logOf(topic); l != nil {
		l.parts[before.Partition].remove(before.Offset)
	}
}

// Purge forgets every message of a log or queue, handed out or not. Offsets and message IDs go on.
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

// Recreate replaces a log or queue by an empty one of a newer incarnation, as after the loss of the
// bus's disk. Sessions of the topic end with ErrLost.
func (b *Broker) Recreate(topic bus.Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch l := b.logOf(topic); l {
	case nil:
	case b.logs[topic]:
		b.logs[topic] = newLog(b, topic, l.incarnation+1)
	default:
		b.server.own[topic] = newLog(b, topic, l.incarnation+1)
	}
	if q := b.queues[topic]; q != nil {
		q.purge()
		q.dispatch(time.Now())
		b.queues[topic] = newQueue(b, topic, q.incarnation+1)
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
