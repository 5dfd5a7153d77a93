package admission

import (
	"container/heap"
	"container/list"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Limits are the bounds of a dispatcher. The numbers in the comments are the defaults.
type Limits struct {
	// Concurrency bounds the concurrent deliveries: 2,048. One namespace holds at most three
	// quarters of them.
	Concurrency int
	// Room bounds the deliveries between row check and acknowledgement, those whose outcome is being
	// written included: 2 × Concurrency.
	Room int
	// RoomBytes bounds the payloads and headers of the same deliveries: 256 MiB. At the bound no more rows are read, so
	// one Batch of rows may exceed it. A callback or an event that is being sent holds another copy.
	RoomBytes int
	// MaxInFlight bounds the messages taken from the bus and not acknowledged: 4 × Concurrency, at most 1,280. Schedulers
	// leave a tenth of it to namespaces with few timers due (I16). Messages that the process does not complete within
	// bus.AckWait would be delivered again. Callbacks that take long are acknowledged when their rows are leased.
	MaxInFlight int
	// Batch bounds the row checks, outcomes and events in one call: 256.
	Batch int
	// ParkAfter is how many counted starts without a result park a timer: 5.
	ParkAfter int
	// SecondStarts bounds how many timers run together whose start is at least the second that is counted without a
	// result, LaterStarts how many of them have more: 32 and 4. One of them may be poison. While timers of a group have
	// results or leases, groups grow, to at most 16 times SecondStarts. The last two starts before a timer is parked are made
	// alone.
	SecondStarts, LaterStarts int
	// LeaseAfter is after how long the row of a delivery is leased: 2 s. It is also how often waiting messages are
	// extended, so it must be well below bus.AckWait.
	LeaseAfter time.Duration
	// HoldFor is how long a message waits in this process for a slot or to run alone before its row is
	// postponed, so that another process can have it: 10 s.
	HoldFor time.Duration
	// HostLimit bounds the concurrent callbacks to one host and port of a namespace whose settings are not known: 64.
	HostLimit int
	// TopicLimit bounds the concurrent publishes to one user topic: Batch / 2, so that a dozen topics
	// may hang before other timers of their namespace wait for them.
	TopicLimit int
	// HostPatience is how long a delivery may have to wait here for its host: 1 s. One that would wait longer
	// is postponed, by at least as much.
	HostPatience time.Duration
	// PostponeMost bounds how far a row is postponed because of its host, its namespace's share of the slots, or secrets
	// that cannot be opened: 60 s.
	PostponeMost time.Duration
	// HostsRemembered bounds the hosts whose state is kept while they have no calls: 4,096.
	HostsRemembered int
	// CircuitAfter is after how many callbacks in a row of one namespace without any answer a host's circuit opens
	// for it: 20. CircuitOpenFor is when one callback tries again: after 10 s.
	CircuitAfter   int
	CircuitOpenFor time.Duration
}

// Queue has every delivery of a process, and decides which of them begin.
//
// Three bounds apply. A slot is held from before the row check until the attempt has given a result, so
// that a checked row is started immediately (I7). Room is held until the outcome is in the store, so that a
// slow store stops the intake before it fills the memory. A permit of the target's host is held from before the row check
// until the call has ended. Namespaces get slots by round robin.
//
// The event names the target, so each row is read once: when its delivery has its slot and its permit. A delivery is
// read without a permit if its event has no target, or if the circuit is open: then the timer's retry policy says what
// follows.
type Queue struct {
	limits Limits

	known      map[State]*Ticket
	early      earlyHeap
	shares     *shares  // the tickets that wait for a slot, and the slots of each namespace
	hosts      *limiter // the tickets that wait for a permit, and the permits of each host
	quarantine quarantine
	aging      *list.List // the tickets with messages to acknowledge, by deadline

	slots, room int // in use
	bytes       int // of the rows of those with room
	exposed     int // tickets whose work would be lost with the process

	closed   bool
	checking bool // the last decision is being carried out
	changed  bool // Decide may decide differently
}

// New returns an empty queue.
func New(limits *Limits) *Queue {
	clock := &activity{}
	q := &Queue{
		limits: *limits, known: map[State]*Ticket{}, aging: list.New(), shares: newShares(clock), hosts: newLimiter(limits, clock),
	}
	clock.idle = func() bool { return q.slots == 0 && q.hosts.waiting == 0 }
	return q
}

// Offer adds a ticket. If the same state is being delivered already, it returns that ticket instead, and nil otherwise.
// A ticket that comes after the end of its session is dropped, because its message comes again elsewhere.
func (q *Queue) Offer(t *Ticket, now timer.Millis, elapsed time.Duration) (running *Ticket) {
	if q.closed || t.Session.ended {
		return nil
	}
	if running = q.known[t.State]; running != nil {
		q.watch(running, elapsed)
		return running
	}
	t.age.since = elapsed
	q.remember(t, t.State)
	q.watch(t, elapsed)
	if t.DueAt > now {
		q.wait(t)
	} else {
		q.ready(t)
	}
	q.changed = true
	return nil
}

// wait lets a ticket wait for its time.
func (q *Queue) wait(t *Ticket) {
	q.move(t, Early)
	heap.Push(&q.early, t)
}

// ready lets a ticket wait for a slot.
func (q *Queue) ready(t *Ticket) {
	q.move(t, Ready)
	q.shares.push(t)
}

// Decision is what is to be done now.
type Decision struct {
	// Check lists the deliveries to check and start. All of them are Suspects, or none is.
	Check    []*Ticket
	Suspects bool
	// Postpone lists the deliveries that would wait too long for their hosts, or for slots of their namespace.
	Postpone []Postponement
	// Queued is how many began to wait for their hosts.
	Queued int
	// Wait is until when a ticket's time comes, or the hosts have to be looked at; 0: until something changes.
	Wait time.Duration
}

// Postponement is a ticket to postpone. It is in stage Writing.
type Postponement struct {
	*Ticket
	Grant
}

// lookAgainAfter is how often hosts are looked at while deliveries wait for them, because they may become slow.
const lookAgainAfter = 20 * time.Millisecond

func (r *Decision) lookAgain() { r.lookIn(lookAgainAfter) }

// lookIn limits Wait.
func (r *Decision) lookIn(d time.Duration) {
	if r.Wait == 0 || r.Wait > d {
		r.Wait = d
	}
}

// Decide returns what can be done now.
func (q *Queue) Decide(now timer.Millis, elapsed time.Duration) (r Decision) {
	defer func() { q.checking = len(r.Check) > 0 }()
	for len(q.early) > 0 && q.early[0].DueAt <= now {
		q.ready(heap.Pop(&q.early).(*Ticket))
	}
	if len(q.early) > 0 {
		r.Wait = q.early[0].DueAt.Sub(now)
	}
	refuse := func(t *Ticket, g Grant) {
		q.move(t, Writing)
		r.Postpone = append(r.Postpone, Postponement{t, g})
	}
	q.hosts.shed(elapsed, refuse, q.ready)
	if q.hosts.waiting > 0 {
		r.lookAgain()
	}
	if alone := q.quarantine.alone; alone != nil && !alone.leased {
		return r
	}
	room := min(q.free(), q.limits.Room-q.room, q.limits.Batch)
	if q.bytes >= q.limits.RoomBytes {
		room = 0
	}
	others := func() bool { return room > 0 && (q.shares.any(q.free()) || q.hosts.any(q.mayTake)) }
	if len(q.quarantine.waiting) > 0 && (!q.quarantine.fair || !others()) {
		group, wait, retry := q.takeSuspects(room)
		if retry > 0 {
			r.lookIn(max(0, retry-elapsed) + time.Millisecond)
		}
		if len(group) > 0 || wait {
			r.Check, r.Suspects = group, true
			return r
		}
	}
	q.fill(&r, room, elapsed, refuse)
	if len(r.Check) > 0 {
		q.quarantine.fair = false
	}
	if q.shares.shed(q.free(), q.limits.HostPatience, q.limits.PostponeMost, refuse) {
		r.lookAgain()
	}
	return r
}

// fill takes up to room tickets, by turns one that waited for its host and one that waited for a slot.
func (q *Queue) fill(r *Decision, room int, elapsed time.Duration, refuse func(*Ticket, Grant)) {
	check := func(t *Ticket) bool {
		if t == nil {
			return false
		}
		q.move(t, Checking)
		r.Check = append(r.Check, t)
		return true
	}
	for more := true; more && len(r.Check) < room; {
		more = check(q.hosts.next(q.mayTake))
		if len(r.Check) == room {
			return
		}
		t := q.shares.pop(q.free())
		if t == nil {
			continue
		}
		more = true
		if t.Target == 0 {
			check(t)
			continue
		}
		h, n := q.hosts.of(t)
		if !n.lets(q.hosts.elapsed) {
			check(t)
			continue
		}
		switch g := q.hosts.request(h, n, t, 0, elapsed); {
		case g.OK:
			check(t)
		case g.Refused != "":
			refuse(t, g)
		default:
			q.move(t, Queued)
			r.Queued++
			r.lookAgain()
		}
	}
}

func (q *Queue) free() int { return q.limits.Concurrency - q.slots }

// mayTake reports whether the namespace of a ticket may hold another slot.
func (q *Queue) mayTake(t *Ticket) bool { return q.shares.may(t, q.free()) }

// Row is what the row of a timer says about its delivery.
type Row struct {
	Namespace string
	Target    timer.Target
	// Host is the name of the target for people.
	Host  string
	Bytes int
}

// Learn notes what the row of a delivery says. If it calls another host than the event said, the permit is returned. If the
// event's namespace was not known, the permit becomes one of the namespace.
func (q *Queue) Learn(t *Ticket, row *Row) {
	target, namespace := t.Target, t.Namespace
	t.Namespace, t.Target, t.host = row.Namespace, row.Target, row.Host
	if t.permit.granted && (target != row.Target || namespace != row.Namespace) {
		q.hosts.release(t, Untried, false)
		if target == row.Target {
			if h, n := q.hosts.of(t); n.lets(q.hosts.elapsed) {
				q.hosts.grant(h, n, t)
			}
		}
	}
	q.hosts.name(t)
	q.bytes += row.Bytes - t.bytes
	t.bytes = row.Bytes
}

// Enter requests a permit for a delivery whose row was checked without one. Without a permit it waits for one, and its row
// is read again, or it is postponed. ok is false if the delivery has ended. age is how long it has been due.
func (q *Queue) Enter(t *Ticket, age, elapsed time.Duration) (g Grant, ok bool) {
	if q.ended(t) {
		return g, false
	}
	if t.Target == 0 {
		return Grant{OK: true}, true
	}
	g = q.hosts.enter(t, age, elapsed)
	switch {
	case g.OK:
	case g.Refused != "":
		q.move(t, Writing)
	default:
		q.move(t, Queued)
	}
	return g, true
}

// Start begins the attempt of a delivery whose row check was passed. It returns false if the delivery has ended.
func (q *Queue) Start(t *Ticket, elapsed time.Duration) bool {
	if q.ended(t) {
		return false
	}
	q.move(t, Calling)
	q.hosts.begin(t, elapsed)
	// The lease is counted from here.
	q.unwatch(t)
	q.watch(t, elapsed)
	return true
}

// Withdraw stops a checked delivery for a write that is not an attempt: parking or postponement. It returns false if the
// delivery has ended.
func (q *Queue) Withdraw(t *Ticket) bool {
	if q.ended(t) {
		return false
	}
	q.move(t, Writing)
	return true
}

// Hold lets a checked delivery wait until a later time.
func (q *Queue) Hold(t *Ticket, until timer.Millis) {
	if q.ended(t) {
		return
	}
	t.DueAt = until
	q.wait(t)
	q.changed = true
}

// Answer returns slot and permit: the attempt has a result. If the result changed the circuit of the host, the change is
// returned with the host's name.
func (q *Queue) Answer(t *Ticket, result Result, elapsed time.Duration) (host string, changed Change) {
	q.hosts.at(elapsed)
	host, changed = q.hosts.release(t, result, true)
	if t.suspect && !t.leased {
		q.quarantine.passed++
	}
	q.move(t, Answered)
	return host, changed
}

// Lease notes that the row is leased, now under another revision, or that it has changed (revision 0). Either way the
// messages may be acknowledged, and no other delivery waits for this one any more.
func (q *Queue) Lease(t *Ticket, revision timer.Revision) {
	if revision != 0 {
		q.remember(t, State{t.UUID, revision})
	}
	q.unwatch(t)
	if t.suspect && !t.leased {
		q.quarantine.count(t, -1) // it leaves its group
		if t.stage == Calling {
			q.quarantine.passed++
		}
	}
	exposed := t.exposed()
	t.leased = true
	q.countExposed(t, exposed)
	q.changed = true
}

// Write notes that the outcome is about to be written: no lease begins any more.
func (q *Queue) Write(t *Ticket) { q.move(t, Writing) }

// End removes a delivery that is settled or given up.
func (q *Queue) End(t *Ticket) { q.remove(t) }

// Aged is a delivery that takes long.
type Aged struct {
	*Ticket
	// Lease: it is to be leased.
	Lease bool
	// Postpone: it waited too long, and is in stage Writing. Refused: for its host, by its row.
	Postpone, Refused bool
}

// Aged returns the deliveries whose interval is over, each to be looked at again after another, and how long until the
// next; 0 if there is none.
func (q *Queue) Aged(elapsed time.Duration) (old []Aged, wait time.Duration) {
	q.hosts.at(elapsed)
	dropped := false
	for e := q.aging.Front(); e != nil; e = q.aging.Front() {
		t := e.Value.(*Ticket) //nolint:errcheck // the list holds one type.
		if t.age.deadline > elapsed {
			wait = t.age.deadline - elapsed
			break
		}
		q.unwatch(t)
		q.watch(t, elapsed)
		a := Aged{Ticket: t}
		switch {
		case (t.stage == Calling || t.stage == Answered) && !t.leasing:
			t.leasing, a.Lease = true, true
		case q.tooLong(t, elapsed):
			a.Postpone, dropped = true, true
			a.Refused = t.stage == Queued || t.stage == Quarantined && !q.hosts.free(t)
			q.move(t, Writing)
		}
		old = append(old, a)
	}
	if dropped {
		q.drop(func(t *Ticket) bool { return t.stage == Writing })
	}
	return old, wait
}

// Watched is how many deliveries Aged looks at.
func (q *Queue) Watched() int { return q.aging.Len() }

// tooLong reports whether a delivery waits here though it might begin elsewhere, or though its host has no permit.
// While rows are being read it does not, because postponing would only add to the store's work.
func (q *Queue) tooLong(t *Ticket, elapsed time.Duration) bool {
	if q.checking || q.closed {
		return false
	}
	waited := elapsed - t.age.since
	switch t.stage {
	case Queued:
		queued := elapsed - t.permit.queuedAt
		return queued >= 2*q.limits.HostPatience && !q.mayTake(t) || queued >= q.limits.HoldFor
	case Ready, Quarantined:
		return waited >= q.limits.HoldFor
	default:
		return false
	}
}

// drop takes tickets out of the queues in which they wait.
func (q *Queue) drop(which func(*Ticket) bool) {
	q.early = slices.DeleteFunc(q.early, which)
	heap.Init(&q.early)
	q.shares.drop(which)
	q.quarantine.waiting = slices.DeleteFunc(q.quarantine.waiting, which)
	q.hosts.drop(which)
}

// Close ends the intake: deliveries that have not started are removed.
func (q *Queue) Close() {
	q.closed = true
	q.removeWaiting(func(*Ticket) bool { return true })
}

// Leave ends a session: its deliveries that have not started are removed.
func (q *Queue) Leave(s *Session) {
	s.ended = true
	q.removeWaiting(func(t *Ticket) bool { return t.Session == s })
}

func (q *Queue) removeWaiting(which func(*Ticket) bool) {
	var gone []*Ticket
	q.drop(func(t *Ticket) bool {
		if which(t) {
			gone = append(gone, t)
			return true
		}
		return false
	})
	for _, t := range gone {
		q.remove(t)
	}
}

// Idle reports whether the queue is closed and no delivery holds room.
func (q *Queue) Idle() bool { return q.closed && q.room == 0 }

// Running is how many deliveries hold room.
func (q *Queue) Running() int { return q.room }

// Hosts counts hosts.
func (q *Queue) Hosts() HostCounts { return q.hosts.counts() }

// Changed reports whether Decide may decide differently since the last call.
func (q *Queue) Changed() bool {
	changed := q.changed
	q.changed = false
	return changed
}
