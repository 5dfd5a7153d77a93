// Package seldom keeps a log readable while something fails many times a second: it lets one line of
// many through.
//
// It imports pkg/timer only, for the clock, and never logs itself.
package seldom

import (
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Gate opens at most once in an interval.
type Gate struct {
	clock timer.Clock
	every time.Duration

	mu   sync.Mutex
	next timer.Millis
	held int
}

// NewGate returns a gate that is open.
func NewGate(clock timer.Clock, every time.Duration) *Gate { return &Gate{clock: clock, every: every} }

// Pass reports whether the caller may log, and how often it could not since it last could.
func (g *Gate) Pass() (held int, ok bool) {
	now := g.clock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if now < g.next {
		g.held++
		return 0, false
	}
	held, g.held = g.held, 0
	g.next = now.Add(g.every)
	return held, true
}
