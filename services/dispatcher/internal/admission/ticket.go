package admission

import (
	"container/list"
	"time"

	"github.com/timerbus/timerbus/internal/flow"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Stage is the progress of a delivery. It determines which resources the delivery holds (Queue.move).
type Stage int

const (
	// Early: it waits for its time.
	Early Stage = iota + 1
	// Ready: it waits for a slot.
	Ready
	// Queued: it waits for a permit of its host.
	Queued
	// AwaitingFlow: it waits for its turn in its flow.
	AwaitingFlow
	// Quarantined: it waits for a quarantined group, or to run alone.
	Quarantined
	// Checking: its row is being read. It holds a slot, room, and a permit if its target needs one.
	Checking
	// Calling: its attempt is being made. It holds the same resources.
	Calling
	// AttemptEnded: its attempt has a result, a timeout included. It holds room.
	AttemptEnded
	// Writing: its outcome or its postponement is being written. It holds room. No row lease begins any more.
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

// Idle reports whether the session has ended and none of its deliveries is exposed.
func (s *Session) Idle() bool { return s.ended && s.exposed == 0 }

// Ticket is the queue's record of one delivery. The dispatcher sets the exported fields before Offer; then the queue changes
// them.
type Ticket struct {
	State
	// DueAt is when the delivery may begin: the due time of the event, or that of the row if it is later.
	DueAt timer.Millis
	// Redelivered: an earlier delivery may have started and ended without a result.
	Redelivered bool
	// Postponements is the number in Revision. Those with the fewest are postponed first.
	Postponements int
	// Namespace is empty until the row is read, if the shard's namespace was not known when the event arrived.
	Namespace string
	// HostLimit is the maximum number of permits of one host for the namespace; 0: not known, so Limits.HostLimit
	// applies.
	HostLimit int
	// Target is the target in the event, then that in the row. 0: none, or not known.
	Target  timer.Target
	Session *Session
	// Delivery is set and used by the dispatcher only.
	Delivery any

	stage  Stage
	states [2]State // under which the queue knows it, the newest last
	known  int      // the number of states in use
	bytes  int      // of its row
	starts int      // if quarantined: the counted starts and the start that it waits for or has made
	leased bool     // its row is leased, or has changed, so the end of the process would lose no work
	// leasing: a lease was begun.
	leasing bool
	// quarantined: it was started from quarantine.
	quarantined bool
	// postponing: it would have waited too long, and its postponement is being written.
	postponing bool
	host       string // the readable name of its target; empty before the row is read
	share      *share // the namespace share from which it holds a slot
	permit     permit
	age        age

	// Set when its row was read, if its timer has a flow key: its planned time, and its turn (0 if it has none).
	planned  timer.Millis
	flowTurn flow.Instant

	flow       *flowState // in which it runs, or nil
	slot       flow.Slot  // of the rate of its flow
	releasedBy *flowState // in which its turn has come, so that it waits for its host or the row check
	waitsFor   *flowState // whose queue contains it
	// quarantineFlow is the flow for which it waits in quarantine.
	quarantineFlow *flowState
	// needsPermit: its flow had a concurrency limit when it began. withoutPermit: its permit has ended. cut: WithoutPermits has returned
	// it.
	needsPermit, withoutPermit, cut bool
}

// exposed reports whether the work of a delivery would be lost if its session or its process ended now.
func (t *Ticket) exposed() bool { return t.stage.begun() && !t.leased }

// age records since when a delivery is in the queue, and when Aged looks at it next.
type age struct {
	since, deadline time.Duration
	element         *list.Element // in Queue.aging
}

// move moves a delivery to a stage, and takes or returns the resources in which the two stages differ.
func (q *Queue) move(t *Ticket, to Stage) {
	from, exposed := t.stage, t.exposed()
	t.stage = to
	switch {
	case from.hasSlot() && !to.hasSlot():
		q.hosts.release(t, Untried, from == Calling)
		q.flows.endFlow(t, from == Calling)
		q.slots--
		q.shares.releaseSlot(t, from == Calling)
		q.changed = true
	case to.hasSlot() && !from.hasSlot():
		q.slots++
		q.shares.takeSlot(t)
	}
	switch {
	case from.hasRoom() && !to.hasRoom():
		q.room--
		q.bytes -= t.bytes
		t.bytes = 0
		if t.quarantined {
			q.quarantine.release(t)
		}
		q.changed = true
	case to.hasRoom() && !from.hasRoom():
		q.room++
	}
	if t.postponing && to != Writing {
		t.postponing = false
		q.hosts.postponing--
		q.changed = true
	}
	if f := t.releasedBy; f != nil && from != to {
		if from == Queued {
			f.atHost--
		}
		if to == Queued {
			f.atHost++
		}
	}
	if to != Ready && to != Queued && to != Checking {
		q.flows.endTurn(t)
	}
	q.flows.leaveQuarantine(t)
	q.countExposed(t, exposed)
}

// postpone moves a delivery that would wait too long to Writing.
func (q *Queue) postpone(t *Ticket) {
	q.move(t, Writing)
	t.postponing = true
	q.hosts.postponing++
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

// remember adds a state under which the queue knows a delivery. The queue keeps only the last two, because the events of
// earlier ones have been acknowledged.
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

// remove removes a delivery that is in none of the queues of waiting deliveries.
func (q *Queue) remove(t *Ticket) {
	q.stopAging(t)
	q.move(t, Ended)
	for _, s := range t.states[:t.known] {
		q.forget(t, s)
	}
	t.known = 0
	q.changed = true
}

// ended reports whether the delivery's session or the queue has ended. If so, it removes the delivery.
func (q *Queue) ended(t *Ticket) bool {
	if !q.closed && !t.Session.ended {
		return false
	}
	q.remove(t)
	return true
}

// startAging adds a delivery to the aging list, to be returned by Aged one interval from now. All intervals have the same
// length, so the list is sorted.
func (q *Queue) startAging(t *Ticket, elapsed time.Duration) {
	if t.age.element == nil {
		t.age.deadline = elapsed + q.limits.LeaseAfter
		t.age.element = q.aging.PushBack(t)
	}
}

func (q *Queue) stopAging(t *Ticket) {
	if t.age.element != nil {
		q.aging.Remove(t.age.element)
		t.age.element = nil
	}
}

// earlyHeap orders by due time, then by UUID, because simulations must be repeatable.
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
