package dispatcher

import (
	"container/heap"
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// board knows every delivery of this process and decides who may start. It does no I/O and reads no
// clock; what has to happen is returned.
//
// Two bounds apply. A slot is held from before the row check until the attempt has given a result, so
// that a checked row is started at once (I7). Room is held until the outcome is in the store, so that a
// slow store stops the intake before it fills the memory.
//
// A suspect (a timer with two or more starts and no result, I13) is started alone: it waits until every
// other delivery has ended or holds a row lease, and nothing starts until it has ended or holds one
// itself. Whoever kills its process does so early, as a rule, and whoever is merely slow must not stop
// the others for minutes. A suspect near its last start is kept apart from all other suspects even while
// they or it hold leases: otherwise a poison timer and a slow innocent could meet again and again, and
// reach N together. Suspects wait without being counted; only a start counts.
type board struct {
	slotLimit, roomLimit, batchLimit int
	interval, holdFor                time.Duration

	// wake has a token when next may answer differently; aging when byAge was empty and is not.
	wake, aging chan struct{}
	// idle is closed when the board is closed and nothing holds room.
	idle chan struct{}

	mu       sync.Mutex
	closed   bool
	told     bool // idle is closed
	checking bool // the checker has a batch
	known    map[state]*delivery
	early    earlyHeap   // their time has not come
	ready    []*delivery // for a row check, in order of arrival
	suspects []*delivery // to be alone, in order of arrival
	byAge    *list.List  // of *delivery with messages, by deadline

	slots, room int       // in use
	exposed     int       // would be lost with the process: begun, neither settled nor leased
	alone       *delivery // the suspect that has begun and holds no lease yet
	apart       int       // suspects that have begun, leased or not
	last        *delivery // the one of them that is near its last start
	// fair lets a batch of others go between two suspects.
	fair bool
}

// state names one state of one timer.
type state struct {
	uuid     timer.UUID
	revision timer.Revision
}

func newBoard(c *Config) *board {
	return &board{
		slotLimit: c.Concurrency, roomLimit: c.Room, batchLimit: c.Batch,
		interval: c.LeaseAfter, holdFor: c.HoldFor,
		wake: make(chan struct{}, 1), aging: make(chan struct{}, 1), idle: make(chan struct{}),
		known: map[state]*delivery{}, byAge: list.New(),
	}
}

// admit takes in a due event. If the same state is being delivered already, the message joins that
// delivery, to be acknowledged with it, and fresh is false.
func (b *board) admit(d *delivery, m *bus.Delivery, now timer.Millis, elapsed time.Duration) (fresh bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || d.session.gone {
		return true // not acknowledged: it comes again elsewhere
	}
	if running := b.known[d.state()]; running != nil {
		running.messages = append(running.messages, m)
		b.watch(running, elapsed)
		return false
	}
	d.messages, d.since = append(d.inline[:0], m), elapsed
	b.known[d.state()] = d
	d.keys = append(d.keys, d.state())
	b.watch(d, elapsed)
	if d.dueAt > now {
		d.stage = stageEarly
		heap.Push(&b.early, d)
	} else {
		d.stage = stageReady
		b.ready = append(b.ready, d)
	}
	signal(b.wake)
	return true
}

// next returns deliveries to check and start now, each with its slot. alone says that it is one suspect.
// Without any, wait tells when the next one's time comes; 0 if none waits for its time.
func (b *board) next(now timer.Millis) (found []*delivery, alone bool, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.checking = len(found) > 0 }()
	for len(b.early) > 0 && b.early[0].dueAt <= now {
		d := heap.Pop(&b.early).(*delivery)
		d.stage = stageReady
		b.ready = append(b.ready, d)
	}
	if len(b.early) > 0 {
		wait = b.early[0].dueAt.Sub(now)
	}
	if b.alone != nil {
		return nil, false, wait
	}
	room := min(b.slotLimit-b.slots, b.roomLimit-b.room)
	others := max(min(len(b.ready), room, b.batchLimit), 0)
	if b.suspectMay() && (!b.fair || others == 0) {
		if b.exposed > 0 || room <= 0 {
			return nil, false, wait // what runs ends or takes a lease; then it is the suspect's turn
		}
		d := b.suspects[0]
		b.suspects = slices.Delete(b.suspects, 0, 1)
		b.alone, b.fair = d, true
		b.reserve(d)
		d.apart = true
		b.apart++
		if d.last {
			b.last = d
		}
		return []*delivery{d}, true, wait
	}
	if others == 0 {
		return nil, false, wait
	}
	b.fair = false
	found = slices.Clone(b.ready[:others])
	b.ready = slices.Delete(b.ready, 0, others)
	for _, d := range found {
		b.reserve(d)
	}
	return found, false, wait
}

// suspectMay reports whether the first suspect may begin as far as other suspects go.
func (b *board) suspectMay() bool {
	return len(b.suspects) > 0 && b.last == nil && (b.apart == 0 || !b.suspects[0].last)
}

func (b *board) reserve(d *delivery) {
	d.stage = stageChecking
	d.slot, d.roomy = true, true
	b.slots++
	b.room++
}

// start tells that the row check was passed; false means that the delivery's session has ended
// meanwhile and it must not start.
func (b *board) start(d *delivery, elapsed time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || d.session.gone {
		b.remove(d)
		return false
	}
	b.expose(d)
	// The lease is counted from here.
	b.unwatch(d)
	b.watch(d, elapsed)
	return true
}

// expose marks a delivery whose work would be lost if its session or its process ended now.
func (b *board) expose(d *delivery) {
	d.stage = stageRunning
	d.exposed = true
	b.exposed++
	d.session.exposed++
}

func (b *board) cover(d *delivery) {
	if d.exposed {
		d.exposed = false
		b.exposed--
		d.session.exposed--
		d.session.tell()
	}
}

// withdraw takes a checked delivery, or one that waited too long, out of turn for a write that is not an
// attempt: parking or postponement. It keeps its room.
func (b *board) withdraw(d *delivery) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || d.session.gone {
		b.remove(d)
		return false
	}
	b.freeSlot(d)
	b.expose(d)
	d.concluding = true
	return true
}

// hold puts a delivery back whose row says that its time has not come.
func (b *board) hold(d *delivery, until timer.Millis) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || d.session.gone {
		b.remove(d)
		return
	}
	b.free(d)
	d.dueAt, d.stage = until, stageEarly
	heap.Push(&b.early, d)
	signal(b.wake)
}

// suspect lets a delivery wait to be alone; last says that it is near its last start.
func (b *board) suspect(d *delivery, last bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || d.session.gone {
		b.remove(d)
		return
	}
	b.free(d)
	d.stage, d.last = stageSuspected, last
	b.suspects = append(b.suspects, d)
	signal(b.wake)
}

// answered gives the slot back: the attempt has a result.
func (b *board) answered(d *delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.freeSlot(d)
}

// leased tells that the row is leased, now under another revision, or that it has changed under the
// delivery (revision 0): either way the messages may be acknowledged, and nobody waits for it any more.
func (b *board) leased(d *delivery, revision timer.Revision) []*bus.Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	if revision != 0 {
		key := state{uuid: d.ref.UUID, revision: revision}
		b.known[key] = d
		d.keys = append(d.keys, key)
		if len(d.keys) > 2 {
			// The states before were acknowledged: what still names them is stale.
			delete(b.known, d.keys[0])
			d.keys = slices.Delete(d.keys, 0, 1)
		}
	}
	b.cover(d)
	if b.alone == d {
		b.alone = nil
	}
	signal(b.wake)
	return b.take(d)
}

// conclude tells that the outcome is about to be written: no lease begins any more. It returns the one
// that runs.
func (b *board) conclude(d *delivery) *lease {
	b.mu.Lock()
	defer b.mu.Unlock()
	d.concluding = true
	return d.lease
}

// settle removes a delivery and returns what to acknowledge, if the outcome is known.
func (b *board) settle(d *delivery) []*bus.Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	messages := b.take(d)
	b.remove(d)
	return messages
}

// remove forgets a delivery wherever it stands.
func (b *board) remove(d *delivery) {
	b.unwatch(d)
	b.free(d)
	b.cover(d)
	for _, key := range d.keys {
		if b.known[key] == d {
			delete(b.known, key)
		}
	}
	d.stage, d.messages = stageSettled, nil
	b.tell()
}

// free gives back what next reserved.
func (b *board) free(d *delivery) {
	b.freeSlot(d)
	if d.roomy {
		d.roomy = false
		b.room--
	}
	if b.alone == d {
		b.alone = nil
	}
	if d.apart {
		d.apart = false
		b.apart--
	}
	if b.last == d {
		b.last = nil
	}
	signal(b.wake)
}

func (b *board) freeSlot(d *delivery) {
	if d.slot {
		d.slot = false
		b.slots--
		signal(b.wake)
	}
}

func (b *board) take(d *delivery) []*bus.Delivery {
	messages := d.messages
	d.messages = nil
	b.unwatch(d)
	return messages
}

// tell closes idle when it is time.
func (b *board) tell() {
	if b.closed && b.room == 0 && !b.told {
		b.told = true
		close(b.idle)
	}
}

// running is how many deliveries hold room.
func (b *board) running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.room
}

// close ends the intake: what has not started is forgotten, unacknowledged.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.forget(func(*delivery) bool { return true })
	b.tell()
}

// leave ends one session: what it brought and has not started is forgotten.
func (b *board) leave(s *session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.gone = true
	b.forget(func(d *delivery) bool { return d.session == s })
	s.tell()
}

func (b *board) forget(which func(*delivery) bool) {
	for _, waiting := range []*[]*delivery{(*[]*delivery)(&b.early), &b.ready, &b.suspects} {
		kept := (*waiting)[:0]
		for _, d := range *waiting {
			if which(d) {
				b.remove(d)
			} else {
				kept = append(kept, d)
			}
		}
		clear((*waiting)[len(kept):])
		*waiting = kept
	}
	heap.Init(&b.early)
}

func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default: // there is one
	}
}

// earlyHeap orders by due_at, then by arrival of the state: simulations must repeat.
type earlyHeap []*delivery

func (h earlyHeap) Len() int { return len(h) }
func (h earlyHeap) Less(i, j int) bool {
	if h[i].dueAt != h[j].dueAt {
		return h[i].dueAt < h[j].dueAt
	}
	return h[i].ref.UUID.Compare(h[j].ref.UUID) < 0
}
func (h earlyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *earlyHeap) Push(x any)   { *h = append(*h, x.(*delivery)) }
func (h *earlyHeap) Pop() any {
	last := len(*h) - 1
	d := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return d
}
