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
// Three bounds apply. A slot is held from before the row check until the attempt has given a result, so
// that a checked row is started at once (I7). Room is held until the outcome is in the store, so that a
// slow store stops the intake before it fills the memory. A place with the receiver's host (gate.go) is held
// from before the row check until the call has ended. Slots go to namespaces in turn (lanes.go).
//
// The event names the target, so each row is read once: when its delivery has its slot and its place. A delivery is
// read without a place if its event has no target, or if the circuit is open: then the timer's retry policy says what
// follows.
//
// A suspect is a timer whose next start is at least its second that is counted without a result (I13). It may be
// poison, but most suspects only ran in a process that ended. Suspects start in groups that get smaller with the starts,
// so that innocent ones get a result, while other deliveries continue. A delivery leaves its group when it
// ends or holds a row lease: a poison timer ends its process early as a rule, and a slow callback must not stop others
// for minutes. The last two starts before a timer is parked are made alone: the suspect waits until every other delivery
// has ended or holds a lease, nothing starts until it has ended or holds one itself, and no other suspect runs at the
// same time, leased or not. Otherwise a poison timer and a slow innocent could meet again and again, and be parked together.
// Suspects wait without being counted; only a start counts. docs/model/Quarantine.tla is the model.
type board struct {
	slotLimit, roomLimit, batchLimit int
	byteLimit                        int
	parkAfter                        int    // counted starts
	groupLimits                      [2]int // suspects in a group: all, and those of later starts than the second
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
	ready    *lanes      // for a row check
	gate     *gate       // for a place with their host
	suspects []*delivery // that wait for a group, in order of arrival
	byAge    *list.List  // of *delivery with messages, by deadline

	slots, room int       // in use
	bytes       int       // of the rows of those with room
	exposed     int       // would be lost with the process: begun, neither settled nor leased
	apart       int       // suspects that have begun, leased or not
	grouped     [2]int    // those of them that hold no lease: all, and of later starts than the second
	last        *delivery // the suspect that is delivered alone, leased or not
	// fair lets a batch of others go between two groups of suspects.
	fair bool
}

// state names one state of one timer.
type state struct {
	uuid     timer.UUID
	revision timer.Revision
}

func newBoard(c *Config) *board {
	g := newGate(c)
	b := &board{
		slotLimit: c.Concurrency, roomLimit: c.Room, batchLimit: c.Batch, byteLimit: c.RoomBytes,
		parkAfter: c.ParkAfter, groupLimits: [2]int{c.SecondStarts, c.LaterStarts},
		interval: c.LeaseAfter, holdFor: c.HoldFor,
		wake: make(chan struct{}, 1), aging: make(chan struct{}, 1), idle: make(chan struct{}),
		known: map[state]*delivery{}, byAge: list.New(), ready: newLanes(g.clock), gate: g,
	}
	g.clock.idle = func() bool { return b.slots == 0 && g.waiting == 0 }
	return b
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
		b.ready.push(d)
	}
	signal(b.wake)
	return true
}

// round is what is to be done now.
type round struct {
	// check lists deliveries to check and start, each with its slot. All of them are suspects, or none is.
	check    []*delivery
	suspects bool
	// refused are to be postponed: waiting for their hosts, or for their namespace's slots, has become pointless.
	refused []refused
	// waiting is how many began to wait for their hosts.
	waiting int
	// wait tells when something comes due or has to be looked at again; 0: nothing does by itself.
	wait time.Duration
}

// refused is a delivery that was not let in, out of turn and with room.
type refused struct {
	delivery *delivery
	entry    entry
}

// lookAgainAfter is when waiting deliveries are looked at again, because their host may have become too slow.
const lookAgainAfter = 20 * time.Millisecond

// next tells what can be done now.
func (b *board) next(now timer.Millis, elapsed time.Duration) (r round) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() { b.checking = len(r.check) > 0 }()
	for len(b.early) > 0 && b.early[0].dueAt <= now {
		d := heap.Pop(&b.early).(*delivery)
		d.stage = stageReady
		b.ready.push(d)
	}
	if len(b.early) > 0 {
		r.wait = b.early[0].dueAt.Sub(now)
	}
	refuse := func(d *delivery, e entry) { r.refused = append(r.refused, refused{b.putOff(d), e}) }
	lookAgain := func() {
		if r.wait == 0 || r.wait > lookAgainAfter {
			r.wait = lookAgainAfter
		}
	}
	b.gate.shed(elapsed, refuse, func(d *delivery) {
		d.stage = stageReady
		b.ready.push(d)
	})
	if b.gate.waiting > 0 {
		lookAgain()
	}
	if b.last != nil && b.last.grouped {
		return r
	}
	free := b.slotLimit - b.slots
	room := min(free, b.roomLimit-b.room, b.batchLimit)
	if b.bytes >= b.byteLimit {
		room = 0
	}
	may := func(d *delivery) bool { return b.ready.may(d, b.slotLimit-b.slots) }
	others := room > 0 && (b.ready.any(free) || b.gate.any(may))
	if !b.fair || !others {
		group, wait := b.takeSuspects(room)
		if len(group) > 0 || wait {
			r.check, r.suspects = group, true
			return r
		}
	}
	take := func(d *delivery) bool {
		if d == nil {
			return false
		}
		b.reserve(d)
		r.check = append(r.check, d)
		return true
	}
	for more := true; more && len(r.check) < room; {
		more = take(b.gate.next(may))
		if len(r.check) == room {
			break
		}
		d := b.ready.pop(b.slotLimit - b.slots)
		if d == nil {
			continue
		}
		more = true
		switch e := b.permit(d, elapsed); {
		case e.in:
			take(d)
		case e.refused != "":
			refuse(d, e)
		default:
			d.stage = stageQueued
			r.waiting++
			lookAgain()
		}
	}
	if len(r.check) > 0 {
		b.fair = false
	}
	if b.ready.shed(b.slotLimit-b.slots, b.gate.patience, b.gate.postponeMost, refuse) {
		lookAgain()
	}
	return r
}

// permit requests a place for a delivery that was not read. A delivery that has to be read without a place gets a slot only.
func (b *board) permit(d *delivery, elapsed time.Duration) entry {
	if d.target == 0 || !b.gate.closed(d) {
		return entry{in: true}
	}
	return b.gate.enter(d, 0, elapsed)
}

func (b *board) reserve(d *delivery) {
	d.stage = stageChecking
	d.slot, d.roomy = true, true
	b.slots++
	b.room++
	b.ready.give(d)
}

// enter asks the gate for a delivery whose row was checked without a place. It gets one, or waits for one, to be read
// again, or is postponed.
func (b *board) enter(d *delivery, age, elapsed time.Duration) (e entry, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended(d) {
		return e, false
	}
	e = b.gate.enter(d, age, elapsed)
	switch {
	case e.in:
	case e.refused != "":
		b.putOff(d)
	default:
		b.putBack(d)
		d.stage = stageQueued
	}
	return e, true
}

// learn notes how much the row of a delivery with room holds, and what it calls. A place with another host is given back,
// and one that was taken before the namespace was known goes over to the circuit of that namespace.
func (b *board) learn(d *delivery, target timer.Target) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.passed != nil && (d.target != target || d.circuit != b.gate.circuit(d.host, d)) {
		b.gate.leave(d, errUntried, 0)
		if d.target == target {
			b.gate.take(b.gate.host(d), d)
		}
	}
	d.target = target
	if h := b.gate.hosts[target]; h != nil {
		h.name = d.hostName
	}
	b.bytes -= d.bytes
	d.bytes = len(d.row.Payload) + len(d.row.Headers)
	b.bytes += d.bytes
}

// putOff takes a delivery out of turn, with room for the write that postpones it.
func (b *board) putOff(d *delivery) *delivery {
	b.freeSlot(d)
	if !d.roomy {
		d.roomy = true
		b.room++
	}
	b.expose(d)
	d.concluding = true
	return d
}

// start tells that the row check was passed; false means that the delivery's session has ended
// meanwhile and it must not start.
func (b *board) start(d *delivery, elapsed time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended(d) {
		return false
	}
	b.expose(d)
	d.calling, d.calledAt = true, b.gate.clock.read(elapsed)
	b.gate.begin(d)
	d.lane.begin(d.calledAt)
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
	if b.ended(d) {
		return false
	}
	b.putOff(d)
	return true
}

// hold puts a delivery back whose row says that its time has not come.
func (b *board) hold(d *delivery, until timer.Millis) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended(d) {
		return
	}
	b.putBack(d)
	d.dueAt, d.stage = until, stageEarly
	heap.Push(&b.early, d)
	signal(b.wake)
}

// answered gives slot and place back: the attempt has a result. cause is what the host's circuit is told
// (host.go); if that changed it, what names the change.
func (b *board) answered(d *delivery, cause error, elapsed time.Duration) (host string, what change) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if d.passed != nil {
		host, what = b.gate.leave(d, cause, elapsed)
	}
	b.freeSlot(d)
	return host, what
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
	messages := b.giveOut(d)
	b.cover(d)
	b.ungroup(d)
	signal(b.wake)
	return messages
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
	messages := b.giveOut(d)
	b.remove(d)
	return messages
}

// ended removes a delivery whose session, or the intake, has ended, and reports whether it has.
func (b *board) ended(d *delivery) bool {
	if !b.closed && !d.session.gone {
		return false
	}
	b.remove(d)
	return true
}

// discard removes a delivery whose messages are not acknowledged.
func (b *board) discard(d *delivery) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(d)
}

// giveOut returns the messages that are acknowledged next.
func (b *board) giveOut(d *delivery) []*bus.Delivery {
	messages := d.messages
	d.messages = nil
	b.unwatch(d)
	if len(messages) > 0 {
		d.session.acking.Add(1)
	}
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

// putBack makes a delivery wait again. Its row is read again before it starts; until then only a postponement needs it.
func (b *board) putBack(d *delivery) {
	b.free(d)
	d.row.Payload = nil
}

// free gives back what next reserved.
func (b *board) free(d *delivery) {
	b.freeSlot(d)
	if d.roomy {
		d.roomy = false
		b.room--
	}
	b.bytes -= d.bytes
	d.bytes = 0
	b.ungroup(d)
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
	if d.passed != nil {
		b.gate.leave(d, errUntried, 0)
	}
	if d.slot {
		d.slot = false
		b.slots--
		b.ready.takeBack(d)
		d.calling = false
		signal(b.wake)
	}
}

func signal(token chan struct{}) {
	select {
	case token <- struct{}{}:
	default: // there is one
	}
}
