package watermillbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// SubscriberConfig configures a Subscriber. Empty fields get the default in their comment.
type SubscriberConfig struct {
	// Bus delivers the messages. The Subscriber does not close it.
	Bus bus.Bus
	// Prefix is the cluster's prefix, as configured for the bus. Default "timerbus".
	Prefix string
	// ConsumerGroup is the name of the group that shares a topic's messages; every group gets all of them. It is
	// required, and must not be one of the service's groups.
	ConsumerGroup string

	// Unacked bounds, for each partition, the unacknowledged messages with handlers. Default 1. With 1, a key's
	// messages are handled in order; with more, messages are handled concurrently, in any order.
	Unacked int
	// Prefetch bounds, for each partition, the messages prefetched in addition to Unacked. Default 256.
	Prefetch int
	// NackPause is how long a message waits after its Nack; with Unacked 1 its partition waits too. Default 100 ms.
	// Negative: no wait.
	NackPause time.Duration
	// AckWait is how long a message may remain without Ack or Nack before its context is cancelled and it is
	// delivered again. By default there is no limit, so a handler that never replies blocks its partition.
	AckWait time.Duration
	// CloseTimeout is how long handlers may still acknowledge messages when a subscription ends, or when their
	// partition moves to another member. Default 3 s. The bus waits at most for its CloseWait, by default 5 s.
	CloseTimeout time.Duration
	// RetryPause is the interval between attempts to consume a topic after a failure. Default 1 s.
	RetryPause time.Duration

	// Logger receives events that no caller gets as an error: missing topics, handlers that did not reply. By default
	// the log is discarded.
	Logger *slog.Logger
}

func (c SubscriberConfig) complete() (SubscriberConfig, error) {
	switch {
	case c.Bus == nil:
		return c, errors.New("watermillbus: a subscriber needs a Bus")
	case c.ConsumerGroup == "":
		return c, errors.New("watermillbus: a subscriber needs a ConsumerGroup")
	case c.ConsumerGroup == bus.GroupIngest, c.ConsumerGroup == bus.GroupSchedulers, c.ConsumerGroup == bus.GroupDispatchers:
		return c, fmt.Errorf("watermillbus: consumer group %q belongs to the service, which would miss messages: choose another",
			c.ConsumerGroup)
	case c.Unacked < 0 || c.Prefetch < 0 || c.AckWait < 0 || c.CloseTimeout < 0 || c.RetryPause < 0:
		return c, errors.New("watermillbus: Unacked, Prefetch, AckWait, CloseTimeout and RetryPause must not be negative")
	}
	c.Prefix = cmp.Or(c.Prefix, DefaultPrefix)
	c.Unacked = cmp.Or(c.Unacked, 1)
	c.Prefetch = cmp.Or(c.Prefetch, 256)
	c.NackPause = cmp.Or(c.NackPause, 100*time.Millisecond)
	c.CloseTimeout = cmp.Or(c.CloseTimeout, 3*time.Second)
	c.RetryPause = cmp.Or(c.RetryPause, time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("component", "watermillbus", "group", c.ConsumerGroup)
	return c, nil
}

// Subscriber reads public topics and user topics, at least once. It is one member of its group: several members in
// one process need several buses.
type Subscriber struct {
	config  SubscriberConfig
	closing context.Context
	close   context.CancelFunc

	mu      sync.Mutex
	closed  bool
	topics  map[string]bool // subscribed now
	running sync.WaitGroup  // subscriptions
}

var (
	_ message.Subscriber           = (*Subscriber)(nil)
	_ message.SubscribeInitializer = (*Subscriber)(nil)
)

// NewSubscriber creates a Subscriber.
func NewSubscriber(config SubscriberConfig) (*Subscriber, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	s := &Subscriber{config: config, topics: make(map[string]bool)}
	s.closing, s.close = context.WithCancel(context.Background())
	return s, nil
}

// SubscribeInitialize implements message.SubscribeInitializer: it creates a user topic if it is missing. Public
// topics always exist.
func (s *Subscriber) SubscribeInitialize(name string) error {
	topic, err := topicOf(s.config.Prefix, name)
	if err != nil {
		return fmt.Errorf("initialize %w", err)
	}
	if _, own := topic.OwnName(); !own {
		return nil
	}
	maker, ok := bus.As[bus.TopicMaker](s.config.Bus)
	if !ok {
		return fmt.Errorf("initialize topic %q: %w: this bus cannot create topics", name, bus.ErrUnsupported)
	}
	if err := maker.MakeTopic(s.closing, topic); err != nil {
		return fmt.Errorf("initialize topic %q: %w", name, err)
	}
	return nil
}

// Subscribe implements message.Subscriber. A group that is new to a topic begins with the oldest message kept. The
// channel is closed when ctx ends, when the Subscriber or the bus is closed, or when the bus does not support such a
// topic. If the topic is only missing, Subscribe retries until it exists.
//
// A Subscriber can subscribe to a topic only once at a time, because two subscriptions of one group would share its
// messages. If several handlers must each get all messages, use a Subscriber with a different group for each.
func (s *Subscriber) Subscribe(ctx context.Context, name string) (<-chan *message.Message, error) {
	topic, err := topicOf(s.config.Prefix, name)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %w", err)
	}
	if err := s.enter(name); err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", name, err)
	}
	sub := &subscription{config: &s.config, ctx: ctx, name: name, topic: topic, out: make(chan *message.Message)}
	go func() {
		defer s.running.Done()
		sub.run(s.closing)
		s.leave(name) // before the channel is closed: then the caller may subscribe again
		close(sub.out)
	}()
	return sub.out, nil
}

func (s *Subscriber) enter(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	case s.topics[name]:
		return fmt.Errorf("this subscriber of group %q is already subscribed", s.config.ConsumerGroup)
	}
	s.topics[name] = true
	s.running.Add(1)
	return nil
}

func (s *Subscriber) leave(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.topics, name)
}

// Close implements message.Subscriber: it ends all subscriptions and waits for them. It waits up to CloseTimeout for
// messages with handlers.
func (s *Subscriber) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.close()
	s.running.Wait()
	return nil
}

// subscription is one call of Subscribe.
type subscription struct {
	config *SubscriberConfig
	ctx    context.Context // of the caller of Subscribe
	name   string
	topic  bus.Topic
	out    chan *message.Message
}

// run consumes repeatedly until ctx ends, the subscriber closes, or an error is permanent.
func (s *subscription) run(closing context.Context) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	defer context.AfterFunc(closing, cancel)()
	spec := bus.Spec{
		Topic: s.topic, Group: s.config.ConsumerGroup, Mode: bus.Ordered,
		MaxInFlight: s.config.Unacked + s.config.Prefetch,
	}
	for {
		err := s.config.Bus.Consume(ctx, spec, func(ctx context.Context, _ shard.Partition) (bus.Session, error) {
			return openSession(ctx, s), nil
		})
		switch {
		case ctx.Err() != nil || err == nil: // err is nil if the bus was closed
			return
		case errors.Is(err, bus.ErrUnsupported), errors.Is(err, bus.ErrClosed):
			s.config.Logger.Error("subscription ended", "topic", s.name, "error", err)
			return
		}
		s.config.Logger.Warn("consume failed, retrying", "topic", s.name, "error", err, "retry_in", s.config.RetryPause)
		if !timer.Sleep(ctx, s.config.RetryPause) {
			return
		}
	}
}
