package watermillbus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// PublisherConfig is what a Publisher needs. What is left empty gets the default in its comment.
type PublisherConfig struct {
	// Bus takes the messages. It is not closed with the Publisher.
	Bus bus.Bus
	// Prefix is the cluster's, as it was given to the bus: "timerbus".
	Prefix string
	// Key gives a message's key: what its metadata has as MetadataKey. Messages without a key are spread, in
	// no order.
	Key func(topic string, m *message.Message) (string, error)
}

// Publisher publishes to the cluster's commands and to topics of users' own.
type Publisher struct {
	config PublisherConfig

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // Publish calls
}

var _ message.Publisher = (*Publisher)(nil)

// NewPublisher makes a Publisher.
func NewPublisher(config PublisherConfig) (*Publisher, error) {
	if config.Bus == nil {
		return nil, errors.New("watermillbus: a publisher needs a Bus")
	}
	if config.Prefix == "" {
		config.Prefix = DefaultPrefix
	}
	if config.Key == nil {
		config.Key = func(_ string, m *message.Message) (string, error) { return m.Metadata.Get(MetadataKey), nil }
	}
	return &Publisher{config: config}, nil
}

var errClosed = errors.New("watermillbus: closed")

// Publish implements message.Publisher: once it has returned without an error, the bus has every message. The
// messages go together, in the order given for each key; the contexts of all of them bound it. After an error
// some may have been taken, unless it is bus.ErrUnavailable; bus.ErrNoTopic says that nobody has made the topic.
func (p *Publisher) Publish(name string, messages ...*message.Message) error {
	if err := p.enter(); err != nil {
		return fmt.Errorf("publish to %s: %w", name, err)
	}
	defer p.running.Done()
	topic, err := topicOf(p.config.Prefix, name)
	if err != nil {
		return fmt.Errorf("publish to %w", err)
	}
	if _, own := topic.OwnName(); !own && topic != bus.Commands {
		return fmt.Errorf("publish to %s: %w: it is for the service to publish", name, bus.ErrUnsupported)
	}
	if len(messages) == 0 {
		return nil
	}
	out := make([]bus.Message, len(messages))
	for i, m := range messages {
		key, err := p.config.Key(name, m)
		if err != nil {
			return fmt.Errorf("publish to %s: key of message %d (%s): %w", name, i, m.UUID, err)
		}
		if out[i], err = encode(key, m); err != nil {
			return fmt.Errorf("publish to %s: message %d: %w", name, i, err)
		}
		if topic == bus.Commands {
			out[i].Partition = shard.Partition(partitionOf(key, p.config.Bus.Partitions()))
		}
	}
	ctx, cancel := together(messages)
	defer cancel()
	if _, err := p.config.Bus.Publish(ctx, topic, out...); err != nil {
		return fmt.Errorf("publish to %s: %w", name, err)
	}
	return nil
}

// together is the first message's context, which ends with any other's too.
func together(messages []*message.Message) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(messages[0].Context())
	stops := make([]func() bool, 0, len(messages))
	for _, m := range messages[1:] {
		one := m.Context()
		if one.Done() == nil {
			continue
		}
		stops = append(stops, context.AfterFunc(one, func() { cancel(context.Cause(one)) }))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}

func (p *Publisher) enter() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errClosed
	}
	p.running.Add(1)
	return nil
}

// Close implements message.Publisher: it waits for the Publish calls under way.
func (p *Publisher) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.running.Wait()
	return nil
}
