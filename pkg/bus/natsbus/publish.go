package natsbus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus"
)

// maxPending bounds the messages on their way to the server, over all Publish calls. Beyond it
// Publish waits (the client's default is to give up after 200 ms, which a burst exceeds).
const maxPending = 4096

// Publish implements bus.Bus.
func (b *Bus) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if err := b.check(topic, messages); err != nil {
		return nil, err
	}
	if len(messages) == 0 {
		return nil, nil
	}
	if b.isClosed() {
		return nil, fmt.Errorf("publish to %s: %w", topic, bus.ErrClosed)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, err)
	}
	if topic.Kind() == bus.KindHints {
		return b.publishHints(topic, messages)
	}
	return b.publishStored(ctx, topic, messages)
}

func (b *Bus) publishHints(topic bus.Topic, messages []bus.Message) ([]bus.Position, error) {
	for i := range messages {
		if err := b.nc.PublishMsg(b.opts.encode(topic, &messages[i])); err != nil {
			return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, err)
		}
	}
	return make([]bus.Position, len(messages)), nil
}

func (b *Bus) publishStored(ctx context.Context, topic bus.Topic, messages []bus.Message) ([]bus.Position, error) {
	s := b.streams[topic]
	before := s.high.Load()
	futures := make([]jetstream.PubAckFuture, 0, len(messages))
	var failed error
	for i := range messages {
		f, err := b.js.PublishMsgAsync(b.opts.encode(topic, &messages[i]), jetstream.WithStallWait(b.opts.AckTimeout))
		if err != nil {
			failed = fmt.Errorf("send message %d of %d: %w", i+1, len(messages), err)
			break
		}
		futures = append(futures, f)
	}
	// Every answer is awaited, whatever the first failure was: only together they tell whether
	// nothing was taken.
	maybe := false // some message was or may have been taken
	positions := make([]bus.Position, len(messages))
	for i, f := range futures {
		ack, err := await(ctx, f)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("message %d of %d: %w", i+1, len(messages), err))
			maybe = maybe || !refused(err)
			if ctx.Err() != nil {
				maybe = true
				break
			}
			continue
		}
		maybe = true
		if !ack.Duplicate && ack.Sequence <= before {
			// The stream was made anew behind our back; its positions are of a newer incarnation.
			if _, err := b.info(ctx, s); err != nil {
				failed = errors.Join(failed, err)
			}
			before = 0
		}
		s.saw(ack.Sequence)
		positions[i] = s.position(messages[i].Partition, ack.Sequence)
	}
	if failed == nil {
		return positions, nil
	}
	var api *jetstream.APIError
	switch {
	case errors.As(failed, &api) && api.ErrorCode == codeTooLarge:
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrTooLarge, failed)
	case maybe:
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrOutcomeUnknown, failed)
	default:
		return nil, fmt.Errorf("publish to %s: %w: %w", topic, bus.ErrUnavailable, failed)
	}
}

// codeTooLarge is the server's "message size exceeds maximum allowed".
const codeTooLarge jetstream.ErrorCode = 10054

// saw notes a sequence that was given out.
func (s *stream) saw(seq uint64) {
	for high := s.high.Load(); seq > high; high = s.high.Load() {
		if s.high.CompareAndSwap(high, seq) {
			return
		}
	}
}

func await(ctx context.Context, f jetstream.PubAckFuture) (*jetstream.PubAck, error) {
	select {
	case ack := <-f.Ok():
		return ack, nil
	case err := <-f.Err():
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// refused reports whether the error is the server's word that it did not take the message.
func refused(err error) bool {
	var js jetstream.JetStreamError
	var api *jetstream.APIError
	return errors.As(err, &api) ||
		errors.As(err, &js) && js.APIError() != nil ||
		errors.Is(err, nats.ErrNoResponders) ||
		errors.Is(err, jetstream.ErrNoStreamResponse)
}
