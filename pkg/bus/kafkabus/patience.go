package kafkabus

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// patience is how long a question is asked again that a broker cannot answer yet: brokers hear of a new
// topic, leader or coordinator one after another. Connect, which may have made the topics, has more.
const (
	patience        = 3 * time.Second
	connectPatience = 30 * time.Second
)

// patiently asks again while the answer is one that changes by itself.
func patiently(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil || !passing(err) || !pause(ctx, 30*time.Millisecond) {
			return err
		}
	}
}

// unreachable reports whether nobody was there to say what is wrong, or nobody who could decide yet.
func unreachable(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || passing(err)
}

// passing reports whether an error is a broker's that the same question may not get again.
func passing(err error) bool {
	if shards, ok := errors.AsType[*kadm.ShardErrors](err); ok {
		for _, e := range shards.Errs {
			if !passing(e.Err) {
				return false
			}
		}
		return len(shards.Errs) > 0
	}
	_, cut := errors.AsType[*kgo.ErrFirstReadEOF](err)
	return kerr.IsRetriable(err) || cut || errors.Is(err, context.DeadlineExceeded) // of a question within this one
}
