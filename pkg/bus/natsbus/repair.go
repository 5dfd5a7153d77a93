package natsbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/timer"
)

// repair makes the queue's stream and its consumer consistent after a crash of the server, which writes the two to
// disk at different times (decision 0022):
//
//   - The stream has messages at or below the consumer's ack floor: the acknowledgements are on disk, the removals
//     are not. The consumer never delivers these messages and the server never removes them, so repair purges them.
//   - The consumer has delivered sequences beyond the stream's end: the stream lost its newest messages, and the
//     consumer would skip the new messages that get these sequences. Servers repair this at startup (2.15 does, for
//     one replica). Otherwise repair recreates the consumer. It then delivers the whole stream again, and the row
//     check drops the events that are done.
func (r *reader) repair(ctx context.Context) error {
	b := r.source.session.bus
	// The consumer's state must be the older one: the stream's state then includes every message that the consumer
	// had delivered.
	consumer, err := b.consumer(ctx, r.stream, r.source.durable)
	if err != nil {
		return err
	}
	stream, err := b.info(ctx, r.stream)
	if err != nil {
		return err
	}
	delivered, floor := consumer.Delivered.Stream, consumer.AckFloor.Stream
	switch {
	case delivered > stream.State.LastSeq:
		if stream.Config.Replicas > 1 {
			if caughtUp, err := r.awaitSequence(ctx, delivered); err != nil || caughtUp {
				return err
			}
		}
		b.log.Warn("queue lost its newest messages, recreating the consumer",
			"stream", r.stream.name, "last", stream.State.LastSeq, "delivered", delivered)
		if err := r.deleteConsumer(ctx); err != nil {
			return err
		}
		return r.ensureConsumer(ctx)
	case stream.State.Msgs > 0 && stream.State.FirstSeq <= floor:
		b.log.Info("purging acknowledged messages", "stream", r.stream.name,
			"first", stream.State.FirstSeq, "ack_floor", floor)
		return r.purge(ctx, floor)
	default:
		return nil
	}
}

// awaitSequence waits, within the time of one request, until the stream's leader has a sequence. A new leader may
// reply before it has applied all committed entries.
func (r *reader) awaitSequence(ctx context.Context, seq uint64) (bool, error) {
	ctx, cancel := r.source.session.bus.brief(ctx)
	defer cancel()
	for timer.Sleep(ctx, 50*time.Millisecond) {
		stream, err := r.source.session.bus.state(ctx, r.stream)
		if ctx.Err() != nil {
			break
		}
		if err != nil || stream.State.LastSeq >= seq {
			return err == nil, err
		}
	}
	return false, nil
}

func (r *reader) deleteConsumer(ctx context.Context) error {
	ctx, cancel := r.source.session.bus.brief(ctx)
	defer cancel()
	err := r.source.session.bus.js.DeleteConsumer(ctx, r.stream.name, r.source.durable)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) { // another member has deleted it
		return fmt.Errorf("delete consumer %s of %s: %w", r.source.durable, r.stream.name, err)
	}
	return nil
}

// purge removes all messages up to and including the ack floor.
func (r *reader) purge(ctx context.Context, floor uint64) error {
	ctx, cancel := r.source.session.bus.brief(ctx)
	defer cancel()
	handle, err := r.source.session.bus.js.Stream(ctx, r.stream.name)
	if err == nil {
		err = handle.Purge(ctx, jetstream.WithPurgeSequence(floor+1))
	}
	if err != nil {
		return fmt.Errorf("purge %s up to %d: %w", r.stream.name, floor, err)
	}
	return nil
}
