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

// Budget gives credit for publications. Dispatchers always hold as many events as they may, so what they hold while others
// wait is their capacity. The credit is the capacity that is free, and what dispatchers finish in a given time, less the
// events that wait.
type Budget struct {
	least, most int
	wait        time.Duration

	mu sync.Mutex
	// left is the credit, target what it was after the last observation, and taken all that was ever taken.
	left, target int
	taken        uint64
	// capacity is how many events dispatchers hold at most. It is not known until events wait.
	capacity int
	// The last observation: when, and how many events were acknowledged by then. rate is how many are in a second.
	at   timer.Millis
	done int64
	rate float64
}

// startCapacity is how many times the least number of waiting events the capacity is before it is known.
const startCapacity = 16

// New makes a budget under which at least so many events may wait, and as many as dispatchers finish in a time. most
// bounds the capacity.
func New(least, most int, wait time.Duration) *Budget {
	b := &Budget{least: least, most: max(least, most), wait: wait}
	b.capacity = min(startCapacity*least, b.most)
	b.target = b.least + b.capacity
	b.left = b.target
	return b
}

// Take takes up to n of the credit. One call gets no more than a quarter of it all, so that sessions share it.
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
	return b.low()
}

func (b *Budget) low() bool { return 2*b.left < b.target }

// Mark is the state of the budget before floors are requested, for Observe.
func (b *Budget) Mark() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken
}

// Observe sets the credit by the state of the queue. Credit that was taken since mark counts as waiting.
func (b *Budget) Observe(now timer.Millis, mark uint64, floors bus.Floors) {
	waiting, held, done := count(floors)
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.at); b.at == 0 || done < b.done || passed < 0 || passed > time.Second {
		b.at, b.done, b.rate = now, done, 0
	} else if passed >= b.wait/4 {
		// Acknowledgements come in batches, so a short interval counts little.
		rate := float64(done-b.done) / passed.Seconds()
		b.rate += (rate - b.rate) * min(1, float64(passed)/float64(4*b.wait))
		b.at, b.done = now, done
	}
	mayWait := max(b.least, int(b.rate*b.wait.Seconds()))
	switch {
	case waiting > mayWait && held < b.capacity:
		// Dispatchers do not take what waits: they hold all that they can. Their number varies while they fetch more.
		b.capacity -= (b.capacity - held + 3) / 4
	case waiting == 0 && b.low() && held >= b.capacity-b.capacity/16:
		b.capacity += max(b.least, b.capacity/4) // it may be more
	}
	b.capacity = min(max(b.capacity, held), b.most)
	b.target = mayWait + b.capacity - min(held, b.capacity)
	b.left = max(0, b.target-waiting-int(b.taken-mark))
}

// count returns how many events wait, how many dispatchers hold, and how many were ever acknowledged. Where partitions share
// a queue, each of their entries counts all of it.
func count(floors bus.Floors) (waiting, held int, done int64) {
	type queue struct {
		incarnation, end int64
		depth, waiting   int
	}
	seen := make(map[queue]struct{}, 1)
	for _, f := range floors {
		q := queue{f.End.Incarnation, f.End.Offset, f.Depth, f.Waiting}
		if _, twice := seen[q]; twice {
			continue
		}
		seen[q] = struct{}{}
		waiting += f.Waiting
		held += f.Depth - f.Waiting
		done += f.End.Offset - int64(f.Depth)
	}
	return waiting, held, done
}
