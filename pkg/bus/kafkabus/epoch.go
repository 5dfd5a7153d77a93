package kafkabus

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Kafka distinguishes topics of one name by a random id, which does not show which topic is newer. Timerbus therefore
// writes every id to a registry topic with one partition, whose order is the same for every reader. The first record
// of an id determines the topic epoch, and each epoch is larger than all before it.
//
// The number is the broker's clock at that record, so that epochs keep growing if the registry itself is lost.

const registryName = "incarnations"

func (o *Options) registry() string { return o.Prefix + "." + registryName }

// registry is the content of the registry topic.
type registry struct {
	epochs map[string]int64 // by topic id
	last   int64
}

// mention applies the next record.
func (r *registry) mention(id string, brokerMillis int64) {
	if _, known := r.epochs[id]; known {
		return
	}
	r.last = max(r.last+1, brokerMillis)
	r.epochs[id] = r.last
}

// identify looks up the present ids of the topics, and their epochs.
func (b *Bus) identify(ctx context.Context, topics ...string) error {
	details, err := b.list(ctx, topics)
	if gone(err) && !b.opts.NoCreate && b.opts.ours(topics[0]) {
		if err = b.restore(ctx, topics); err == nil {
			details, err = b.list(ctx, topics)
		}
	}
	if err != nil {
		return fmt.Errorf("describe topics: %w", err)
	}
	b.noteCounts(details)
	unknown := make(map[string]kadm.TopicID)
	for _, topic := range topics {
		if id := details[topic].ID; b.identities.get(topic).id != id || id == (kadm.TopicID{}) {
			unknown[topic] = id
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	r, err := b.readRegistry(ctx)
	if err != nil {
		return err
	}
	var mentions []*kgo.Record
	for topic, id := range unknown {
		if _, known := r.epochs[id.String()]; !known {
			mentions = append(mentions, &kgo.Record{Topic: b.opts.registry(), Key: []byte(topic), Value: []byte(id.String())})
		}
	}
	if len(mentions) > 0 {
		if err := b.client.ProduceSync(ctx, mentions...).FirstErr(); err != nil {
			return fmt.Errorf("register topics in %s: %w", b.opts.registry(), err)
		}
		if r, err = b.readRegistry(ctx); err != nil { // another process's record may have come first
			return err
		}
	}
	for topic, id := range unknown {
		b.identities.set(topic, identity{id: id, epoch: r.epochs[id.String()]})
	}
	return nil
}

func (b *Bus) list(ctx context.Context, topics []string) (details kadm.TopicDetails, err error) {
	err = retryTransient(ctx, retryFor, func(ctx context.Context) (err error) {
		details, err = b.admin.ListTopics(ctx, topics...)
		if err == nil {
			err = details.Error()
		}
		return err
	})
	return details, err
}

// restore creates deleted topics again, like Connect. Their messages are lost, but due timers are published again
// from the store, and without topics nothing works.
func (b *Bus) restore(ctx context.Context, topics []string) error {
	b.log.Error("topic missing, creating it again", "among", topics)
	ctx, cancel := context.WithTimeout(ctx, retryFor)
	defer cancel()
	return b.ensure(ctx)
}

// readRegistry reads the whole registry topic: a record for each topic and for each time one was recreated.
func (b *Bus) readRegistry(ctx context.Context) (*registry, error) {
	r := &registry{epochs: make(map[string]int64)}
	name := b.opts.registry()
	var ends kadm.ListedOffsets
	err := retryTransient(ctx, retryFor, func(ctx context.Context) (err error) {
		ends, err = b.listed(ctx, b.admin.ListEndOffsets, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("end of %s: %w", name, err)
	}
	end, _ := ends.Lookup(name, 0)
	if end.Offset == 0 {
		return r, nil
	}
	client, err := b.opts.client(
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{name: {0: kgo.NewOffset().AtStart()}}),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	for at := int64(0); at < end.Offset; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil && !kerr.IsRetriable(err) {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		fetches.EachRecord(func(record *kgo.Record) {
			r.mention(string(record.Value), record.Timestamp.UnixMilli())
			at = record.Offset + 1
		})
	}
	return r, nil
}
