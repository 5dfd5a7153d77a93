package kafkabus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// maxPending bounds the messages in transit to the brokers, over all Publish calls; a larger call is sent alone.
// Beyond it Publish waits.
const maxPending = 1 << 16

// producing returns the options for publishing: acknowledged by all in-sync replicas, and idempotent, so that a
// message that the client retries is written once and in order.
func (o *Options) producing() []kgo.Opt {
	return []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.RecordPartitioner(o.partitioner()),
		kgo.ProducerLinger(0), // callers send batches; a single message must not wait for others
		kgo.ProducerBatchMaxBytes(maxBatch),
		kgo.ProducerBatchCompression(kgo.Lz4Compression(), kgo.NoCompression()),
		kgo.RecordDeliveryTimeout(max(o.AckTimeout, time.Second)),
		kgo.MaxBufferedRecords(1 << 30), // room bounds it, and waits with the caller's context
	}
}

// Publish implements bus.Bus. Kafka has no deduplication window, so message IDs are ignored.
func (b *Bus) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if err := handle.Check(topic, messages, b.opts.Partitions, b.opts.checkOwn); err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return nil, nil
	}
	if err := b.handle.Begin(ctx, topic); err != nil {
		return nil, err
	}
	switch err := b.meet(ctx, topic); {
	case errors.Is(err, bus.ErrUnsupported):
		return nil, fmt.Errorf("publish to %w", err)
	case err != nil:
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, err)
	}
	positions, err := b.publish(ctx, topic, messages)
	if err != nil {
		return nil, fmt.Errorf("publish to %s: %w", topic, err)
	}
	return positions, nil
}

func (b *Bus) publish(ctx context.Context, topic bus.Topic, messages []bus.Message) ([]bus.Position, error) {
	weight := min(int64(len(messages)), maxPending)
	if err := b.room.Acquire(ctx, weight); err != nil {
		return nil, fmt.Errorf("%w: %d messages are already in flight: %w", bus.ErrUnavailable, maxPending, err)
	}
	name := b.opts.topic(topic)
	epoch := b.identities.get(name).epoch
	c := newCall(len(messages))
	for i := range messages {
		// Not the caller's context: the client drops a whole batch when the context of its first record ends, and the
		// batch may have other calls' messages.
		b.client.Produce(b.handle.Context(), b.opts.encode(topic, &messages[i]), func(r *kgo.Record, err error) {
			if c.done(i, r, err) {
				b.room.Release(weight)
			}
		})
	}
	// The client does not give up sent messages without a reply, so this call stops waiting after a timeout.
	timeout := time.NewTimer(max(b.opts.AckTimeout, time.Second) + b.opts.AckTimeout/2)
	defer timeout.Stop()
	select {
	case <-c.complete:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, ctx.Err())
	case <-timeout.C:
		return nil, fmt.Errorf("%w: no reply from %s within %v", bus.ErrOutcomeUnknown, b.opts.address(), b.opts.AckTimeout)
	}
	if c.failed == nil {
		positions := make([]bus.Position, len(messages))
		if topic.Kind() != bus.KindHints {
			for i := range messages {
				positions[i] = position(c.at[i].partition, epoch, c.at[i].offset)
			}
		}
		return positions, nil
	}
	if gone(c.failed) {
		b.renew(ctx, name)
		if err := b.lost(ctx, topic); err != nil {
			return nil, fmt.Errorf("%w: %w", err, c.err())
		}
	}
	return nil, c.err()
}

// call is the state of one Publish call's messages.
type call struct {
	complete chan struct{}

	mu      sync.Mutex
	left    int
	at      []where
	failed  error // the first error
	refused bool  // every error means that the message was not accepted
	taken   bool  // at least one message was accepted
}

// where is the position of a message.
type where struct {
	partition shard.Partition
	offset    int64
}

func newCall(n int) *call {
	return &call{complete: make(chan struct{}), left: n, at: make([]where, n), refused: true}
}

// done records one reply and reports whether it was the last.
func (c *call) done(i int, r *kgo.Record, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if c.failed == nil {
			c.failed = fmt.Errorf("message %d of %d: %w", i+1, len(c.at), err)
		}
		c.refused = c.refused && refused(err)
	} else {
		c.taken = true
		c.at[i] = where{shard.Partition(r.Partition), r.Offset}
	}
	c.left--
	if c.left == 0 {
		close(c.complete)
	}
	return c.left == 0
}

func (c *call) err() error {
	switch {
	case errors.Is(c.failed, kerr.MessageTooLarge) || errors.Is(c.failed, kerr.RecordListTooLarge):
		return fmt.Errorf("%w: %w", bus.ErrTooLarge, c.failed)
	case errors.Is(c.failed, kgo.ErrClientClosed):
		return fmt.Errorf("%w: %w", bus.ErrClosed, c.failed)
	case c.refused && !c.taken:
		return fmt.Errorf("%w: %w", bus.ErrUnavailable, c.failed)
	default:
		return fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, c.failed)
	}
}

// refused reports whether the broker has rejected the message permanently. A retriable error is not a rejection: an
// earlier attempt may have been written without a reply.
func refused(err error) bool {
	broker, ok := errors.AsType[*kerr.Error](err)
	return ok && !broker.Retriable || gone(err)
}

// gone reports whether a topic was deleted, and possibly recreated.
func gone(err error) bool {
	return errors.Is(err, kerr.UnknownTopicOrPartition) || errors.Is(err, kerr.UnknownTopicID)
}

// renew removes a deleted topic from the client, so that the next call looks up the topic that replaced it.
func (b *Bus) renew(ctx context.Context, name string) {
	b.client.PurgeTopicsFromProducing(name)
	if err := b.identify(ctx, name); err != nil {
		b.log.Warn("topic is gone", "topic", name, "error", err)
	}
}
