package watermillsink

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/timerbus/timerbus/pkg/bus"
)

// Publish implements bus.Bus. Messages on a Pub/Sub have zero positions.
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

// hand calls the Publisher, which takes no context. It returns when ctx ends, even if the Publisher has not.
func (s *Sink) hand(ctx context.Context, name string, messages []*message.Message, release func()) error {
	if err := s.enter(); err != nil {
		release()
		return err
	}
	answered := make(chan []error, 1)
	go func() {
		defer s.working.Done()
		defer release()
		b := batch{ctx: ctx, publisher: s.config.Publisher, name: name, messages: messages, errs: make([]error, len(messages))}
		b.publish(0, len(messages))
		answered <- b.errs
	}()
	select {
	case errs := <-answered:
		return outcome(errs)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, ctx.Err())
	}
}

// outcome returns the error of a call whose messages have these errors.
func outcome(errs []error) error {
	taken := slices.Contains(errs, nil)
	failed := slices.ContainsFunc(errs, func(err error) bool { return err != nil })
	switch {
	case !failed:
		return nil
	case !taken:
		return errs[0]
	default:
		return &bus.PartialError{Errs: errs}
	}
}

// maxFailures is the number of consecutive failed calls after which the Publisher counts as unavailable. A single bad
// message in a batch of 256 causes 9 failed calls.
const maxFailures = 16

// batch publishes the messages of one call. A Publisher's error does not name the message that it refused, so a
// failed batch is published again in halves until the bad messages are isolated.
type batch struct {
	ctx       context.Context //nolint:containedctx // the context of the one call of this batch
	publisher message.Publisher
	name      string
	messages  []*message.Message

	errs     []error // one for each message
	failures int     // consecutive
	last     error   // of the Publisher
}

// publish publishes the messages from..to and records their errors.
func (b *batch) publish(from, to int) {
	err := b.try(from, to)
	switch {
	case err == nil:
	case to-from > 1 && b.going():
		middle := from + (to-from)/2
		b.publish(from, middle)
		b.publish(middle, to)
	default:
		for i := from; i < to; i++ {
			// A Publisher may have published some of the messages.
			b.errs[i] = fmt.Errorf("%w: %w", bus.ErrOutcomeUnknown, err)
		}
	}
}

// going reports whether the Publisher may be called again.
func (b *batch) going() bool { return b.ctx.Err() == nil && b.failures < maxFailures }

func (b *batch) try(from, to int) error {
	if !b.going() {
		return cmp.Or(b.ctx.Err(), b.last)
	}
	err := b.publisher.Publish(b.name, b.messages[from:to]...)
	if err == nil {
		b.failures = 0
		return nil
	}
	b.failures, b.last = b.failures+1, err
	return err
}
