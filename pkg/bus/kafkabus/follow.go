package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Follow reads public topics until ctx ends. It joins no group, creates nothing on the brokers, and commits nothing.
// Of Options it uses the connection settings, Prefix and Logger.
//
// Follow calls each with the messages published since the given time; with the zero time, with new messages only. It
// keeps the order of each partition and does not call each concurrently. After the loss of a connection it continues
// without a gap as long as the topic keeps its messages. An error of each ends Follow.
func Follow(ctx context.Context, opts Options, since time.Time, topics []bus.Topic, each func(bus.Topic, *bus.Message) error) error {
	opts, err := complete(opts)
	if err != nil {
		return err
	}
	from := kgo.NewOffset().AtEnd()
	if !since.IsZero() {
		from = kgo.NewOffset().AfterMilli(since.UnixMilli())
	}
	names, topicOf := make([]string, len(topics)), make(map[string]bus.Topic, len(topics))
	for i, t := range topics {
		names[i] = opts.topic(t)
		topicOf[names[i]] = t
	}
	client, err := opts.client(
		kgo.ConsumeTopics(names...), kgo.ConsumeStartOffset(from), kgo.ConsumeResetOffset(from), kgo.FetchMaxWait(fetchWait),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := opts.followable(ctx, client, names); err != nil {
		return err
	}
	opts.clientLog.start()
	defer opts.clientLog.stop()
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err := fetches.Err(); err != nil && !harmless(err) {
			return fmt.Errorf("follow topics: %w", err)
		}
		for records := fetches.RecordIter(); !records.Done(); {
			record := records.Next()
			m := decode(record)
			if err := each(topicOf[record.Topic], &m); err != nil {
				return err
			}
		}
	}
}

// followable checks that the topics exist: the client would wait for missing topics.
func (o *Options) followable(ctx context.Context, client *kgo.Client, names []string) error {
	ctx, cancel := context.WithTimeout(ctx, o.AckTimeout)
	defer cancel()
	if err := o.ping(ctx, client); err != nil {
		return err
	}
	details, err := kadm.NewClient(client).ListTopics(ctx, names...)
	if err != nil {
		return fmt.Errorf("describe topics: %w", err)
	}
	for _, d := range details.Sorted() {
		if errors.Is(d.Err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("follow %s: there is no such topic at %s: check the address and the prefix %q",
				d.Topic, o.address(), o.Prefix)
		}
		if d.Err != nil {
			return fmt.Errorf("follow %s: %w", d.Topic, d.Err)
		}
	}
	return nil
}

// ping checks that a broker answers and accepts the user.
func (o *Options) ping(ctx context.Context, client *kgo.Client) error {
	if err := client.Ping(ctx); err != nil {
		if unreachable(err) {
			err = fmt.Errorf("%w: %w", bus.ErrUnavailable, err)
		}
		return fmt.Errorf("connect to Kafka at %s: %w", o.address(), err)
	}
	return nil
}
