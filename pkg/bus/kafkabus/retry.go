package kafkabus

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/pkg/timer"
)

// retryFor is how long a request is retried while a broker cannot answer it yet: a new topic, leader or coordinator
// becomes known to the brokers one after another. Connect, which may have created the topics, retries for longer.
const (
	retryFor        = 3 * time.Second
	connectRetryFor = 30 * time.Second
)

// retryTransient retries while the error is transient.
func retryTransient(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil || !transient(err) || !timer.Sleep(ctx, 30*time.Millisecond) {
			return err
		}
	}
}

// unreachable reports whether no broker responded, or no broker could decide yet.
func unreachable(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || transient(err)
}

func transient(err error) bool {
	if shards, ok := errors.AsType[*kadm.ShardErrors](err); ok {
		for _, e := range shards.Errs {
			if !transient(e.Err) {
				return false
			}
		}
		return len(shards.Errs) > 0
	}
	_, cut := errors.AsType[*kgo.ErrFirstReadEOF](err)
	return kerr.IsRetriable(err) || cut || errors.Is(err, context.DeadlineExceeded) // the deadline of a nested request
}
