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
	// Concurrency is the number of slots: 2,048. A delivery holds one from its row check until its attempt has a result.
	// One namespace holds at most three quarters of them. Deliveries from quarantine count, but are not held back. Deliveries whose
	// namespace was not known before the row check count together as one namespace.
	Concurrency int
	// Room bounds the deliveries in the stages Checking to Writing, leased ones included: 2 × Concurrency. At this bound no row
	// check begins. A postponement takes room even if none is left, so the number may exceed Room.
	Room int
	// RoomBytes bounds the payloads and headers of the same deliveries: 256 MiB. The queue checks the bound before
	// each batch of row checks, so the rows of one Batch may exceed it. While a payload is being sent, a second copy is in
	// memory, which RoomBytes does not count.
	RoomBytes int
	// MaxInFlight bounds the messages taken from the bus and not acknowledged: 1,280, or 4 × Concurrency if that is less. It may
	// be below Concurrency, because the messages of leased deliveries are acknowledged. Schedulers reserve a tenth of it for
	// namespaces with few timers due (I16). Every LeaseAfter, the ack wait of an unacknowledged message is extended; the start of an
	// attempt begins a new interval. When the row has been leased, the message is acknowledged.
	MaxInFlight int
	// Batch bounds the items of one batched call (row checks, outcomes, events): 256. It also bounds the postponements in progress of
	// deliveries that would wait too long for a permit, for a slot of their namespace's share, or for their flow. It does not bound
	// those caused by an open circuit, or by a wait longer than HoldFor for a slot or in quarantine.
	Batch int
	// ParkAfter is the number of counted starts without a result at which a timer is parked: 5.
	ParkAfter int
	// GroupSize bounds how many quarantined timers run together at first: 32. Quarantined timers are those at their
	// second or later counted start without a result. LaterInGroup bounds how many of the group are at their third or
	// later start: 4. While the timers of a group get results or leases, groups grow, to at most 16 times GroupSize. The
	// last two starts before a timer is parked are isolated.
	GroupSize, LaterInGroup int
	// LeaseAfter is how long an attempt runs before its row is leased: 2 s. It is also the interval at which the wait of
	// unacknowledged messages is extended. A delivery that starts at the end of an interval begins another one without an extension, so
	// LeaseAfter must be below half of bus.AckWait.
	LeaseAfter time.Duration
	// HoldFor bounds how long a delivery waits in this process: 10 s. A delivery that has waited longer is postponed when Aged
	// next looks at it, so that another process can take it; Aged looks at each delivery every LeaseAfter. The waits count from:
	//   - for a slot, or in quarantine: the arrival of the message;
	//   - for a permit of the host: the beginning of this wait. While the namespace holds all slots of its share, the bound is the
	//     smaller of HoldFor and 2 × HostMaxWait;
	//   - for the flow: the beginning of this wait, or, if it is later, the time at which a delivery of the flow last began in this
	//     process.
	// While row checks are running, Aged postpones nothing. While a timer waits to run isolated, or while as many deliveries as Batch
	// allows are being postponed, Aged postpones no delivery that waits for a permit or for its flow.
	HoldFor time.Duration
	// HostLimit bounds the concurrent callbacks of one namespace to one host and port while the namespace's setting is not
	// known: 64.
	HostLimit int
	// TopicLimit bounds the concurrent publishes to one user topic: Batch / 2. With the defaults, a namespace uses up its share of
	// the slots (three quarters) only if 12 of its topics do not respond.
	TopicLimit int
	// HostMaxWait bounds the estimated wait in this process for a permit of a host, or for a slot of the namespace's share: 1 s.
	// If a delivery would wait longer, one of those that wait for the same host or share is postponed by at least HostMaxWait:
	// the one with the fewest postponements, which may be the new one. While as many deliveries as Batch allows are being postponed, no
	// more are postponed for this reason.
	HostMaxWait time.Duration
	// MaxPostpone bounds how far a row is postponed because of its host, its namespace's share of the slots, unreadable callback
	// settings, or a missing token: 60 s.
	MaxPostpone time.Duration
	// KnownHosts bounds the hosts in memory: 4,096. Above it, the hosts that have been idle longest are removed. Hosts with
	// calls or waiting deliveries are never removed; the intake bounds their number.
	KnownHosts int
	// A host's circuit opens for a namespace after CircuitAfter consecutive callbacks of that namespace without an
	// answer: 20. CircuitOpenFor is the time until one callback tries the host again: 10 s.
	CircuitAfter   int
	CircuitOpenFor time.Duration
}

// Queue is the admission queue: it has every delivery of a process and decides which of them begin.
//
// Bounds apply to slots, room, permits of hosts, and flows. A delivery holds a slot from before the row check until the attempt
// has a result, so that a checked row is started immediately (I7). It holds room until the outcome is in the store: if the store
// is slow, no more rows are read once the room is used up, so memory stays bounded. It holds a permit of the target's host from
// before the row check until the call has ended. If its flow has limits, it waits until the flow allows a start (flows.go). The start
// uses a slot of the flow's rate, if it has one, and holds a permit of the flow, if the flow limits concurrency. Namespaces get slots
// of the dispatcher by round robin.
//
// The event names the target, so a row is usually read once: when its delivery has a slot and a permit. A row is read without a
// permit in two cases: the event has no target; or the circuit is open, and the retry policy in the row decides whether the timer
// is postponed or its attempt fails. The row is read again after a wait in quarantine or for its flow, and after a wait for a permit
// if it was read before that wait. The row of a redelivered event is read twice before its attempt starts: first to learn its counted
// starts, then to count this one (I13).
type Queue struct {
	limits Limits

	known      map[State]*Ticket
	early      earlyHeap
	shares     *shares  // the deliveries that wait for a slot, and the slots of each namespace
	hosts      *limiter // the deliveries that wait for a permit, and the permits of each host
	flows      *flows   // the deliveries that wait for their flow
	quarantine quarantine
	aging      *list.List // the deliveries with unacknowledged messages, by deadline

	slots, room int // in use
	bytes       int // of the rows of deliveries that hold room
	exposed     int // deliveries whose work would be lost if the process ended now (Ticket.exposed)

	closed   bool
	checking bool // the row checks of the last decision are running
	changed  bool // Decide may return another decision

	clockError time.Duration // by how much the store's time may be wrong
}

// New returns an empty queue.
func New(limits *Limits) *Queue {
	// The clock of hosts, shares and flows. While slots are in use or deliveries wait for a permit, it counts at most maxGap between two
	// readings, so a suspension of the process is not taken for a slow host.
	clock := &activity{}
	q := &Queue{
		limits: *limits, known: map[State]*Ticket{}, aging: list.New(), shares: newShares(clock), hosts: newLimiter(limits, clock),
		flows: newFlows(limits, clock),
	}
	clock.idle = func() bool { return q.slots == 0 && q.hosts.waiting == 0 }
	return q
}

// Offer adds a delivery and returns nil. If the queue already has a delivery of the same state, Offer returns that one. It
// drops a delivery that arrives after Close or the end of its session, because the bus redelivers its message.
func (q *Queue) Offer(t *Ticket, now timer.Millis, elapsed time.Duration) (known *Ticket) {
	if q.closed || t.Session.ended {
		return nil
	}
	if known = q.known[t.State]; known != nil {
		q.startAging(known, elapsed)
		return known
	}
	t.age.since = elapsed
	q.remember(t, t.State)
	q.startAging(t, elapsed)
	if t.DueAt > now {
		q.waitUntilDue(t)
	} else {
		q.waitForSlot(t)
	}
	q.changed = true
	return nil
}

// waitUntilDue makes a delivery wait for its due time.
func (q *Queue) waitUntilDue(t *Ticket) {
	q.move(t, Early)
	heap.Push(&q.early, t)
}

// waitForSlot makes a delivery wait for a slot.
func (q *Queue) waitForSlot(t *Ticket) {
	q.move(t, Ready)
	q.shares.push(t)
}

// Decision lists the next actions of the dispatcher.
type Decision struct {
	// Check lists the deliveries to check and start. If Quarantined is set, all of them come from quarantine; otherwise
	// none does.
	Check       []*Ticket
	Quarantined bool
	// Postpone lists the deliveries that would wait too long for a permit, for their flow, or for a slot of their namespace's share.
	Postpone []Postponement
	// Queued is the number of deliveries that began to wait for a permit.
	Queued int
	// Wait is the time after which Decide must be called again even if nothing has changed: a delivery is due then, or those that
	// wait must be checked again. If Wait is 0, only a change makes another call necessary.
	Wait time.Duration
}

// Postponement is a delivery to postpone, in stage Writing, with the reason and the delay. Answer.Refused is empty if the reason is the
// namespace's share of the slots.
type Postponement struct {
	*Ticket
	Answer
}

// queueCheckInterval is how often Decide looks again at deliveries that wait for a permit, or for a slot of a full share, because the
// calls that they wait for may become slow.
const queueCheckInterval = 20 * time.Millisecond

func (r *Decision) limitWait(d time.Duration) {
	if r.Wait == 0 || r.Wait > d {
		r.Wait = d
	}
}

// SetClockError sets by how much the times that Decide gets may be wrong.
func (q *Queue) SetClockError(by time.Duration) { q.clockError = by }

// Decide returns the next actions, and moves their deliveries to the new stages.
func (q *Queue) Decide(now timer.Millis, elapsed time.Duration) (r Decision) {
	defer func() { q.checking = len(r.Check) > 0 }()
	for len(q.early) > 0 && q.early[0].DueAt <= now {
		q.waitForSlot(heap.Pop(&q.early).(*Ticket))
	}
	if len(q.early) > 0 {
		r.Wait = q.early[0].DueAt.Sub(now)
	}
	postpone := func(t *Ticket, g Answer) {
		q.postpone(t)
		r.Postpone = append(r.Postpone, Postponement{t, g})
	}
	q.hosts.shrinkQueues(elapsed, postpone, q.waitForSlot)
	if q.hosts.waiting > 0 {
		r.limitWait(queueCheckInterval)
	}
	at := &Time{now, q.clockError, elapsed}
	if wait := q.releaseFlows(at, postpone); wait > 0 {
		r.limitWait(wait)
	}
	if alone := q.quarantine.isolated; alone != nil && !alone.leased {
		// No other delivery starts until this one has ended or has a lease.
		return r
	}
	limit := min(q.free(), q.limits.Room-q.room, q.limits.Batch)
	if q.bytes >= q.limits.RoomBytes {
		limit = 0
	}
	others := func() bool { return limit > 0 && (q.shares.hasNext(q.free()) || q.hosts.hasNext(q.mayHoldSlot, at)) }
	q.hosts.postponesNone = false
	if len(q.quarantine.waiting) > 0 && (!q.quarantine.othersNext || !others()) {
		group, wait, retry := q.nextGroup(limit, at)
		// An isolated timer starts only when exposed is 0, and each postponement that is being written counts in exposed. Further
		// postponements could delay the start forever. So while an isolated timer waits for its start, no delivery that waits for a
		// permit or for its flow is postponed. Deliveries that have waited longer than HoldFor for a slot or in quarantine are still
		// postponed. There are few of these, because each has to wait for HoldFor first.
		q.hosts.postponesNone = wait && len(group) == 0
		if retry > 0 {
			r.limitWait(retry - elapsed + time.Millisecond)
		}
		if len(group) > 0 || wait {
			r.Check, r.Quarantined = group, true
			return r
		}
	}
	q.fill(&r, limit, at, postpone)
	if len(r.Check) > 0 {
		q.quarantine.othersNext = false
	}
	if q.shares.shrinkQueues(q.free(), q.limits.HostMaxWait, q.limits.MaxPostpone, q.hosts.mayPostpone, postpone) {
		r.limitWait(queueCheckInterval)
	}
	return r
}

// fill takes up to limit deliveries, alternately one that waited for a permit and one that waited for a slot.
func (q *Queue) fill(r *Decision, limit int, at *Time, postpone func(*Ticket, Answer)) {
	check := func(t *Ticket) bool {
		if t == nil {
			return false
		}
		q.move(t, Checking)
		r.Check = append(r.Check, t)
		return true
	}
	next := func() *Ticket {
		t := q.hosts.next(q.mayHoldSlot, at)
		if t != nil {
			q.beginTurn(t, at) // succeeds: hosts.next returns only deliveries whose flow allows a start now
		}
		return t
	}
	for more := true; more && len(r.Check) < limit; {
		more = check(next())
		if len(r.Check) == limit {
			return
		}
		t := q.shares.pop(q.free())
		if t == nil {
			continue
		}
		more = true
		if t.Target == 0 {
			if q.beginTurn(t, at) {
				check(t)
			}
			continue
		}
		h, tenant := q.hosts.hostOf(t)
		if !tenant.allows(q.hosts.elapsed) {
			// The circuit is open. The row is read without a permit, because its retry policy decides what happens.
			check(t)
			continue
		}
		if t.releasedBy != nil && t.releasedBy.usable(at) == 0 {
			// The flow allows no start any more, so beginTurn makes the delivery wait for it again, without a permit of the host.
			q.beginTurn(t, at)
			continue
		}
		switch g := q.hosts.request(h, tenant, t, 0, at.Elapsed); {
		case g.OK:
			q.beginTurn(t, at)
			check(t)
		case g.Refused != "":
			postpone(t, g)
		default:
			q.move(t, Queued)
			r.Queued++
			r.limitWait(queueCheckInterval)
		}
	}
}

func (q *Queue) free() int { return q.limits.Concurrency - q.slots }

// mayHoldSlot reports whether the namespace of a delivery may hold another slot.
func (q *Queue) mayHoldSlot(t *Ticket) bool { return q.shares.mayHold(t, q.free()) }

// Row has the facts of a timer's row that concern the queue.
type Row struct {
	Namespace string
	Target    timer.Target
	// Host is the readable name of the target.
	Host  string
	Bytes int
}

// LearnRow records the facts in the row of a delivery. If the row has another target than the event, the permit is
// released. If the event's namespace was not known, the permit is now counted for the row's namespace, or released if
// the circuit is open for it.
func (q *Queue) LearnRow(t *Ticket, row *Row) {
	target, namespace := t.Target, t.Namespace
	t.Namespace, t.Target, t.host = row.Namespace, row.Target, row.Host
	if t.permit.granted && (target != row.Target || namespace != row.Namespace) {
		q.hosts.release(t, Untried, false)
		if target == row.Target {
			if h, tenant := q.hosts.hostOf(t); tenant.allows(q.hosts.elapsed) {
				q.hosts.grant(h, tenant, t)
			}
		}
	}
	q.hosts.setName(t)
	q.bytes += row.Bytes - t.bytes
	t.bytes = row.Bytes
}

// RequestPermit gives a delivery whose row was read a permit. The answer is OK immediately if it has no target. If no permit is free,
// the delivery waits for one, and its row is read again afterwards. If the answer is Refused, the caller postpones the delivery or, if
// the circuit is open, may fail its attempt. If the queue is closed or the session has ended, RequestPermit removes the delivery, and
// ok is false. age is the time since its executeAt.
func (q *Queue) RequestPermit(t *Ticket, age, elapsed time.Duration) (g Answer, ok bool) {
	if q.ended(t) {
		return g, false
	}
	if t.Target == 0 {
		return Answer{OK: true}, true
	}
	g = q.hosts.acquire(t, age, elapsed)
	switch {
	case g.OK:
	case g.Refused == Saturated:
		q.postpone(t)
	case g.Refused != "":
		q.move(t, Writing)
	default:
		q.move(t, Queued)
	}
	return g, true
}

// Start begins the attempt of a delivery that passed its row check. If the queue is closed or the session has ended, it removes
// the delivery and returns false.
func (q *Queue) Start(t *Ticket, elapsed time.Duration) bool {
	if q.ended(t) {
		return false
	}
	q.move(t, Calling)
	q.hosts.begin(t, elapsed)
	if t.flow != nil {
		t.flow.calls.begin(t.permit.calledAt)
	}
	// LeaseAfter counts from the start of the attempt.
	q.stopAging(t)
	q.startAging(t, elapsed)
	return true
}

// SkipAttempt moves a checked delivery to Writing without an attempt, for parking. If the queue is closed or the session has
// ended, it removes the delivery and returns false.
func (q *Queue) SkipAttempt(t *Ticket) bool {
	if q.ended(t) {
		return false
	}
	q.move(t, Writing)
	return true
}

// WaitUntil makes a checked delivery wait until a later time.
func (q *Queue) WaitUntil(t *Ticket, until timer.Millis) {
	if q.ended(t) {
		return
	}
	t.DueAt = until
	q.waitUntilDue(t)
	q.changed = true
}

// EndAttempt releases the slot and the permit of a delivery, because the attempt has a result. If the result changed the
// circuit of the host, EndAttempt returns the change with the host's name.
func (q *Queue) EndAttempt(t *Ticket, result Result, elapsed time.Duration) (host string, changed Change) {
	q.hosts.setTime(elapsed)
	host, changed = q.hosts.release(t, result, true)
	if t.quarantined && !t.leased {
		q.quarantine.passed++
	}
	q.move(t, AttemptEnded)
	return host, changed
}

// Lease records that the messages of this delivery are no longer needed. Either its row is leased and has this revision, so the
// timer becomes due again if the process ends, or another writer has changed or removed the row (revision 0). The messages may be
// acknowledged. From now on, a timer that must run isolated waits for this delivery only if the delivery came from quarantine
// (quarantine.running).
func (q *Queue) Lease(t *Ticket, revision timer.Revision) {
	if revision != 0 {
		q.remember(t, State{t.UUID, revision})
	}
	q.stopAging(t)
	if t.quarantined && !t.leased {
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

// BeginWrite records that the outcome is about to be written, so no lease begins any more.
func (q *Queue) BeginWrite(t *Ticket) { q.move(t, Writing) }

// End removes a delivery that is settled or discarded.
func (q *Queue) End(t *Ticket) { q.remove(t) }

// AgedDelivery is a delivery whose aging interval (LeaseAfter) has ended.
type AgedDelivery struct {
	*Ticket
	// Lease: its row must be leased.
	Lease bool
	// Postpone: it waited too long, and is now in stage Writing. ForHost: it waited for a permit, or in quarantine while its host
	// had none free. Answer has the reason and the delay if ForHost is set, or if it waited in quarantine for its flow
	// (Ticket.quarantineFlow). Otherwise it is empty, and the delay is the usual one.
	Postpone, ForHost bool
	Answer
}

// Aged returns the deliveries whose interval is over, and starts another interval for each. The caller extends the ack wait of
// the messages of all of them; most need nothing else. wait is the time until the next one; 0 if there is none.
func (q *Queue) Aged(at *Time) (old []AgedDelivery, wait time.Duration) {
	elapsed := at.Elapsed
	q.hosts.setTime(elapsed)
	dropped := false
	for e := q.aging.Front(); e != nil; e = q.aging.Front() {
		t := e.Value.(*Ticket) //nolint:errcheck // the list holds one type.
		if t.age.deadline > elapsed {
			wait = t.age.deadline - elapsed
			break
		}
		q.stopAging(t)
		q.startAging(t, elapsed)
		a := AgedDelivery{Ticket: t}
		switch {
		case (t.stage == Calling || t.stage == AttemptEnded) && !t.leasing:
			t.leasing, a.Lease = true, true
		case q.waitedTooLong(t, elapsed):
			a.Postpone, dropped = true, true
			if a.ForHost = t.stage == Queued || t.stage == Quarantined && !q.hosts.free(t); a.ForHost {
				h, tenant := q.hosts.hostOf(t)
				a.Answer = q.hosts.refuse(h, tenant, Saturated, 0)
			} else if f := t.quarantineFlow; f != nil {
				a.Answer = f.postponement(t, at, q.flows.clock.total)
			}
			q.postpone(t)
		}
		old = append(old, a)
	}
	if dropped {
		q.drop(func(t *Ticket) bool { return t.stage == Writing })
	}
	return old, wait
}

// AgingLen returns the length of the aging list.
func (q *Queue) AgingLen() int { return q.aging.Len() }

// waitedTooLong reports whether a delivery has waited so long that it must be postponed. It returns false after Close, and while
// row checks are running: perhaps the delivery waits because the store is slow, and a postponement would be another write.
func (q *Queue) waitedTooLong(t *Ticket, elapsed time.Duration) bool {
	if q.checking || q.closed {
		return false
	}
	waited := elapsed - t.age.since
	switch t.stage {
	case Queued:
		if !q.hosts.mayPostpone() {
			return false
		}
		queued := elapsed - t.permit.queuedAt
		return queued >= 2*q.limits.HostMaxWait && !q.mayHoldSlot(t) || queued >= q.limits.HoldFor
	case AwaitingFlow:
		// HoldFor counts from the beginning of the wait, or from the last delivery of the flow that began in this process.
		return elapsed-max(t.permit.queuedAt, t.waitsFor.tookAt) >= q.limits.HoldFor && q.hosts.mayPostpone()
	case Ready, Quarantined:
		return waited >= q.limits.HoldFor
	default:
		return false
	}
}

// drop removes deliveries from the queues in which they wait.
func (q *Queue) drop(which func(*Ticket) bool) {
	q.early = slices.DeleteFunc(q.early, which)
	heap.Init(&q.early)
	q.shares.drop(which)
	q.quarantine.waiting = slices.DeleteFunc(q.quarantine.waiting, which)
	q.hosts.drop(which)
	q.flows.drop(which)
}

// Close ends the intake and removes the waiting deliveries. Those that are being checked are removed at their next step.
func (q *Queue) Close() {
	q.closed = true
	q.removeWaiting(func(*Ticket) bool { return true })
}

// EndSession ends a session and removes its waiting deliveries. Those that are being checked are removed at their next step.
func (q *Queue) EndSession(s *Session) {
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

// InRoom returns the number of deliveries that hold room.
func (q *Queue) InRoom() int { return q.room }

// Hosts returns the host counts.
func (q *Queue) Hosts() HostCounts { return q.hosts.counts() }

// HostUses returns the hosts that a namespace uses, in any order.
func (q *Queue) HostUses(namespace string) []HostUse { return q.hosts.uses(namespace) }

// Changed reports whether the queue has changed since the last call of Changed, so that Decide may return another
// decision.
func (q *Queue) Changed() bool {
	changed := q.changed
	q.changed = false
	return changed
}
