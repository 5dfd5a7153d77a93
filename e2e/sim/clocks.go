package sim

import (
	"context"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// readClockEvery is the interval at which a node reads the store's clock.
const readClockEvery = 500 * time.Millisecond

type clocks struct {
	world *World
	right store.Machine

	mu sync.Mutex
	// wall and monotonic are how far each clock is ahead.
	wall, monotonic time.Duration
	// silentUntil is until when the store's clock cannot be read, by the world's time.
	silentUntil time.Duration
}

func newClocks(w *World) *clocks { return &clocks{world: w, right: store.ThisMachine()} }

// machine implements store.Machine.
func (c *clocks) machine() (wall time.Time, elapsed time.Duration) {
	wall, elapsed = c.right()
	c.mu.Lock()
	defer c.mu.Unlock()
	return wall.Add(c.wall).Round(0), elapsed + c.monotonic
}

func (c *clocks) step(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall += by
}

func (c *clocks) jump(by, silent time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.monotonic += by
	c.silentUntil = max(c.silentUntil, c.world.since()+silent)
}

func (c *clocks) silent() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.world.since() < c.silentUntil && !c.world.isHealed()
}

// now is the process's clock; settled is the same for times that are stored.
func (l *life) now() timer.Millis     { return l.clock.Now().Add(l.node.offset) }
func (l *life) settled() timer.Millis { return l.clock.Settled().Add(l.node.offset) }

func (l *life) readClock(ctx context.Context) {
	_, _, _ = l.clock.Read(ctx, &l.reader) //nolint:dogsled // the clock records the outcome.
}

// clockReader reads the store's clock for a process. It is separate from the process's other calls, which the plan
// counts.
type clockReader struct {
	store.Cluster

	life   *life
	random func() uint64 // nil before the process starts: then answers take no time
}

// Time implements store.Cluster. Some answers are too slow for a precise reading.
func (c *clockReader) Time(ctx context.Context) (store.Instant, error) {
	if err := c.travel(ctx); err != nil {
		return store.Instant{}, err
	}
	now := store.Instant{At: timer.SystemClock(), Within: time.Millisecond}
	return now, c.travel(ctx)
}

// travel takes the time of a request or an answer.
func (c *clockReader) travel(ctx context.Context) error {
	if c.random != nil {
		most := 15 * time.Millisecond
		if c.random()%16 == 0 {
			most = 400 * time.Millisecond
		}
		sleep(ctx, time.Duration(c.random()%uint64(most)))
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, cut := c.life.handle.cut(); cut || c.life.handle.dead.Load() || c.life.node.clocks.silent() {
		return store.ErrUnavailable
	}
	return nil
}
