package watermillsink

import (
	"cmp"
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
	"github.com/timerbus/timerbus/pkg/timer"
)

// maxCommandsPerSecond is the largest rate of the throttle.
const maxCommandsPerSecond = 1_000_000

// Config configures a Sink. Zero numbers get the default in their comment.
type Config struct {
	// Inner carries internal messages, and public topics without a Publisher or Subscriber.
	Inner bus.Bus
	// Publisher receives fired events, results, dead timers, and events for user topics; if it is nil, Inner carries
	// them. Publish must return nil only when the Pub/Sub has stored the messages; Watermill's RabbitMQ Publisher
	// without confirms is rejected. An error counts as an unknown outcome, and the message is published again. If the
	// Pub/Sub can never accept a message, Publish must return an error that wraps bus.ErrTooLarge.
	Publisher message.Publisher
	// Subscriber delivers commands; if it is nil, Inner does. Several processes must share the commands, like the
	// members of a consumer group.
	Subscriber message.Subscriber
	// Prefix is the first part of topic names. Default: Inner's prefix, usually "timerbus", for "timerbus.commands" and
	// so on. The names of user topics have no prefix, and may begin neither with this prefix nor with Inner's.
	Prefix string

	// CommandsPerSecond throttles commands, 1 to 1,000,000; 0: no limit.
	CommandsPerSecond int
	// Middleware runs around each command, inside the sink's middleware, the first outermost. An error of a
	// middleware refuses the command permanently.
	Middleware []message.HandlerMiddleware
	// Unwrap, if not nil, changes a message for a user topic before it is published.
	Unwrap func(*message.Message)

	// Source is the CloudEvents source of refusals, and Clock provides their time.
	Source string
	Clock  timer.Clock

	// PublishesInFlight bounds the running calls of Publisher for the service's topics, and separately those for user
	// topics. Default 64. A user topic has at most one call at a time.
	PublishesInFlight int
	// Pause is the interval before commands are consumed again after a failure. Default 1 s.
	Pause time.Duration
	// CloseTimeout bounds how long a graceful end waits, for the commands in flight and for the Publisher. Default 10
	// s for each.
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
	c.Prefix = cmp.Or(c.Prefix, c.Inner.Properties().Prefix, "timerbus")
	c.PublishesInFlight = cmp.Or(c.PublishesInFlight, 64)
	c.Pause = cmp.Or(c.Pause, time.Second)
	c.CloseTimeout = cmp.Or(c.CloseTimeout, 10*time.Second)
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
	// common limits the calls of Publisher for the service's topics, own those for user topics.
	common chan struct{}
	own    ownPlaces

	mu      sync.Mutex
	closed  bool
	taking  bool           // a Consume of commands is running
	working sync.WaitGroup // Consumes and calls of Publisher; Add is called under mu and only while not closed

	// subscribed is true while commands are consumed.
	subscribed atomic.Bool
}

var (
	_ bus.Bus        = (*Sink)(nil)
	_ bus.TopicMaker = (*Sink)(nil)
)

// New creates a sink. It starts no goroutine before Consume.
func New(config Config) (*Sink, error) {
	if err := config.withDefaults(); err != nil {
		return nil, err
	}
	s := &Sink{config: config, common: make(chan struct{}, config.PublishesInFlight), own: newOwnPlaces(config.PublishesInFlight)}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// TopicName returns a topic's name on the Pub/Sub.
func (s *Sink) TopicName(topic bus.Topic) string {
	if own, ok := topic.OwnName(); ok {
		return own
	}
	return s.config.Prefix + "." + string(topic)
}

// checkOwn returns an error for a user topic whose name belongs to the service, on the Pub/Sub or on the bus below,
// which may use the same brokers.
func (s *Sink) checkOwn(topic bus.Topic) error {
	name, own := topic.OwnName()
	for _, prefix := range []string{s.config.Prefix, s.config.Inner.Properties().Prefix} {
		if own && prefix != "" && strings.HasPrefix(name, prefix+".") {
			return fmt.Errorf("topic %q: %w: names that begin with %q are reserved for Timerbus", name, bus.ErrUnsupported, prefix+".")
		}
	}
	return nil
}

// onPublisher reports whether messages published to a topic go to the Pub/Sub.
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

// enter registers a call. If it returns nil, the caller must call s.working.Done.
func (s *Sink) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return bus.ErrClosed
	}
	s.working.Add(1)
	return nil
}

// Consume implements bus.Bus. For topics on the Publisher it returns ErrUnsupported: programs subscribe to them on
// the Pub/Sub.
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

// Floor implements bus.Bus. A Pub/Sub does not report the positions of its consumers. The floors of commands from a
// Pub/Sub are therefore zero; an error means that no commands are consumed or that the bus below does not respond.
func (s *Sink) Floor(ctx context.Context, topic bus.Topic, group string) (bus.Floors, error) {
	switch {
	case s.life.Err() != nil:
		return nil, fmt.Errorf("floor of %s: %w", topic, bus.ErrClosed)
	case s.fromSubscriber(topic):
		if !s.subscribed.Load() {
			return nil, fmt.Errorf("floor of %s: %w: not subscribed to %q", topic, bus.ErrUnavailable, s.TopicName(topic))
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

// Ready implements bus.Bus. For a Pub/Sub it reports only whether commands are subscribed to.
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

// MakeTopic implements bus.TopicMaker if the bus below does. The sink does not create topics on the Pub/Sub.
func (s *Sink) MakeTopic(ctx context.Context, topic bus.Topic) error {
	if err := s.checkOwn(topic); err != nil {
		return fmt.Errorf("create topic: %w", err)
	}
	inner, able := bus.As[bus.TopicMaker](s.config.Inner)
	if s.onPublisher(topic) || !able {
		return fmt.Errorf("create topic %s: %w", topic, bus.ErrUnsupported)
	}
	return inner.MakeTopic(ctx, topic)
}

// Partitions implements bus.Bus.
func (s *Sink) Partitions() int { return s.config.Inner.Partitions() }

// Properties implements bus.Bus.
func (s *Sink) Properties() bus.Properties {
	inner := s.config.Inner.Properties()
	return bus.Properties{Prefix: s.config.Prefix, HeaderAttributes: s.config.Publisher != nil || inner.HeaderAttributes}
}

// Unwrap returns the bus that carries internal messages.
func (s *Sink) Unwrap() bus.Bus { return s.config.Inner }

// Close ends every Consume and waits for them and for the Publisher. Inner, Publisher and Subscriber stay open; their
// owner must close them.
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
		return fmt.Errorf("close: %w: a call of the Publisher or the Subscriber has not returned", ctx.Err())
	}
}
