package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// MaxTries bounds how often a transaction runs if it conflicts with others. In each conflict, another transaction makes
// progress.
const MaxTries = 100

const maxPause = 20 * time.Millisecond

// Pause waits after a conflict so that other transactions make progress, longer after more conflicts. It returns false if
// ctx ended.
func Pause(ctx context.Context, try int) bool {
	if try < 2 {
		return ctx.Err() == nil
	}
	return timer.Sleep(ctx, rand.N(min(maxPause, time.Millisecond<<min(try, 10))))
}
