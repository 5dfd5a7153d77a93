package natsbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// repair makes the queue's stream and its consumer agree. A server that is killed may have written the one
// later than the other (decision 0022):
//
//   - The stream has messages at or below the consumer's ack floor: their acknowledgement is on the disk, their
//     removal is not. The consumer never delivers them, and nothing else removes them: they are purged.
//   - The consumer has delivered beyond the stream's end: the stream lost its newest messages, and the
//     consumer takes what gets their sequences next for delivered. Servers mend that themselves when they start
//     (2.15 does, for streams with one replica). Otherwise the consumer is made again; it then delivers
//     everything that the stream has, and the row check drops what is done.
func (q *queueSource) repair(ctx context.Context) error {
	b := q.session.bus
	// The consumer first: what it had delivered by then is in the stream's state.
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
			if behind, err := q.behind(ctx, delivered); err != nil || behind {
				return err
			}
		}
		b.log.Warn("queue has lost messages, making its consumer again",
			"stream", q.stream.name, "last", stream.State.LastSeq, "delivered", delivered)
		if err := q.dropConsumer(ctx); err != nil {
			return err
		}
		return q.ensureConsumer(ctx)
	case stream.State.Msgs > 0 && stream.State.FirstSeq <= floor:
		b.log.Info("removing acknowledged messages that came back", "stream", q.stream.name,
			"first", stream.State.FirstSeq, "ack_floor", floor)
		return q.purge(ctx, floor)
	default:
		return nil
	}
}

// behind waits, as long as a question may take, for a new leader of the stream to apply what was delivered.
func (q *queueSource) behind(ctx context.Context, delivered uint64) (bool, error) {
	ctx, cancel := q.session.bus.brief(ctx)
	defer cancel()
	for pause(ctx, 50*time.Millisecond) {
		stream, err := q.session.bus.state(ctx, q.stream)
		if ctx.Err() != nil {
			break
		}
		if err != nil || stream.State.LastSeq >= delivered {
			return true, err
		}
	}
	return false, nil
}

func (q *queueSource) dropConsumer(ctx context.Context) error {
	ctx, cancel := q.session.bus.brief(ctx)
	defer cancel()
	err := q.session.bus.js.DeleteConsumer(ctx, q.stream.name, q.durable)
	if err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) { // another member was faster
		return fmt.Errorf("delete consumer %s of %s: %w", q.durable, q.stream.name, err)
	}
	return nil
}

// purge removes what lies at or below an ack floor.
func (q *queueSource) purge(ctx context.Context, floor uint64) error {
	ctx, cancel := q.session.bus.brief(ctx)
	defer cancel()
	handle, err := q.session.bus.js.Stream(ctx, q.stream.name)
	if err == nil {
		err = handle.Purge(ctx, jetstream.WithPurgeSequence(floor+1))
	}
	if err != nil {
		return fmt.Errorf("remove acknowledged messages from %s: %w", q.stream.name, err)
	}
	return nil
}
