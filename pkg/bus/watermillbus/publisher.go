package watermillbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// PublisherConfig configures a Publisher. Empty fields get the default in their comment.
type PublisherConfig struct {
	// Bus receives the messages. The Publisher does not close it.
	Bus bus.Bus
	// Prefix is the cluster's prefix, as configured for the bus. Default "timerbus".
	Prefix string
	// Key returns a message's key. By default it is the message's metadata MetadataKey. Messages without a key are
	// distributed over the partitions, in no order.
	Key func(topic string, m *message.Message) (string, error)
}

// Publisher publishes to the topic of commands and to user topics.
type Publisher struct {
	config PublisherConfig

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // Publish calls
}

var _ message.Publisher = (*Publisher)(nil)

// NewPublisher creates a Publisher.
func NewPublisher(config PublisherConfig) (*Publisher, error) {
	if config.Bus == nil {
		return nil, errors.New("watermillbus: a publisher needs a Bus")
	}
	config.Prefix = cmp.Or(config.Prefix, DefaultPrefix)
	if config.Key == nil {
		config.Key = func(_ string, m *message.Message) (string, error) { return m.Metadata.Get(MetadataKey), nil }
	}
	return &Publisher{config: config}, nil
}

var errClosed = errors.New("watermillbus: closed")

// Publish implements message.Publisher: if it returns no error, the bus has every message. It sends all messages in
// one call, keeping the order of each key; the call ends when any of their contexts ends. After an error some
// messages may have been published, unless the error is bus.ErrUnavailable. bus.ErrNoTopic means that the topic does
// not exist.
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
		return fmt.Errorf("publish to %s: %w: only the service publishes to it", name, bus.ErrUnsupported)
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

// together returns the first message's context, which also ends when any other message's context ends.
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

// Close implements message.Publisher: it waits for the running Publish calls.
func (p *Publisher) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.running.Wait()
	return nil
}
