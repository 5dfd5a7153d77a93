package watermillbus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
)

// SubscriberConfig is what a Subscriber needs. What is left empty gets the default in its comment.
type SubscriberConfig struct {
	// Bus gives the messages. It is not closed with the Subscriber.
	Bus bus.Bus
	// Prefix is the cluster's, as it was given to the bus: "timerbus".
	Prefix string
	// ConsumerGroup names those who share a topic's messages among them; every group gets all of them. It
	// must be given, and not be one of the service's own groups.
	ConsumerGroup string

	// Unacked bounds, for each partition, the messages handed out and not acknowledged yet: 1. With 1 a key's
	// messages come in order; with more they are worked on at the same time, in any order.
	Unacked int
	// Prefetch bounds, for each partition, the messages read ahead of that: 256.
	Prefetch int
	// NackPause is how long a message rests after its Nack, and with Unacked 1 its partition with it: 100 ms.
	// Negative: not at all.
	NackPause time.Duration
	// AckWait is how long a message may stay without Ack or Nack before its context is cancelled and it is
	// handed out again: for ever. A handler that never answers then holds up its partition.
	AckWait time.Duration
	// CloseTimeout is how long messages that are handed out may still be acknowledged when a subscription
	// ends, or when their partition goes to another member: 3 s. The bus waits no longer than its own
	// CloseWait, 5 s unless configured.
	CloseTimeout time.Duration
	// RetryPause is how long it takes until a topic is asked for again that could not be consumed: 1 s.
	RetryPause time.Duration

	// Logger gets what no caller is told: topics that are missing, handlers that did not answer. Default: nothing.
	Logger *slog.Logger
}

func (c SubscriberConfig) complete() (SubscriberConfig, error) {
	switch {
	case c.Bus == nil:
		return c, errors.New("watermillbus: a subscriber needs a Bus")
	case c.ConsumerGroup == "":
		return c, errors.New("watermillbus: a subscriber needs a ConsumerGroup")
	case c.ConsumerGroup == bus.GroupIngest, c.ConsumerGroup == bus.GroupSchedulers, c.ConsumerGroup == bus.GroupDispatchers:
		return c, fmt.Errorf("watermillbus: consumer group %q is the service's own: its messages would be missing there", c.ConsumerGroup)
	case c.Unacked < 0 || c.Prefetch < 0 || c.AckWait < 0 || c.CloseTimeout < 0 || c.RetryPause < 0:
		return c, errors.New("watermillbus: Unacked, Prefetch, AckWait, CloseTimeout and RetryPause must not be negative")
	}
	setDefault(&c.Prefix, DefaultPrefix)
	setDefault(&c.Unacked, 1)
	setDefault(&c.Prefetch, 256)
	setDefault(&c.NackPause, 100*time.Millisecond)
	setDefault(&c.CloseTimeout, 3*time.Second)
	setDefault(&c.RetryPause, time.Second)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("component", "watermillbus", "group", c.ConsumerGroup)
	return c, nil
}

func setDefault[V comparable](v *V, def V) {
	var zero V
	if *v == zero {
		*v = def
	}
}

// Subscriber reads public topics and topics of users' own, at least once. It is one member of its group: a
// process that is to be several needs several buses.
type Subscriber struct {
	config  SubscriberConfig
	closing context.Context
	close   context.CancelFunc

	mu      sync.Mutex
	closed  bool
	topics  map[string]bool // subscribed to now
	running sync.WaitGroup  // subscriptions
}

var (
	_ message.Subscriber           = (*Subscriber)(nil)
	_ message.SubscribeInitializer = (*Subscriber)(nil)
)

// NewSubscriber makes a Subscriber.
func NewSubscriber(config SubscriberConfig) (*Subscriber, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	s := &Subscriber{config: config, topics: make(map[string]bool)}
	s.closing, s.close = context.WithCancel(context.Background())
	return s, nil
}

// SubscribeInitialize implements message.SubscribeInitializer: it makes a topic of a user's own, if nobody has.
// Public topics are there.
func (s *Subscriber) SubscribeInitialize(name string) error {
	topic, err := topicOf(s.config.Prefix, name)
	if err != nil {
		return fmt.Errorf("initialize %w", err)
	}
	if _, own := topic.OwnName(); !own {
		return nil
	}
	maker, ok := s.config.Bus.(bus.TopicMaker)
	if !ok {
		return fmt.Errorf("initialize topic %q: %w: this bus makes no topics", name, bus.ErrUnsupported)
	}
	if err := maker.MakeTopic(s.closing, topic); err != nil {
		return fmt.Errorf("initialize topic %q: %w", name, err)
	}
	return nil
}

// Subscribe implements message.Subscriber. A group that is new to a topic begins with the oldest message kept.
// The channel is closed when ctx or the Subscriber has ended, or the bus, or when the bus can have no such
// topic. A topic that is only missing is asked for again until somebody has made it.
//
// A Subscriber reads a topic once at a time, since its messages would be shared, not repeated, between two
// subscriptions of one group: handlers that are each to get all need a Subscriber of another group each.
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
		defer s.leave(name)
		defer close(sub.out)
		sub.run(s.closing)
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
		return fmt.Errorf("this subscriber of group %q reads it already", s.config.ConsumerGroup)
	}
	s.topics[name] = true
	s.running.Add(1)
	return nil
}

func (s *Subscriber) leave(name string) {
	s.mu.Lock()
	delete(s.topics, name)
	s.mu.Unlock()
	s.running.Done()
}

// Close implements message.Subscriber: it ends all subscriptions and waits for them, for CloseTimeout where
// messages are still with handlers.
func (s *Subscriber) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.close()
	s.running.Wait()
	return nil
}

// subscription is one Subscribe.
type subscription struct {
	config *SubscriberConfig
	ctx    context.Context // the subscriber's caller's
	name   string
	topic  bus.Topic
	out    chan *message.Message
}

// run consumes, again and again, until ctx or the subscriber has ended or it is of no use.
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
		case ctx.Err() != nil || err == nil: // or the bus was closed
			return
		case errors.Is(err, bus.ErrUnsupported), errors.Is(err, bus.ErrClosed):
			s.config.Logger.Error("subscription ended", "topic", s.name, "error", err)
			return
		}
		s.config.Logger.Warn("topic not consumed", "topic", s.name, "error", err, "again_in", s.config.RetryPause)
		if !pause(ctx, s.config.RetryPause) {
			return
		}
	}
}

// pause waits, and reports false if ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
