package faultstore

import (
	"context"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Ahead is how far each clock is ahead of the right time.
type Ahead struct {
	// Store is the store's clock.
	Store time.Duration
	// Wall and Monotonic are the clocks of the process's machine.
	Wall, Monotonic time.Duration
}

// Clocks are the clocks that a process uses. A test can make them wrong.
type Clocks struct {
	store.Cluster

	machine store.Machine
	mu      sync.Mutex
	ahead   Ahead
	away    bool
}

// NewClocks returns clocks that show the right time.
func NewClocks() *Clocks { return &Clocks{machine: store.ThisMachine()} }

// Set sets the clocks.
func (c *Clocks) Set(ahead Ahead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}

// SetAway decides whether readings of the store's clock fail.
func (c *Clocks) SetAway(away bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away = away
}

// Machine is a store.Machine.
func (c *Clocks) Machine() (wall time.Time, elapsed time.Duration) {
	wall, elapsed = c.machine()
	c.mu.Lock()
	defer c.mu.Unlock()
	return wall.Add(c.ahead.Wall), elapsed + c.ahead.Monotonic
}

// Time implements store.Cluster.
func (c *Clocks) Time(context.Context) (store.Instant, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return store.Instant{}, store.ErrUnavailable
	}
	return store.Instant{At: timer.SystemClock().Add(c.ahead.Store), Within: time.Millisecond}, nil
}

// Start returns a clock of a process that shares the store with others. It reads the store's clock every 500 ms until
// stop is called.
func (c *Clocks) Start(ctx context.Context) (clock *store.Clock, stop func()) {
	clock = store.NewClock(store.ClockConfig{Bound: 250 * time.Millisecond, Shared: true, Machine: c.Machine})
	read := func(ctx context.Context) { _, _, _ = clock.Read(ctx, c) }
	read(ctx)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { clock.Run(ctx, 500*time.Millisecond, read) })
	return clock, func() { cancel(); running.Wait() }
}
