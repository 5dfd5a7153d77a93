package kafkabus

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/pkg/bus"
)

// An operator can add partitions to a topic (kafka-topics --alter), but cannot remove them. Timerbus publishes to the
// cluster's partitions by number, so it never publishes to the added ones.
//
// Logs are consumed completely, because other publishers choose the partition by key and may publish to the added
// partitions. Hints and due events come only from Timerbus: their added partitions are not used.

// partitionsOf identifies the topic and returns how many of its partitions a Consume reads.
func (b *Bus) partitionsOf(ctx context.Context, topic bus.Topic) (int, error) {
	name, own := topic.OwnName()
	if own {
		return b.find(ctx, name)
	}
	name = b.opts.topic(topic)
	if err := b.identify(ctx, name); err != nil {
		return 0, err
	}
	has := b.identities.count(name)
	switch {
	case has < b.opts.Partitions:
		return 0, countError(name, has, b.opts.Partitions)
	case topic.Kind() == bus.KindLog:
		return has, nil
	default:
		return b.opts.Partitions, nil
	}
}

// noteCounts records how many partitions the topics have. It logs each topic of the cluster that has more partitions
// than the cluster, once for each count.
func (b *Bus) noteCounts(details kadm.TopicDetails) {
	for name, d := range details {
		has := len(d.Partitions)
		if !b.identities.setCount(name, has) || !b.opts.ours(name) || has <= b.opts.Partitions {
			continue
		}
		log := b.log.With("topic", name, "partitions", has, "cluster_partitions", b.opts.Partitions)
		switch kind := b.opts.kindOf(name); {
		case name == b.opts.topic(bus.Commands):
			log.Error("partitions were added to the topic of commands: all are read, but commands of one timer that were "+
				"published before and after the change may be applied in either order",
				"action", "check the timers whose commands were published around the change; to avoid this, stop publishers "+
					"and let ingest catch up before partitions are added")
		case kind == bus.KindLog:
			log.Warn("topic has more partitions than the cluster: all are read, Timerbus publishes to the first ones only")
		default:
			log.Warn("topic has more partitions than the cluster: the added ones are not used")
		}
	}
}

// kindOf returns the kind of a cluster topic by its name on the brokers.
func (o *Options) kindOf(name string) bus.Kind {
	for _, t := range bus.Topics() {
		if o.topic(t) == name {
			return t.Kind()
		}
	}
	return 0
}

// strays counts the messages in added partitions that are not used.
type strays struct {
	logged   int64
	loggedAt time.Time
}

// checkStrays logs an error, at most once a minute, if there are more messages than before in partitions that are not
// read.
func (b *Bus) checkStrays(ctx context.Context, topic string, read int, found *strays) error {
	has := b.identities.count(topic)
	if has <= read || time.Since(found.loggedAt) < time.Minute {
		return nil
	}
	starts, err := b.offsets(ctx, topic, has, atStart)
	if err != nil {
		return err
	}
	ends, err := b.offsets(ctx, topic, has, atEnd)
	if err != nil {
		return err
	}
	var n int64
	for p := read; p < has; p++ {
		n += ends[p] - starts[p]
	}
	if n > found.logged {
		*found = strays{logged: n, loggedAt: time.Now()}
		b.log.Error("messages in added partitions are not delivered: another program publishes to this topic",
			"topic", topic, "messages", n, "partitions", has, "cluster_partitions", read,
			"action", "have it publish to partitions below cluster_partitions")
	}
	return nil
}

// capped is a balancer that assigns the cluster's partitions only, so that the added ones count for no member's
// share.
type capped struct {
	kgo.GroupBalancer

	balance    kgo.ConsumerBalancerBalance
	partitions int32
}

func newCapped(partitions int) kgo.GroupBalancer {
	sticky := kgo.CooperativeStickyBalancer()
	balance, ok := sticky.(kgo.ConsumerBalancerBalance)
	if !ok {
		return sticky // added partitions are then assigned, and their members ignore them
	}
	return &capped{GroupBalancer: sticky, balance: balance, partitions: int32(partitions)}
}

// MemberBalancer implements kgo.GroupBalancer.
func (c *capped) MemberBalancer(members []kmsg.JoinGroupResponseMember) (kgo.GroupMemberBalancer, map[string]struct{}, error) {
	b, err := kgo.NewConsumerBalancer(c, members)
	return b, b.MemberTopics(), err
}

// Balance implements kgo.ConsumerBalancerBalance.
func (c *capped) Balance(b *kgo.ConsumerBalancer, topics map[string]int32) kgo.IntoSyncAssignment {
	for topic, partitions := range topics {
		topics[topic] = min(partitions, c.partitions)
	}
	return c.balance.Balance(b, topics)
}
