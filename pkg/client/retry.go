package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// repeatable means that applying a call twice has the same effect as applying it once.
type repeatable bool

type retry struct {
	tries   int
	longest time.Duration
}

const firstPause = 100 * time.Millisecond

func defaultRetry() retry { return retry{tries: 4, longest: 5 * time.Second} }

// pause decides whether to retry after the try-th try failed, and after which time.
func (r retry) pause(try int, repeat repeatable, err error) (pause time.Duration, again bool) {
	if try >= r.tries || errors.Is(err, context.Canceled) {
		return 0, false
	}
	// Half of the pause is random, so that callers that failed together do not retry together.
	pause = min(firstPause<<min(try-1, 16), r.longest)
	pause = pause/2 + rand.N(pause/2+1)
	var answered *Error
	switch {
	case !errors.As(err, &answered):
		return pause, bool(repeat) || neverConnected(err)
	case answered.Status != http.StatusTooManyRequests && answered.Status != http.StatusServiceUnavailable:
		return 0, false
	default:
		return max(pause, answered.retryAfter), answered.retryAfter <= r.longest
	}
}

// neverConnected reports whether the request cannot have reached the server.
func neverConnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
