package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// storeClock is the clock of a process: the store's clock, which all processes of a cluster share. Between two readings
// of it the clock advances with the machine's monotonic clock. Steps of the machine's wall clock therefore change
// nothing, unless the store reads the same wall clock (SQLite).
type storeClock struct {
	elapsed func() time.Duration // monotonic
	// offset is the present minus elapsed, in nanoseconds since 1970.
	offset atomic.Int64

	mu      sync.Mutex
	setBack chan struct{}
}

// newStoreClock makes a clock that shows the machine's time until read is called.
func newStoreClock() *storeClock {
	watch := timer.NewStopwatch()
	c := &storeClock{elapsed: watch.Elapsed, setBack: make(chan struct{})}
	c.offset.Store(time.Now().UnixNano() - int64(watch.Elapsed()))
	return c
}

// now is a timer.Clock.
func (c *storeClock) now() timer.Millis {
	return timer.FromTime(time.Unix(0, c.offset.Load()+int64(c.elapsed())))
}

// read reads the store's clock and returns by how much it changed this one, and how long the answer took. A store without
// room (store.ErrFull) does not return its time; the clock is then unchanged.
func (c *storeClock) read(ctx context.Context, s store.Cluster) (changed, took time.Duration, err error) {
	asked := c.elapsed()
	there, err := s.Ping(ctx)
	answered := c.elapsed()
	if errors.Is(err, store.ErrFull) {
		return 0, answered - asked, nil
	}
	if err != nil {
		return 0, answered - asked, fmt.Errorf("read the store's clock: %w", err)
	}
	return c.observe(asked, answered, there), answered - asked, nil
}

// observe corrects the clock by one reading: the store's clock showed there at some moment between asked and answered. The
// change is the smallest that agrees with the reading.
func (c *storeClock) observe(asked, answered time.Duration, there timer.Millis) (changed time.Duration) {
	shown := there.Time().UnixNano() // truncated to a millisecond
	least := shown - int64(answered)
	most := shown + int64(time.Millisecond) - 1 - int64(asked)
	was := c.offset.Load()
	is := min(max(was, least), most)
	c.offset.Store(is)
	changed = time.Duration(is - was)
	if changed < -clockBound {
		c.mu.Lock()
		close(c.setBack)
		c.setBack = make(chan struct{})
		c.mu.Unlock()
	}
	return changed
}

// nextSetBack is closed when the clock is next set back by more than the clock bound.
func (c *storeClock) nextSetBack() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.setBack
}
