package watermillsink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
)

// consumeCommands gives commands to one session, that of partition 0, whatever partitions the Pub/Sub has: it
// does not tell them. Whatever ends a round, the next one begins after a pause.
func (s *Sink) consumeCommands(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	s.mu.Lock()
	again := s.taking
	s.taking = true
	s.mu.Unlock()
	if again {
		return fmt.Errorf("consume %s: this handle consumes them already", spec.Topic)
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taking = false
	}()
	for {
		err := s.round(ctx, spec, open)
		if ctx.Err() != nil {
			return nil
		}
		s.config.Logger.Warn("commands are not taken", "topic", s.TopicName(spec.Topic), "error", err, "again_in", s.config.Pause)
		if !pause(ctx, s.config.Pause) {
			return nil
		}
	}
}

// errEnded is what a round ends of when the Subscriber has closed the subscription by itself.
var errEnded = errors.New("the subscription ended")

// round subscribes, opens a session and gives it commands until ctx ends (an orderly end), the session fails or
// the subscription ends.
func (s *Sink) round(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	// Both outlive ctx: what is under way when it ends is finished and acknowledged first.
	subscribing, unsubscribe := context.WithCancel(context.WithoutCancel(ctx))
	defer unsubscribe()
	messages, err := s.subscribe(ctx, subscribing, s.TopicName(spec.Topic))
	if err != nil {
		return err
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	session, err := open(life, 0)
	if err != nil {
		unsubscribe()
		giveBack(messages)
		return fmt.Errorf("open a session: %w", err)
	}
	in := newIntake(life, session, &spec)
	router, err := s.newRouter(in, messages, unsubscribe)
	if err != nil {
		end(bus.ErrLost)
		unsubscribe()
		giveBack(messages)
		return errors.Join(err, in.close(ctx, bus.ErrLost, s.config.CloseTimeout))
	}
	ended := make(chan error, 1)
	go func() { ended <- router.Run(context.WithoutCancel(ctx)) }()
	<-router.Running()

	s.subscribed.Store(true)
	cause := bus.ErrLost
	select {
	case <-ctx.Done():
		cause = bus.ErrStopping
	case err = <-in.failed:
	case failure := <-ended:
		ended <- failure
		err = errEnded
	}
	s.subscribed.Store(false)
	end(cause)
	// The session first: it acknowledges what it has finished, while the subscription still can take that.
	return errors.Join(err, in.close(ctx, cause, s.config.CloseTimeout), router.Close(), <-ended)
}

// subscribe does not wait for a Subscriber longer than ctx lasts.
func (s *Sink) subscribe(ctx, subscribing context.Context, name string) (<-chan *message.Message, error) {
	type answer struct {
		messages <-chan *message.Message
		err      error
	}
	answered := make(chan answer)
	if err := s.enter(); err != nil {
		return nil, err
	}
	go func() {
		defer s.working.Done()
		messages, err := s.config.subscribe(subscribing, name)
		select {
		case answered <- answer{messages, err}:
		case <-subscribing.Done(): // nobody waits for it any more
			if err == nil {
				giveBack(messages)
			}
		}
	}()
	select {
	case a := <-answered:
		if a.err != nil {
			return nil, fmt.Errorf("subscribe to %q: %w", name, a.err)
		}
		return a.messages, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// subscribe makes the topic first where the Subscriber can.
func (c *Config) subscribe(ctx context.Context, name string) (<-chan *message.Message, error) {
	if initializer, able := c.Subscriber.(message.SubscribeInitializer); able {
		if err := initializer.SubscribeInitialize(name); err != nil {
			return nil, fmt.Errorf("initialize: %w", err)
		}
	}
	return c.Subscriber.Subscribe(ctx, name)
}

// giveBack empties the channel of a subscription that was given up, which then closes it.
func giveBack(messages <-chan *message.Message) {
	for m := range messages {
		m.Nack()
	}
}

// pause reports whether it was waited to the end.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
