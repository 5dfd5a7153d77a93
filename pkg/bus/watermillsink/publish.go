package watermillsink

import (
	"context"
	"fmt"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Publish implements bus.Bus. Messages on a Pub/Sub have no positions: theirs are zero.
func (s *Sink) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if s.life.Err() != nil {
		return nil, fmt.Errorf("publish to %s: %w", topic, bus.ErrClosed)
	}
	if err := s.checkOwn(topic); err != nil {
		return nil, fmt.Errorf("publish to %w", err)
	}
	if !s.onPublisher(topic) {
		return s.config.Inner.Publish(ctx, topic, messages...)
	}
	if len(messages) == 0 {
		return nil, nil
	}
	_, own := topic.OwnName()
	out := make([]*message.Message, len(messages))
	for i := range messages {
		out[i] = s.outgoing(topic, &messages[i])
		if own && s.config.Unwrap != nil {
			s.config.Unwrap(out[i])
		}
		out[i].SetContext(ctx)
	}
	release, err := s.place(ctx, topic)
	if err == nil {
		err = s.hand(ctx, s.TopicName(topic), out, release)
	}
	if err != nil {
		return nil, fmt.Errorf("publish to %s: %w", topic, err)
	}
	return make([]bus.Position, len(messages)), nil
}

// place waits until a call of the Publisher may begin.
func (s *Sink) place(ctx context.Context, topic bus.Topic) (release func(), err error) {
	if name, own := topic.OwnName(); own {
		return s.own.take(ctx, s.life, name)
	}
	if err := enter(ctx, s.life, s.common); err != nil {
		return nil, err
	}
	return func() { <-s.common }, nil
}

// hand calls the Publisher, which knows no context, and does not wait for it longer than ctx lasts.
func (s *Sink) hand(ctx context.Context, name string, messages []*message.Message, release func()) error {
	if err := s.enter(); err != nil {
		release()
		return err
	}
	answered := make(chan error, 1)
	go func() {
		defer s.working.Done()
		defer release()
		answered <- s.config.Publisher.Publish(name, messages...)
	}()
	var err error
	select {
	case err = <-answered:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		// Publishers do not tell how far they came.
		return fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, err)
	}
	return nil
}
