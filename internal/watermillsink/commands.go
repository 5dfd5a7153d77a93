package watermillsink

import (
	"context"
	"errors"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// consumeCommands passes commands to one session, that of partition 0. The Pub/Sub may have any number of partitions,
// which it does not report. When a round ends, for any reason, the next one begins after a pause.
func (s *Sink) consumeCommands(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	s.mu.Lock()
	again := s.taking
	s.taking = true
	s.mu.Unlock()
	if again {
		return fmt.Errorf("consume %s: this handle already consumes it", spec.Topic)
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
		s.config.Logger.Warn("consuming commands failed, retrying", "topic", s.TopicName(spec.Topic), "error", err,
			"retry_in", s.config.Pause)
		if !timer.Sleep(ctx, s.config.Pause) {
			return nil
		}
	}
}

// errEnded ends a round if the Subscriber has closed the subscription.
var errEnded = errors.New("the subscription ended")

// round subscribes, opens a session and passes commands to it until ctx ends (a graceful end), the session fails or
// the subscription ends.
func (s *Sink) round(ctx context.Context, spec bus.Spec, open bus.OpenSession) error {
	// Both outlive ctx: commands in flight when it ends are finished and acknowledged first.
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
	// Close the session first: it acknowledges finished commands while the subscription can still receive that.
	return errors.Join(err, in.close(ctx, cause, s.config.CloseTimeout), router.Close(), <-ended)
}

// subscribe calls the Subscriber. It returns when ctx ends, even if the Subscriber has not.
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
		case <-subscribing.Done(): // no caller waits for the result any more
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

// subscribe first initializes the topic, if the Subscriber supports it.
func (c *Config) subscribe(ctx context.Context, name string) (<-chan *message.Message, error) {
	if initializer, able := c.Subscriber.(message.SubscribeInitializer); able {
		if err := initializer.SubscribeInitialize(name); err != nil {
			return nil, fmt.Errorf("initialize: %w", err)
		}
	}
	return c.Subscriber.Subscribe(ctx, name)
}

// giveBack nacks the messages of a cancelled subscription until its channel is closed.
func giveBack(messages <-chan *message.Message) {
	for m := range messages {
		m.Nack()
	}
}
