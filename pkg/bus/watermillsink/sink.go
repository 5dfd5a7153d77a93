package watermillsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Format is how public events lie in the messages of a Pub/Sub: the payload is the event's data, and its
// attributes are metadata such as ce_type. Services must be told, since the sink does not look inside.
const Format = event.Binary

// maxCommandsPerSecond is where a throttle stops being one.
const maxCommandsPerSecond = 1_000_000

// Config is what a Sink needs. Numbers left at zero get the default in their comment.
type Config struct {
	// Inner carries what is not public, and public topics without a Publisher or Subscriber.
	Inner bus.Bus
	// Publisher takes fired events, results, dead ones, and events for topics of users' own; nil leaves them
	// to Inner. Publish must return nil only when the Pub/Sub has stored the messages; Watermill's RabbitMQ
	// Publisher without confirms is refused. An error is taken for an unknown outcome, and the message is
	// published again: what the Pub/Sub can never take, it must refuse with an error that wraps bus.ErrTooLarge.
	Publisher message.Publisher
	// Subscriber gives commands; nil leaves them to Inner. Several processes must share the commands, as the
	// members of a consumer group do.
	Subscriber message.Subscriber
	// Prefix begins the names of the topics: "timerbus", for "timerbus.commands" and so on. Topics of users'
	// own are named as they are.
	Prefix string
	// InnerPrefix is Inner's own, where it has one. Topics of users' own may begin with neither.
	InnerPrefix string

	// CommandsPerSecond throttles commands, 1 to 1,000,000; 0: not at all.
	CommandsPerSecond int
	// Middleware runs around each command, inside the sink's own, the first outermost. The error of one
	// refuses the command for good.
	Middleware []message.HandlerMiddleware
	// Unwrap, if not nil, changes a message for a topic of a user's own before it is published.
	Unwrap func(*message.Message)

	// Source is the CloudEvents source of refusals, and Clock tells their time.
	Source string
	Clock  timer.Clock

	// PublishesInFlight bounds the calls of Publisher under way for the service's topics, and as much again those
	// for topics of users' own: 64. A topic of a user's own has one at a time.
	PublishesInFlight int
	// Pause is how long it takes until commands are asked for again after a failure: 1 s.
	Pause time.Duration
	// CloseTimeout bounds how long an orderly end waits, for the commands under way and for the Publisher:
	// 10 s for each.
	CloseTimeout time.Duration
	Logger       *slog.Logger
}

func (c *Config) withDefaults() error {
	switch {
	case c.Inner == nil || c.Clock == nil || c.Source == "":
		return errors.New("watermillsink: Inner, Clock and Source are required")
	case c.CommandsPerSecond < 0 || c.CommandsPerSecond > maxCommandsPerSecond:
		return fmt.Errorf("watermillsink: CommandsPerSecond %d: want 1 to %d, or 0 for no limit", c.CommandsPerSecond, maxCommandsPerSecond)
	}
	if err := checkConfirms(c.Publisher); err != nil {
		return err
	}
	if c.Prefix == "" {
		c.Prefix = "timerbus"
	}
	if c.PublishesInFlight == 0 {
		c.PublishesInFlight = 64
	}
	if c.Pause == 0 {
		c.Pause = time.Second
	}
	if c.CloseTimeout == 0 {
		c.CloseTimeout = 10 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = c.Logger.With("component", "watermillsink")
	return nil
}

// Sink is a bus whose public topics are on a Pub/Sub.
type Sink struct {
	config Config
	// life ends with Close.
	life context.Context
	end  context.CancelFunc
	// common bounds the calls of Publisher for the service's topics, own those for users'.
	common chan struct{}
	own    ownPlaces

	mu      sync.Mutex
	closed  bool
	taking  bool           // a Consume of commands is there
	working sync.WaitGroup // Consumes and calls of Publisher; grows under mu and while not closed

	// subscribed: commands are being taken.
	subscribed atomic.Bool
}

var (
	_ bus.Bus        = (*Sink)(nil)
	_ bus.TopicMaker = (*Sink)(nil)
)

// New makes a sink. Nothing runs before Consume.
func New(config Config) (*Sink, error) {
	if err := config.withDefaults(); err != nil {
		return nil, err
	}
	s := &Sink{config: config, common: make(chan struct{}, config.PublishesInFlight), own: newOwnPlaces(config.PublishesInFlight)}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// TopicName is a public topic's name on the Pub/Sub.
func (s *Sink) TopicName(topic bus.Topic) string {
	if own, ok := topic.OwnName(); ok {
		return own
	}
	return s.config.Prefix + "." + string(topic)
}

// checkOwn refuses a topic of a user's own that is one of the service's, here or on the bus below, which may be on
// the same brokers.
func (s *Sink) checkOwn(topic bus.Topic) error {
	name, own := topic.OwnName()
	for _, prefix := range []string{s.config.Prefix, s.config.InnerPrefix} {
		if own && prefix != "" && strings.HasPrefix(name, prefix+".") {
			return fmt.Errorf("topic %q: %w: names that begin with %q are Timerbus's own", name, bus.ErrUnsupported, prefix+".")
		}
	}
	return nil
}

// onPublisher reports whether what is published to a topic goes to the Pub/Sub.
func (s *Sink) onPublisher(topic bus.Topic) bool {
	if s.config.Publisher == nil || topic.Kind() != bus.KindLog {
		return false
	}
	return topic != bus.Commands || s.config.Subscriber != nil
}

// fromSubscriber reports whether a topic's messages come from the Pub/Sub.
func (s *Sink) fromSubscriber(topic bus.Topic) bool {
	return topic == bus.Commands && s.config.Subscriber != nil
}

// enter counts a call in; after it was nil, the caller must call s.working.Done.
func (s *Sink) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return bus.ErrClosed
	}
	s.working.Add(1)
	return nil
}

// Consume implements bus.Bus. What the Publisher has taken is read with the Pub/Sub's own means: ErrUnsupported.
func (s *Sink) Consume(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	if err := spec.Complete(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return fmt.Errorf("consume %s: %w", spec.Topic, err)
	}
	defer s.working.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	switch {
	case s.fromSubscriber(spec.Topic):
		return s.consumeCommands(ctx, spec, open)
	case s.onPublisher(spec.Topic):
		return fmt.Errorf("consume %s: %w: subscribe to %q of the Pub/Sub", spec.Topic, bus.ErrUnsupported, s.TopicName(spec.Topic))
	default:
		return s.config.Inner.Consume(ctx, spec, open)
	}
}

// Floor implements bus.Bus. A Pub/Sub does not tell how far its consumers are: the floors of commands that come
// from one are zero, and an error says that none are being taken or that the bus below does not answer.
func (s *Sink) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	switch {
	case s.life.Err() != nil:
		return nil, fmt.Errorf("floor of %s: %w", topic, bus.ErrClosed)
	case s.fromSubscriber(topic):
		if !s.subscribed.Load() {
			return nil, fmt.Errorf("floor of %s: %w: nobody has subscribed to %q", topic, bus.ErrUnavailable, s.TopicName(topic))
		}
		if _, err := s.config.Inner.Floor(ctx, bus.Due, bus.GroupDispatchers); err != nil {
			return nil, err
		}
		floors := make(bus.Floors, s.Partitions())
		return floors, nil
	case s.onPublisher(topic):
		return nil, fmt.Errorf("floor of %s: %w: it is on a Pub/Sub", topic, bus.ErrUnsupported)
	default:
		return s.config.Inner.Floor(ctx, topic, group)
	}
}

// Ready implements bus.Bus. Of a Pub/Sub it is known whether commands are subscribed to.
func (s *Sink) Ready(topic bus.Topic, group string) error {
	switch {
	case s.life.Err() != nil:
		return fmt.Errorf("consume %s in group %q: %w", topic, group, bus.ErrClosed)
	case !s.fromSubscriber(topic):
		return s.config.Inner.Ready(topic, group)
	case !s.subscribed.Load():
		return fmt.Errorf("consume %s in group %q: %w: not subscribed to %q", topic, group, bus.ErrUnavailable, s.TopicName(topic))
	default:
		return nil
	}
}

// MakeTopic implements bus.TopicMaker where the bus below does. Topics of a Pub/Sub are made as it makes them.
func (s *Sink) MakeTopic(ctx context.Context, topic bus.Topic) error {
	if err := s.checkOwn(topic); err != nil {
		return fmt.Errorf("make topic: %w", err)
	}
	inner, able := s.config.Inner.(bus.TopicMaker)
	if s.onPublisher(topic) || !able {
		return fmt.Errorf("make topic %s: %w", topic, bus.ErrUnsupported)
	}
	return inner.MakeTopic(ctx, topic)
}

// Partitions implements bus.Bus.
func (s *Sink) Partitions() int { return s.config.Inner.Partitions() }

// Close ends every Consume and waits for them and for the Publisher. Inner, Publisher and Subscriber stay open:
// they belong to whoever made them.
func (s *Sink) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	s.end()
	gone := make(chan struct{})
	go func() {
		s.working.Wait()
		close(gone)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 2*s.config.CloseTimeout)
	defer cancel()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close: %w: the Publisher or the Subscriber of the Pub/Sub does not come back", ctx.Err())
	}
}
