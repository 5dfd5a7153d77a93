package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/timerbus/timerbus/pkg/bus"
)

// A user topic is a Kafka topic with its name and any number of partitions. The partition is chosen as Kafka's
// clients do by default, so that other publishers' messages with the same key are in the same partition.

// ownName matches the topic names that Kafka accepts.
var ownName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,249}$`)

// checkOwn returns an error if the name of a user topic is invalid.
func (o *Options) checkOwn(topic bus.Topic) error {
	name, own := topic.OwnName()
	switch {
	case !own:
		return nil
	case !ownName.MatchString(name) || name == "." || name == "..":
		return fmt.Errorf("topic %.100q: %w: a Kafka topic name has 1 to 249 letters, digits, dots, - and _", name, bus.ErrUnsupported)
	case o.ours(name):
		return fmt.Errorf("topic %q: %w: names that begin with %q are reserved for Timerbus", name, bus.ErrUnsupported, o.Prefix+".")
	case strings.HasPrefix(name, "__"):
		return fmt.Errorf("topic %q: %w: names that begin with __ are reserved for Kafka", name, bus.ErrUnsupported)
	default:
		return nil
	}
}

// ours reports whether a topic on the brokers belongs to this cluster.
func (o *Options) ours(name string) bool { return strings.HasPrefix(name, o.Prefix+".") }

// errNoTopic returns the error for a topic that the brokers do not know.
func errNoTopic(name string) error {
	return fmt.Errorf("%w: Kafka has no topic %q", bus.ErrNoTopic, name)
}

// partitioner uses the caller's partition in the cluster's topics, and chooses the partition in other topics.
type partitioner struct {
	opts   *Options
	ours   kgo.Partitioner
	others kgo.Partitioner
}

func (o *Options) partitioner() kgo.Partitioner {
	// Without a hasher it hashes keys as the Java client does.
	return &partitioner{opts: o, ours: kgo.ManualPartitioner(), others: kgo.StickyKeyPartitioner(nil)}
}

// ForTopic implements kgo.Partitioner.
func (p *partitioner) ForTopic(name string) kgo.TopicPartitioner {
	if p.opts.ours(name) {
		return p.ours.ForTopic(name)
	}
	return p.others.ForTopic(name)
}

// meet ensures that a user topic is known before a publish: the client would search a missing topic for seconds. The
// topics of the cluster are known since Connect. Concurrent callers for the same topic share one look-up.
func (b *Bus) meet(ctx context.Context, topic bus.Topic) error {
	name, own := topic.OwnName()
	if !own || b.identities.get(name) != (identity{}) {
		return nil
	}
	found := b.meetings.DoChan(name, func() (any, error) {
		return nil, b.handle.Do(func() error {
			_, err := b.find(b.handle.Context(), name)
			return err
		})
	})
	select {
	case r := <-found:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// clusterTopic matches the topic names of clusters with any prefix.
var clusterTopic = func() *regexp.Regexp {
	names := []string{registryName}
	for _, t := range bus.Topics() {
		names = append(names, string(t))
	}
	return regexp.MustCompile(`^([A-Za-z0-9_-]{1,64})\.(` + strings.Join(names, "|") + `)$`)
}()

// checkForeign returns an error for a topic of another cluster: a topic whose name has the form of a cluster topic
// and whose cluster's registry exists. If the brokers do not authorize this process to look up the registry, their
// ACLs decide how it may use the topic.
func (b *Bus) checkForeign(ctx context.Context, name string) error {
	parts := clusterTopic.FindStringSubmatch(name)
	if parts == nil {
		return nil
	}
	err := retryTransient(ctx, retryFor, func(ctx context.Context) error {
		_, err := describe(ctx, b.client, parts[1]+"."+registryName)
		return err
	})
	switch {
	case err == nil:
		return fmt.Errorf("topic %q: %w: it belongs to the Timerbus cluster with prefix %q", name, bus.ErrUnsupported, parts[1])
	case gone(err), errors.Is(err, kerr.TopicAuthorizationFailed):
		return nil
	default:
		return fmt.Errorf("describe topic: %w", err)
	}
}

// find looks up a user topic and returns how many partitions it has.
func (b *Bus) find(ctx context.Context, name string) (partitions int, err error) {
	if err := b.checkForeign(ctx, name); err != nil {
		return 0, err
	}
	err = retryTransient(ctx, retryFor, func(ctx context.Context) error {
		partitions, err = describe(ctx, b.client, name)
		if gone(err) {
			return errNoTopic(name)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("describe topic: %w", err)
	}
	return partitions, b.identify(ctx, name)
}

// describe requests a topic's partition count from the brokers. The client's other calls reply from a cache, which
// may not contain a topic that was just created.
func describe(ctx context.Context, whom kmsg.Requestor, name string) (partitions int, err error) {
	req := kmsg.NewPtrMetadataRequest()
	asked := kmsg.NewMetadataRequestTopic()
	asked.Topic = &name
	req.Topics = append(req.Topics, asked)
	resp, err := req.RequestWith(ctx, whom)
	if err != nil {
		return 0, err
	}
	for _, t := range resp.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil {
			return 0, err
		}
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return 0, err
			}
		}
		partitions += len(t.Partitions)
	}
	return partitions, nil
}

// lost returns ErrNoTopic if a user topic does not exist any more, so that the publisher gets the cause.
func (b *Bus) lost(ctx context.Context, topic bus.Topic) error {
	name, own := topic.OwnName()
	if !own {
		return nil
	}
	b.identities.drop(name)
	if _, err := b.find(ctx, name); errors.Is(err, bus.ErrNoTopic) {
		return err
	}
	return nil
}

var _ bus.TopicMaker = (*Bus)(nil)

// MakeTopic implements bus.TopicMaker. The number of partitions is the brokers' default (num.partitions). The size
// limit of each partition is that of a whole public topic.
func (b *Bus) MakeTopic(ctx context.Context, topic bus.Topic) error {
	name, own := topic.OwnName()
	if !own || name == "" {
		return fmt.Errorf("create topic %q: %w: it is not a user topic", topic, bus.ErrUnsupported)
	}
	if err := b.opts.checkOwn(topic); err != nil {
		return fmt.Errorf("create %w", err)
	}
	if b.handle.Closed() {
		return fmt.Errorf("create topic %q: %w", name, bus.ErrClosed)
	}
	_, err := b.find(ctx, name)
	if errors.Is(err, bus.ErrNoTopic) {
		if b.opts.NoCreate {
			return fmt.Errorf("create topic %q: %w: disabled by create=false (Options.NoCreate)", name, bus.ErrUnsupported)
		}
		err = b.create(ctx, []wanted{{name: name, partitions: -1, settings: b.opts.settings(topic)}})
		if err == nil {
			err = b.spread(ctx, name)
		}
	}
	switch {
	case errors.Is(err, bus.ErrUnsupported):
		return fmt.Errorf("create %w", err)
	case err != nil:
		return fmt.Errorf("create topic %q: %w: %w", name, bus.ErrUnavailable, err)
	}
	return nil
}

// spread waits until the brokers know a topic that was just created, so that the next request to any of them does not
// fail.
func (b *Bus) spread(ctx context.Context, name string) error {
	for _, broker := range b.client.DiscoveredBrokers() {
		err := retryTransient(ctx, connectRetryFor, func(ctx context.Context) error {
			_, err := describe(ctx, broker, name)
			if _, answered := errors.AsType[*kerr.Error](err); err != nil && !answered {
				// The broker may be down, so its reply is not required. A later request to it retries.
				b.log.Debug("broker did not report whether it knows a new topic", "topic", name, "error", err)
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("wait until the brokers know it: %w", err)
		}
	}
	return nil
}
