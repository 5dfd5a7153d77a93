package kafkabus

import (
	"context"

	"github.com/timerbus/timerbus/internal/bus/consume"
	"github.com/timerbus/timerbus/pkg/bus"
)

// liveSource reads one partition from its end. Kafka keeps hints for some time, so none is lost with a connection.
// Hints from before the session are not delivered, as the contract requires.
type liveSource struct {
	session *session
	feed    *feed
}

// start begins to read at the end that was looked up before the call of open.
func (l *liveSource) start(at place) {
	l.feed = l.session.membership.reader.open(int32(l.session.partition), at.end)
}

func (l *liveSource) next(ctx context.Context) (*bus.Delivery, error) {
	for {
		record, err := l.feed.next()
		if err != nil {
			return nil, err
		}
		if record != nil {
			return &bus.Delivery{
				Message:  decode(record),
				Position: bus.Position{Partition: l.session.partition},
				Time:     taken(record),
				Acker:    consume.NoAck{},
			}, nil
		}
		select {
		case <-l.feed.arrived:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *liveSource) finish(context.Context, bool) error {
	l.feed.close()
	return nil
}
