// Package budget limits the unacknowledged due events to the number that dispatchers can hold, so that an event of a
// small namespace rarely waits in the due queue behind events of another namespace (rule I16 of docs/design.md).
//
// It imports pkg/bus and pkg/timer for their types only, does no I/O and reads no clock. It has a lock, because the
// sessions of all partitions share one budget.
package budget

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Budget gives credit for publications. Dispatchers take events up to their capacity. The budget learns the capacity:
// it is the number of events that dispatchers hold while other events wait. It leaves a part of the capacity free, so
// that dispatchers immediately take an event that was published without credit.
type Budget struct {
	min, max int
	wait     time.Duration
	// local: only this process publishes to the queue, so all credit is its own.
	local bool

	mu sync.Mutex
	// partitions is the number of partitions that the process owns.
	partitions int
	// left is the available credit, granted the credit after the last observation.
	left, granted int
	// limited: since the last observation, a call of Take got less than requested.
	limited bool
	// publishing is the credit of publishes in flight. published has the acknowledged publications that may be later
	// than the last floor.
	publishing int
	published  []publication
	// capacity is the believed capacity of the dispatchers. From probeAt on it may be raised.
	capacity int
	probeAt  timer.Millis
	// Since fullAt (0: not now) events have waited in the queue, while dispatchers held at most fullHeld.
	fullAt   timer.Millis
	fullHeld int
	// observedAt is the time of the last observation, and acked the number of events of each queue acknowledged by
	// then. rate is the number of acknowledgements per second.
	observedAt timer.Millis
	acked      map[int]int64
	rate       float64
}

// publication is used credit, with the position of the last event.
type publication struct {
	credit int
	last   bus.Position
}

const (
	// startCapacity is the initial capacity, as a multiple of the least number.
	startCapacity = 16
	// reserve is the free part of the capacity: one of reserve events.
	reserve = 10
	// probeEvery is how long a learnt capacity is believed before it is probed. Events wait while it is probed.
	probeEvery = 5 * time.Second
	// unlimited is the credit if the bus does not report how many events wait, so that the capacity cannot be learnt.
	unlimited = math.MaxInt32
)

// New returns a budget. least is how many events may be unacknowledged, even if dispatchers can hold fewer. most bounds
// the capacity. wait is twice the interval between two observations. local: only this process publishes to the queue.
func New(least, most int, wait time.Duration, local bool) *Budget {
	b := &Budget{min: least, max: max(least, most), wait: wait, local: local}
	b.capacity = min(startCapacity*least, b.max)
	b.left = b.depth()
	b.granted = b.left
	return b
}

// depth is how many events may be unacknowledged. If the capacity is small for the dispatchers' rate, they would often
// be without work between two observations; then some events may wait.
func (b *Budget) depth() int {
	ahead := max(0, int(b.rate*b.wait.Seconds())-b.capacity/2)
	return max(b.min, b.capacity-b.capacity/reserve+ahead)
}

// AddPartition adds a partition of the process, until RemovePartition.
func (b *Budget) AddPartition() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.partitions++
}

// RemovePartition removes a partition.
func (b *Budget) RemovePartition() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.partitions--
}

// Take takes up to n of the credit. One call gets at most a quarter of the granted credit, so that sessions share it.
func (b *Budget) Take(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	wanted := n
	n = max(0, min(n, b.left, max(1, b.granted/4)))
	b.limited = b.limited || n < wanted
	b.left -= n
	b.publishing += n
	return n
}

// Return returns unused credit.
func (b *Budget) Return(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
	b.publishing -= n
}

// Published ends a publication. credit is what it used. last is the position of its last event, or zero if it failed.
func (b *Budget) Published(credit int, last bus.Position) {
	if credit == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.publishing -= credit
	if last != (bus.Position{}) {
		b.published = append(b.published, publication{credit, last})
	}
}

// Left returns the available credit.
func (b *Budget) Left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

// Low reports whether at least half of the credit is used, so that a new observation is useful.
func (b *Budget) Low() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return 2*b.left <= b.granted
}

// Observe sets the credit by the state of the queue: to the process's share, by its partitions, of the events that may
// still be published. Publishes in flight, or later than the floors, count as waiting. If the number of waiting events
// is unknown, there is no limit.
func (b *Budget) Observe(now timer.Millis, floors bus.Floors) {
	waiting, held, done, known := count(floors)
	b.mu.Lock()
	defer b.mu.Unlock()
	free := unlimited
	if known {
		b.measure(now, done)
		b.learn(now, waiting, held)
		all := max(1, len(floors))
		if b.local {
			all = max(1, b.partitions)
		}
		free = (max(0, b.depth()-held-waiting)*b.partitions + all - 1) / all // rounded up, so it is 0 only if nothing is free
	}
	b.left = max(0, free-b.unconfirmed(floors))
	b.granted, b.limited = b.left, false
}

// measure updates the rate.
func (b *Budget) measure(now timer.Millis, done map[int]int64) {
	passed := now.Sub(b.observedAt)
	if b.observedAt == 0 || passed < 0 || passed > time.Second {
		b.observedAt, b.acked, b.rate, b.fullAt = now, done, 0, 0
		b.probeAt = min(b.probeAt, now.Add(probeEvery)) // the clock may have been set back
		return
	}
	var finished int64
	for queue, n := range done {
		before, seen := b.acked[queue]
		if !seen {
			continue
		}
		if n < before {
			return // the bus read the depth after the end; if the queue was created again, measure restarts after a second
		}
		finished += n - before
	}
	if passed >= b.wait/4 {
		// Acknowledgements come in batches, so a short interval has little weight.
		rate := float64(finished) / passed.Seconds()
		b.rate += (rate - b.rate) * min(1, float64(passed)/float64(8*b.wait))
		b.observedAt, b.acked = now, done
	}
}

// unconfirmed returns the credit of publications that are later than the floors.
func (b *Budget) unconfirmed(floors bus.Floors) int {
	n := b.publishing
	b.published = slices.DeleteFunc(b.published, func(p publication) bool {
		partition := int(p.last.Partition)
		if partition < len(floors) && !p.last.Before(floors[partition].End) {
			n += p.credit
			return false
		}
		return true
	})
	return n
}

// learn updates the capacity.
func (b *Budget) learn(now timer.Millis, waiting, held int) {
	switch {
	case waiting <= b.min/2:
		b.fullAt = 0
	case b.fullAt == 0:
		b.fullAt, b.fullHeld = now, held
	default:
		b.fullHeld = max(b.fullHeld, held)
		if now.Sub(b.fullAt) >= 2*b.wait { // otherwise dispatchers may be about to take them
			b.capacity, b.probeAt = b.fullHeld, now.Add(probeEvery)
			b.fullAt = 0
		}
	}
	if b.limited && waiting <= b.min/8 && 2*held >= b.capacity && now >= b.probeAt {
		// The capacity may be larger. The next step waits until this one has an effect.
		b.capacity += b.capacity/reserve + b.min
		b.probeAt = now.Add(2 * b.wait)
	}
	b.capacity = min(max(b.capacity, held), b.max)
}

// count returns how many events wait, how many dispatchers hold, and how many were ever acknowledged in each queue.
// known is false if the bus does not report how many events wait.
func count(floors bus.Floors) (waiting, held int, done map[int]int64, known bool) {
	done = make(map[int]int64, 1)
	for _, f := range floors {
		if f.Waiting == bus.WaitingUnknown {
			return 0, 0, nil, false
		}
		if _, twice := done[f.Queue]; twice {
			continue
		}
		waiting += f.Waiting
		held += f.Depth - f.Waiting
		done[f.Queue] = f.End.Offset - int64(f.Depth)
	}
	return waiting, held, done, true
}
