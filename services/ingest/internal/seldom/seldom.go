// Package seldom keeps a log readable while something fails many times a second: it lets one line of
// many through.
//
// It imports pkg/timer only, for the stopwatch, and never logs itself.
package seldom

import (
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Gate opens at most once in an interval.
type Gate struct {
	watch timer.Stopwatch
	every time.Duration

	mu   sync.Mutex
	next time.Duration // by watch, so that setting the wall clock does not silence the log
	held int
}

// NewGate returns a gate that is open.
func NewGate(every time.Duration) *Gate { return &Gate{watch: timer.NewStopwatch(), every: every} }

// Pass reports whether the caller may log, and how often it could not since it last could.
func (g *Gate) Pass() (held int, ok bool) {
	now := g.watch.Elapsed()
	g.mu.Lock()
	defer g.mu.Unlock()
	if now < g.next {
		g.held++
		return 0, false
	}
	held, g.held = g.held, 0
	g.next = now + g.every
	return held, true
}
