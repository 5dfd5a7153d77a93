package admission

import (
	"container/list"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Stage is how far a delivery has come. It determines what the delivery holds (Queue.move).
type Stage int

const (
	// Early: it waits for its time.
	Early Stage = iota + 1
	// Ready: it waits for a slot.
	Ready
	// Queued: it waits for a permit of its host.
	Queued
	// Quarantined: it waits for a group of suspects, or to run alone.
	Quarantined
	// Checking: its row is being read. It holds a slot, room, and a permit if its target needs one.
	Checking
	// Calling: its attempt is being made. It holds the same.
	Calling
	// Answered: its attempt has a result. It holds room.
	Answered
	// Writing: its outcome or its postponement is being written. It holds room, and no row lease begins any more.
	Writing
	// Ended: the queue has removed it.
	Ended
)

func (s Stage) hasSlot() bool { return s == Checking || s == Calling }
func (s Stage) hasRoom() bool { return s >= Checking && s <= Writing }
func (s Stage) begun() bool   { return s >= Calling && s <= Writing }

// State names one state of one timer.
type State struct {
	UUID     timer.UUID
	Revision timer.Revision
}

// Session is one assignment of the due queue.
type Session struct {
	ended   bool
	exposed int
}

// Idle reports whether the session has ended, and nothing of it would be lost with the process.
func (s *Session) Idle() bool { return s.ended && s.exposed == 0 }

// Ticket is one delivery in the queue. The dispatcher sets the exported fields before Offer; afterwards they belong to the queue.
type Ticket struct {
	State
	// DueAt is when the delivery may begin: the time of the event, or that of the row if it is later.
	DueAt timer.Millis
	// Redelivered: an earlier delivery may have started and ended without a result.
	Redelivered bool
	// Namespace is empty if it is not known before the row is read.
	Namespace string
	// HostLimit is how many permits of one host the namespace may have; 0: not known, so Limits.HostLimit.
	HostLimit int
	// Target is that of the event, then that of the row. 0: none, or not known.
	Target  timer.Target
	Session *Session
	// Delivery is the dispatcher's.
	Delivery any

	stage  Stage
	states [2]State // under which the queue knows it, the newest last
	known  int      // how many of them
	bytes  int      // of its row
	starts int      // of a suspect: those counted, and the one that it waits for or has made
	leased bool     // its row is leased, or has changed: nothing would be lost with the process
	// leasing: a lease was begun.
	leasing bool
	// suspect: it began from quarantine.
	suspect bool
	host    string // the name of its target for people; empty before the row is read
	share   *share // of whose slots it holds one
	permit  permit
	age     age
}

// exposed reports whether the work of a delivery would be lost if its session or its process ended now.
func (t *Ticket) exposed() bool { return t.stage.begun() && !t.leased }

// age is how long a delivery has been here, and when the queue looks at it again.
type age struct {
	since, deadline time.Duration
	element         *list.Element // in the queue's aging
}

// move brings a ticket to a stage, and takes or returns what the stages differ in.
func (q *Queue) move(t *Ticket, to Stage) {
	from, exposed := t.stage, t.exposed()
	t.stage = to
	switch {
	case from.hasSlot() && !to.hasSlot():
		q.hosts.release(t, Untried, from == Calling)
		q.slots--
		q.shares.release(t, from == Calling)
		q.changed = true
	case to.hasSlot() && !from.hasSlot():
		q.slots++
		q.shares.take(t)
	}
	switch {
	case from.hasRoom() && !to.hasRoom():
		q.room--
		q.bytes -= t.bytes
		t.bytes = 0
		if t.suspect {
			q.quarantine.release(t)
		}
		q.changed = true
	case to.hasRoom() && !from.hasRoom():
		q.room++
	}
	q.countExposed(t, exposed)
}

func (q *Queue) countExposed(t *Ticket, before bool) {
	switch after := t.exposed(); {
	case after && !before:
		q.exposed++
		t.Session.exposed++
	case before && !after:
		q.exposed--
		t.Session.exposed--
		q.changed = true
	}
}

// remember adds a state under which the queue knows a ticket. Only the last two are known: the events of earlier ones have
// been acknowledged.
func (q *Queue) remember(t *Ticket, s State) {
	if t.known == len(t.states) {
		q.forget(t, t.states[0])
		t.states[0] = t.states[1]
		t.known--
	}
	t.states[t.known] = s
	t.known++
	q.known[s] = t
}

func (q *Queue) forget(t *Ticket, s State) {
	if q.known[s] == t {
		delete(q.known, s)
	}
}

// remove ends a ticket in any stage but the waiting ones, whose queues still have it.
func (q *Queue) remove(t *Ticket) {
	q.unwatch(t)
	q.move(t, Ended)
	for _, s := range t.states[:t.known] {
		q.forget(t, s)
	}
	t.known = 0
	q.changed = true
}

// ended removes a ticket whose session, or the intake, has ended, and reports whether it has.
func (q *Queue) ended(t *Ticket) bool {
	if !q.closed && !t.Session.ended {
		return false
	}
	q.remove(t)
	return true
}

// watch has Aged look at a ticket one interval from now. All intervals have the same length, so the list is in order.
func (q *Queue) watch(t *Ticket, elapsed time.Duration) {
	if t.age.element == nil {
		t.age.deadline = elapsed + q.limits.LeaseAfter
		t.age.element = q.aging.PushBack(t)
	}
}

func (q *Queue) unwatch(t *Ticket) {
	if t.age.element != nil {
		q.aging.Remove(t.age.element)
		t.age.element = nil
	}
}

// earlyHeap orders by due time, then by UUID, because simulations must repeat.
type earlyHeap []*Ticket

func (h earlyHeap) Len() int { return len(h) }
func (h earlyHeap) Less(i, j int) bool {
	if h[i].DueAt != h[j].DueAt {
		return h[i].DueAt < h[j].DueAt
	}
	return h[i].UUID.Compare(h[j].UUID) < 0
}
func (h earlyHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *earlyHeap) Push(x any)   { *h = append(*h, x.(*Ticket)) }
func (h *earlyHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
