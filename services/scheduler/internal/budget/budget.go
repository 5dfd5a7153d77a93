// Package budget bounds how many due events wait in the due queue for a dispatcher, so that an event of a small namespace
// never has many events of another one in front of it (rule I16 of docs/design.md).
//
// It imports pkg/bus and pkg/timer for their types only, does no I/O and reads no clock. It has a lock, because the sessions of
// all partitions share one budget.
package budget

import (
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Budget gives credit for publications. What may wait is doubled while dispatchers take all of it, so that they never wait
// for schedulers, and reduced to what they take in a given time when more waits, but not below a least number.
type Budget struct {
	least, most int
	wait        time.Duration

	mu     sync.Mutex
	left   int
	target int
	taken  uint64
	// The last observation: when, and how many events dispatchers had taken by then. rate is how many they take in a second.
	at   timer.Millis
	done int64
	rate float64
}

// New makes a budget for at least so many waiting events and at most so many, and between the two for as many as dispatchers
// take in a time.
func New(least, most int, wait time.Duration) *Budget {
	return &Budget{least: least, most: max(least, most), wait: wait, left: least, target: least}
}

// Take takes up to n of the credit. One call gets no more than a quarter of the target, so that sessions share it.
func (b *Budget) Take(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = max(0, min(n, b.left, max(1, b.target/4)))
	b.left -= n
	b.taken += uint64(n)
	return n
}

// Return gives back what was not used.
func (b *Budget) Return(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
	b.taken -= uint64(n)
}

// Left is the credit that there is.
func (b *Budget) Left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// Low reports that half of the credit is used, so that the queue is worth looking at.
func (b *Budget) Low() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return 2*b.left < b.target
}

// Mark is the state of the budget before floors are requested, for Observe.
func (b *Budget) Mark() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// Observe sets the credit by what waits in the queue. Credit that was taken since mark counts as waiting.
func (b *Budget) Observe(now timer.Millis, mark uint64, floors bus.Floors) {
	waiting, done := count(floors)
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.at); b.at == 0 || done < b.done || passed < 0 || passed > time.Second {
		b.at, b.done, b.rate = now, done, 0
	} else if passed >= b.wait/4 {
		rate := float64(done-b.done) / passed.Seconds()
		b.rate += (rate - b.rate) / 4
		b.at, b.done = now, done
	}
	switch inTime := max(b.least, int(b.rate*b.wait.Seconds())); {
	case waiting > inTime:
		b.target = inTime
	case 2*b.left < b.target && 8*waiting <= b.target:
		b.target = min(2*b.target, b.most)
	}
	b.left = max(0, b.target-waiting-int(b.taken-mark))
}

// count returns how many events wait, and how many were ever taken. Where all partitions are one queue, each entry counts all
// of them.
func count(floors bus.Floors) (waiting int, done int64) {
	for i, f := range floors {
		if i > 0 && f.End.Offset == floors[0].End.Offset && f.Depth == floors[0].Depth && f.Waiting == floors[0].Waiting {
			continue
		}
		waiting += f.Waiting
		done += f.End.Offset - int64(f.Waiting)
	}
	return waiting, done
}
