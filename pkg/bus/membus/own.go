package membus

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"regexp"
	"sync"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// server is the state that the brokers of several clusters share: the lock and the user topics.
type server struct {
	mu      sync.Mutex
	own     map[bus.Topic]*log
	brokers []*Broker
}

// Beside creates another cluster's bus on the same server. As with two prefixes on a real server, the two clusters
// share only user topics.
func (b *Broker) Beside(opts Options) *Broker { return b.server.newBroker(opts) }

// ownName matches the names that every engine accepts, so that a name that works in a test works on every bus.
var ownName = regexp.MustCompile(`^[A-Za-z0-9-][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

const maxOwnName = 200

// checkOwn returns an error if the name of a user topic is invalid.
func checkOwn(topic bus.Topic) error {
	name, own := topic.OwnName()
	if own && (len(name) > maxOwnName || !ownName.MatchString(name)) {
		return fmt.Errorf("topic %.100q: %w: want words of letters, digits, - and _ separated by dots, "+
			"at most %d bytes, not beginning with _",
			name, bus.ErrUnsupported, maxOwnName)
	}
	return nil
}

func noTopic(topic bus.Topic) error {
	name, _ := topic.OwnName()
	return fmt.Errorf("%w: %w: %q", bus.ErrUnavailable, bus.ErrNoTopic, name)
}

var _ bus.TopicMaker = (*Member)(nil)

// MakeTopic implements bus.TopicMaker. The topic has as many partitions as the cluster.
func (m *Member) MakeTopic(ctx context.Context, topic bus.Topic) error {
	if _, own := topic.OwnName(); !own {
		return fmt.Errorf("create topic %q: %w: it is not a user topic", topic, bus.ErrUnsupported)
	}
	if err := checkOwn(topic); err != nil {
		return fmt.Errorf("create %w", err)
	}
	b := m.broker
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case m.closed:
		return fmt.Errorf("create topic %q: %w", topic, bus.ErrClosed)
	case ctx.Err() != nil:
		return fmt.Errorf("create topic %q: %w: %w", topic, bus.ErrUnavailable, ctx.Err())
	case m.down:
		return fmt.Errorf("create topic %q: %w: not connected", topic, bus.ErrUnavailable)
	}
	if b.server.own[topic] == nil {
		b.server.own[topic] = newLog(b, topic, 1)
	}
	return nil
}

// logOf returns the log of the cluster's or a user topic; nil if there is none.
func (b *Broker) logOf(topic bus.Topic) *log {
	if l := b.logs[topic]; l != nil {
		return l
	}
	return b.server.own[topic]
}

// groupsOf returns the groups that consume a topic: for a user topic, those of all brokers.
func (b *Broker) groupsOf(topic bus.Topic) iter.Seq[*group] {
	_, own := topic.OwnName()
	return func(yield func(*group) bool) {
		for _, one := range b.server.brokers {
			for _, g := range one.groups {
				if g.topic == topic && (own || one == b) && !yield(g) {
					return
				}
			}
		}
	}
}

// place chooses a message's partition in a user topic: by key, or round-robin without a key.
func (l *log) place(key string) shard.Partition {
	if key == "" {
		l.turn++
		return shard.Partition(l.turn % len(l.parts))
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // a hash's Write never fails
	return shard.Partition(h.Sum32() % uint32(len(l.parts)))
}
