package natsbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
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
func (q *queueSource) repair(ctx context.Context) error {
	b := q.session.bus
	// The consumer's state must be the older one: the stream's state then includes all that it had delivered.
	consumer, err := b.consumer(ctx, q.stream, q.durable)
	if err != nil {
		return err
	}
	stream, err := b.info(ctx, q.stream)
	if err != nil {
		return err
	}
	delivered, floor := consumer.Delivered.Stream, consumer.AckFloor.Stream
	switch {
	case delivered > stream.State.LastSeq:
		if stream.Config.Replicas > 1 {
			if caughtUp, err := q.awaitSequence(ctx, delivered); err != nil || caughtUp {
				return err
			}
		}
		b.log.Warn("queue lost its newest messages, recreating the consumer",
			"stream", q.stream.name, "last", stream.State.LastSeq, "delivered", delivered)
		if err := q.deleteConsumer(ctx); err != nil {
			return err
		}
		return q.ensureConsumer(ctx)
	case stream.State.Msgs > 0 && stream.State.FirstSeq <= floor:
		b.log.Info("purging acknowledged messages", "stream", q.stream.name,
			"first", stream.State.FirstSeq, "ack_floor", floor)
		return q.purge(ctx, floor)
	default:
		return nil
	}
}

// awaitSequence waits, within the time of one request, until the stream's leader has a sequence. A new leader may
// reply before it has applied all committed entries.
func (q *queueSource) awaitSequence(ctx context.Context, seq uint64) (bool, error) {
	ctx, cancel := q.session.bus.brief(ctx)
	defer cancel()
	for pause(ctx, 50*time.Millisecond) {
		stream, err := q.session.bus.state(ctx, q.stream)
		if ctx.Err() != nil {
			break
		}
		if err != nil || stream.State.LastSeq >= seq {
			return err == nil, err
		}
	}
	return false, nil
}

func (q *queueSource) deleteConsumer(ctx context.Context) error {
	ctx, cancel := q.session.bus.brief(ctx)
	defer cancel()
	err := q.session.bus.js.DeleteConsumer(ctx, q.stream.name, q.durable)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) { // another member has deleted it
		return fmt.Errorf("delete consumer %s of %s: %w", q.durable, q.stream.name, err)
	}
	return nil
}

// purge removes all messages up to and including the ack floor.
func (q *queueSource) purge(ctx context.Context, floor uint64) error {
	ctx, cancel := q.session.bus.brief(ctx)
	defer cancel()
	handle, err := q.session.bus.js.Stream(ctx, q.stream.name)
	if err == nil {
		err = handle.Purge(ctx, jetstream.WithPurgeSequence(floor+1))
	}
	if err != nil {
		return fmt.Errorf("purge %s up to %d: %w", q.stream.name, floor, err)
	}
	return nil
}
