package admission

import (
	"cmp"
	"container/list"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/flow"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// flows limits the deliveries of timers that have a flow key (I21).
//
// A delivery learns its flow when its row is read. It begins if its flow has a free slot of the rate and a free permit of the
// concurrency, which this process has leased from the store. Otherwise it waits here with only its message, in the order of planned
// times, and holds no slot of the dispatcher and no permit of its host. When its turn has come, its row is read again. Timers that would
// wait longer than flowMaxWait are postponed, the latest ones first, each to its estimated turn. The row stores the turn, and a timer
// that returns before its turn keeps it.
type flows struct {
	limits  *Limits
	clock   *activity
	known   map[store.FlowKey]*flowState
	queued  *list.List // flows with waiting deliveries, of *flowState
	waiting int        // deliveries in the queues
	// requesting is the number of requests in flight.
	requesting int
}

// flowState is what a process knows about one flow.
type flowState struct {
	key     store.FlowKey
	text    timer.FlowLimits // of the namespace, from which limit was computed
	limit   timer.FlowLimit
	element *list.Element // in flows.queued, or nil

	slots        []flow.Slot          // leased and not used, in order
	permits      int                  // leased until permitsEnd; request lowers it to the number that it reports as held
	share        int                  // of the permits: deliveries begin only within it, and request returns unused ones above it
	permitsEnd   time.Duration        // by the time of the process
	running      map[*Ticket]struct{} // deliveries that hold permits or have used slots, also those whose permits have ended
	waiting      []*Ticket            // ordered by planned time
	released     int                  // deliveries that wait for their host or the row check, because their turn has come
	atHost       int                  // those of them that wait for their host
	inQuarantine int                  // deliveries that wait in quarantine for a slot and a permit
	nextSlot     flow.Instant
	turnAt       flow.Instant  // the next turn of a timer that is postponed for the first time
	turns        int           // how many such turns are reserved
	wantTurns    int           // how many deliveries wait for such a turn to be reserved
	tookAt       time.Duration // when a delivery last began
	localTurn    flow.Instant  // the next turn of a timer that gets no reserved one: it missed its turn, or none is reserved
	storeOffset  time.Duration // the store's time minus that of the process, when the flow was last used
	shrinking    bool          // the queue was too long, and deliveries are being postponed

	calls drainRate // of the running deliveries

	// late is the Late of requests: 0, or, after two counted misses without a delivery in time between them, 3/2 of lateness. lateAt is
	// when a delivery last needed it. misses is the number of counted misses since a delivery was in time, at most one in lateEvery, and
	// missed the time of the last one. lateness is the longest time from a slot's time to a miss since then, at most maxLate.
	late, lateness time.Duration
	lateAt, missed time.Duration
	misses         int

	requesting  bool          // a request is in flight
	requestedAt time.Duration // when the last one began; 0 if there was none
	unmet       bool          // the last one granted less than it requested
	failures    int           // how many requests in a row have failed
	registered  bool          // the store has, or may have, a state that this process must renew or remove
	unused      bool          // by the last answer, no dispatcher uses the flow
	unusedAt    time.Duration // when this state can be removed
}

const (
	// If deliveries would wait longer than flowMaxQueue in this process, some are postponed, until the remaining ones wait no longer than
	// flowMaxWait. The gap between the two compensates for wrong estimates of turns.
	flowMaxWait  = 2 * time.Second
	flowMaxQueue = 4 * time.Second
	// A timer is postponed by at most flowMaxPostpone or, if its flow has a rate and this is longer, 1/postponeDivisor of the time until
	// its turn. So a raised limit applies to it soon, and a backlog of days costs few postponements.
	flowMaxPostpone = 10 * time.Minute
	postponeDivisor = 8
	// flowLead is how long before its turn a timer returns, so that it is queued when its slot begins. It is also the shortest
	// postponement.
	flowLead = time.Second
	// Requests of a flow are at least flowRequestEvery apart, or flowRequestUnmet if the last one granted less than it requested.
	// While permits are held, they are renewed every flowRenew.
	flowRequestEvery = 20 * time.Millisecond
	flowRequestUnmet = 400 * time.Millisecond
	// One request reserves at most the turns of flowTurnsFor, or flowTurns if that is more, so that several dispatchers get turns
	// alternately.
	flowTurnsFor = time.Second
	flowTurns    = 64
	flowRenew    = time.Second
	// If the state of a flow can be removed within flowCleanUp, the last process that used the flow removes it, otherwise housekeeping.
	flowCleanUp = 10 * time.Second
	// permitsMargin is how long before the end of their lease permits may no longer be used. It is more than the difference between the
	// clocks of two processes.
	permitsMargin = 500 * time.Millisecond
	// After misses, slots last longer until lateFor after a delivery last needed this. A miss counts as at most maxLate late. At most one
	// miss is counted in lateEvery.
	lateFor   = time.Minute
	maxLate   = 15 * time.Second
	lateEvery = 500 * time.Millisecond
	// The store's clock counts as set back if it goes back by more than stepMargin.
	stepMargin = time.Second
	// flowBackoff is the longest time between two requests while they fail.
	flowBackoff = 5 * time.Second
	// maxRequests bounds the requests in flight.
	maxRequests = 64
	// clockGrain is the unit of the clock.
	clockGrain = time.Millisecond
)

func newFlows(limits *Limits, clock *activity) *flows {
	return &flows{limits: limits, clock: clock, known: map[store.FlowKey]*flowState{}, queued: list.New()}
}

// Time is the present for decisions about flows.
type Time struct {
	// Now is the store's time, and Error by how much it may be wrong.
	Now   timer.Millis
	Error time.Duration
	// Elapsed is the time of the process.
	Elapsed time.Duration
}

// flowOf returns a flow, creating it if absent, and nil if the namespace has no limit for the key.
func (l *flows) flowOf(key store.FlowKey, text timer.FlowLimits) *flowState {
	f := l.known[key]
	if f != nil && f.text == text {
		return f
	}
	limit, limited := text.Match(key.Key)
	if !limited {
		return nil
	}
	if f == nil {
		f = &flowState{key: key, running: map[*Ticket]struct{}{}}
		l.known[key] = f
	}
	if f.limit.Rate != limit.Rate {
		f.slots, f.nextSlot, f.turns, f.localTurn = nil, 0, 0, 0
	}
	f.text, f.limit = text, limit
	return f
}

// usable returns how many more deliveries may begin now.
func (f *flowState) usable(t *Time) int {
	free := maxWaiting
	f.checkClock(t)
	if f.limit.Rate.Count > 0 {
		now, within := flow.At(t.Now), t.Error+clockGrain
		// A slot that begins later than a lease allows was leased before the clock was set back.
		latest := now.Add(flow.Horizon + stepMargin)
		f.slots = slices.DeleteFunc(f.slots, func(s flow.Slot) bool { return now.Add(within) > s.Until || s.From > latest })
		free = 0
		for free < len(f.slots) && now.Add(-within) >= f.slots[free].From {
			free++
		}
	}
	if f.limit.Concurrency > 0 {
		f.endPermits(t.Elapsed)
		// While other dispatchers want permits, those above the share are returned as soon as their deliveries have ended.
		free = min(free, min(f.permits, f.share)-len(f.running))
	}
	return max(free, 0)
}

// checkClock forgets the times that were computed before the store's clock was set back (I15).
func (f *flowState) checkClock(t *Time) {
	offset := flow.At(t.Now).Sub(flow.Instant(t.Elapsed))
	if offset < f.storeOffset-stepMargin {
		f.nextSlot, f.turnAt, f.turns, f.localTurn = 0, 0, 0, 0
	}
	f.storeOffset = offset
}

// endPermits ends the permits whose lease has ended. Another dispatcher may lease them soon, so their deliveries never get them
// back.
func (f *flowState) endPermits(elapsed time.Duration) {
	if f.limit.Concurrency == 0 || elapsed < f.permitsEnd {
		return
	}
	f.permits = 0
	f.revokePermits()
}

// revokePermits revokes the permits of all deliveries. Those that began before the flow had a concurrency limit need none.
func (f *flowState) revokePermits() {
	for t := range f.running {
		t.withoutPermit = t.needsPermit
	}
}

// holders returns how many deliveries hold permits.
func (f *flowState) holders() (n int) {
	for t := range f.running {
		if t.needsPermit && !t.withoutPermit {
			n++
		}
	}
	return n
}

// take gives a delivery a slot and a permit. A delivery that the flow has not released gets them only if enough remain for all released and
// waiting ones. mustNotWait skips this check.
func (f *flowState) take(t *Ticket, at *Time, mustNotWait bool) bool {
	others := f.released
	if t.releasedBy == nil {
		others += len(f.waiting)
	}
	if mustNotWait || t.releasedBy != nil {
		others = 0
	}
	if f.usable(at) <= others {
		return false
	}
	f.begin(t, at)
	return true
}

// begin gives a delivery a slot and a permit, which are free.
func (f *flowState) begin(t *Ticket, at *Time) {
	f.takeSlot(t)
	f.tookAt = at.Elapsed
	f.running[t] = struct{}{}
	t.flow, t.needsPermit, t.withoutPermit = f, f.limit.Concurrency > 0, false
}

// wanting returns how many deliveries wait for slots and permits.
func (f *flowState) wanting() int { return len(f.waiting) + f.released + f.inQuarantine }

// soon reports whether a slot and a permit are expected within the horizon of slots.
func (f *flowState) soon(at *Time) bool {
	if f.usable(at) > 0 {
		return true
	}
	if f.limit.Concurrency > 0 && min(f.permits, f.share) <= len(f.running) {
		return false
	}
	return len(f.slots) > 0 || f.requestedAt > 0 && f.failures == 0 && f.nextSlot <= flow.At(at.Now).Add(flow.Horizon)
}

func (f *flowState) takeSlot(t *Ticket) {
	t.slot = flow.Slot{}
	if f.limit.Rate.Count > 0 {
		t.slot, f.slots = f.slots[0], f.slots[1:]
	}
}

// ConfirmFlow reports whether a delivery may send its request now, as far as its flow is concerned. It is called directly before the
// request is sent, because time has passed since the delivery got its slot and its permit. If its slot has ended, it gets
// another one that can be used now. connected is false before there is a connection: then ConfirmFlow is called again.
func (q *Queue) ConfirmFlow(t *Ticket, at *Time, connected bool) bool {
	f := t.flow
	if f == nil {
		return true
	}
	f.endPermits(at.Elapsed)
	if t.withoutPermit {
		return false
	}
	if f.limit.Rate.Count == 0 {
		return true
	}
	now, within := flow.At(at.Now), at.Error+clockGrain
	if t.slot.Until != 0 && now.Add(within) <= t.slot.Until {
		if connected {
			f.inTime(now.Sub(t.slot.From), at.Elapsed)
		}
		return true
	}
	f.usable(at) // removes the slots that have expired
	if len(f.slots) == 0 || f.slots[0].From > now.Add(-within) {
		if t.slot.Until != 0 {
			f.miss(now.Sub(t.slot.From), at.Elapsed)
		}
		return false
	}
	f.takeSlot(t)
	if connected {
		f.misses, f.lateness = 0, 0
	}
	return true
}

// inTime records a delivery whose request begins lateness after its slot's time.
func (f *flowState) inTime(lateness, elapsed time.Duration) {
	f.misses, f.lateness = 0, 0
	switch {
	case f.late == 0:
	case lateness > flow.Tolerance(f.limit.Rate)/2:
		f.lateAt = elapsed
	case elapsed-f.lateAt > lateFor:
		f.late = 0
	}
}

// miss records a delivery that missed the end of its slot. If that happens again and none is in time, as with a receiver to which each
// connection takes longer than slots last, slots are requested that last longer.
func (f *flowState) miss(lateness, elapsed time.Duration) {
	f.lateness = max(f.lateness, min(lateness, maxLate))
	if f.misses > 0 && elapsed-f.missed < lateEvery {
		return
	}
	f.missed = elapsed
	if f.misses++; f.misses > 1 {
		f.late, f.lateAt = max(f.late, f.lateness*3/2), elapsed
	}
}

// RepeatFlow is ConfirmFlow for a repeated request: the first request has used the slot, so the delivery takes a new slot.
func (q *Queue) RepeatFlow(t *Ticket, at *Time) bool {
	t.slot = flow.Slot{}
	return q.ConfirmFlow(t, at, false)
}

// FlowRow is what a row says about its flow, and the limits of its namespace.
type FlowRow struct {
	Key       string
	Limits    timer.FlowLimits
	PlannedAt timer.Millis
	Turn      timer.Millis // FlowTurn of the row
}

// flowOf finds the flow of a row, and records the row's times.
func (q *Queue) flowOf(t *Ticket, row *FlowRow) *flowState {
	t.planned, t.flowTurn = row.PlannedAt, flow.At(row.Turn)
	return q.flows.flowOf(store.FlowKey{Namespace: t.Namespace, Key: row.Key}, row.Limits)
}

// RequestFlow takes a slot and a permit of the flow for a delivery whose row was read. The answer is OK, also if no flow limits it. If
// none is free, the delivery waits, and its row is read again afterwards (Refused is empty); a quarantined one is postponed, because
// its start was counted. ok is false if the delivery has ended.
func (q *Queue) RequestFlow(t *Ticket, row *FlowRow, at *Time) (a Answer, ok bool) {
	if q.ended(t) {
		return a, false
	}
	f := q.flowOf(t, row)
	if f == nil || t.flow == f || f.take(t, at, t.quarantined) {
		q.flows.endTurn(t)
		return Answer{OK: true}, true
	}
	q.flows.endTurn(t)
	if t.quarantined {
		q.postpone(t)
		return f.postponement(t, at, q.flows.clock.total), true
	}
	q.move(t, AwaitingFlow)
	t.permit.queuedAt = at.Elapsed
	q.flows.push(f, t)
	q.changed = true
	return a, true
}

// LimitQuarantined makes a delivery in quarantine wait there until its flow has a slot and a permit for it, so that its start is not
// counted before.
func (q *Queue) LimitQuarantined(t *Ticket, row *FlowRow) {
	if t.stage != Quarantined || t.quarantineFlow != nil {
		return
	}
	if f := q.flowOf(t, row); f != nil {
		t.quarantineFlow = f
		f.inQuarantine++
		q.changed = true
	}
}

// leaveQuarantine records that a delivery no longer waits in quarantine for its flow.
func (l *flows) leaveQuarantine(t *Ticket) {
	if t.quarantineFlow != nil {
		t.quarantineFlow.inQuarantine--
		t.quarantineFlow = nil
	}
}

func (l *flows) push(f *flowState, t *Ticket) {
	place, _ := slices.BinarySearchFunc(f.waiting, t, func(a, b *Ticket) int {
		return cmp.Or(cmp.Compare(a.planned, b.planned), a.UUID.Compare(b.UUID))
	})
	f.waiting = slices.Insert(f.waiting, place, t)
	t.waitsFor = f
	l.waiting++
	if f.element == nil {
		f.element = l.queued.PushBack(f)
	}
}

// remove removes a delivery from the queue of its flow.
func (l *flows) remove(f *flowState, place int) *Ticket {
	t := f.waiting[place]
	f.waiting = slices.Delete(f.waiting, place, place+1)
	t.waitsFor = nil
	if l.waiting--; len(f.waiting) == 0 {
		l.queued.Remove(f.element)
		f.element, f.wantTurns = nil, 0
	}
	return t
}

// beginTurn gives a delivery that its flow has released a slot and a permit. If none is free any more, the delivery waits for its flow
// again, and beginTurn returns false. A delivery that no flow has released passes.
func (q *Queue) beginTurn(t *Ticket, at *Time) bool {
	f := t.releasedBy
	switch {
	case f == nil:
	case f.usable(at) > 0:
		q.flows.endTurn(t)
		f.begin(t, at)
	default:
		q.move(t, AwaitingFlow)
		q.flows.push(f, t)
		return false
	}
	return true
}

// endTurn removes a delivery from the released ones of its flow.
func (l *flows) endTurn(t *Ticket) {
	if t.releasedBy != nil {
		t.releasedBy.released--
		if t.stage == Queued {
			t.releasedBy.atHost--
		}
		t.releasedBy = nil
	}
}

// endFlow records that a delivery has ended. called: its attempt had begun.
func (l *flows) endFlow(t *Ticket, called bool) {
	f := t.flow
	if f == nil {
		return
	}
	t.flow = nil
	delete(f.running, t)
	if called {
		f.calls.end(l.clock.total, t.permit.calledAt, true)
		return
	}
	if t.slot.Until != 0 && f.limit.Rate.Count > 0 { // no request was sent
		place, _ := slices.BinarySearchFunc(f.slots, t.slot, func(a, b flow.Slot) int { return cmp.Compare(a.From, b.From) })
		f.slots = slices.Insert(f.slots, place, t.slot)
	}
}

// releaseFlows moves the deliveries for which their flow has room to the queue for slots of the dispatcher, and postpones those that would
// wait too long. It returns the time until it must be called again; 0 if only a change requires it.
func (q *Queue) releaseFlows(at *Time, refuse func(*Ticket, Answer)) (wait time.Duration) {
	for e := q.flows.queued.Front(); e != nil; {
		f, following := e.Value.(*flowState), e.Next() //nolint:errcheck // the list holds one type.
		e = following
		// Released deliveries that wait for their host do not use up free slots. At most as many wait there as the flow delivers within
		// HostMaxWait.
		free := f.usable(at) - (f.released - f.atHost)
		if f.atHost > 0 {
			free = min(free, f.queueLimit(at, q.flows.clock.total, q.limits.HostMaxWait)-f.atHost)
		}
		for ; free > 0 && len(f.waiting) > 0; free-- {
			t := q.flows.remove(f, 0)
			f.released++
			t.releasedBy = f
			q.waitForSlot(t)
		}
		q.shrinkFlow(f, at, refuse)
		if len(f.waiting) > 0 {
			next := f.untilUsable(at)
			if wait == 0 || next < wait {
				wait = next
			}
		}
	}
	return wait
}

// untilUsable returns when a waiting delivery may have its turn, if no request changes this.
func (f *flowState) untilUsable(at *Time) time.Duration {
	const longest = 100 * time.Millisecond
	for _, s := range f.slots {
		if until := s.From.Sub(flow.At(at.Now)) + at.Error + clockGrain; until > 0 {
			return max(min(until, longest), clockGrain)
		}
	}
	return longest
}

// shrinkFlow postpones the latest deliveries of a flow if they would wait longer than flowMaxQueue.
func (q *Queue) shrinkFlow(f *flowState, at *Time, refuse func(*Ticket, Answer)) {
	wait := flowMaxQueue
	if f.shrinking {
		wait = flowMaxWait
	}
	most := f.queueLimit(at, q.flows.clock.total, wait)
	most = min(most, max(1, q.limits.MaxInFlight/8))
	if q.flows.waiting > q.limits.MaxInFlight/4 {
		most = min(most, q.limits.MaxInFlight/4/q.flows.queued.Len())
	}
	if f.shrinking = len(f.waiting) > most; f.shrinking && wait > flowMaxWait {
		most = min(most, f.queueLimit(at, q.flows.clock.total, flowMaxWait))
	}
	var late []*Ticket
	turns := f.turns
	for len(f.waiting) > most && q.hosts.postponing+len(late) < q.limits.Batch && !q.hosts.postponesNone {
		// While requests fail, no turns can be reserved, and timers of other flows need the memory: postpone without a reserved turn.
		if f.waiting[most].flowTurn == 0 && (turns > 0 || f.failures == 0) {
			if turns == 0 {
				break
			}
			turns--
		}
		late = append(late, q.flows.remove(f, most)) // the earliest of them gets the first turn
	}
	wanted := f.wantTurns
	f.wantTurns = 0
	if turns == 0 && len(f.waiting) > most {
		for _, t := range f.waiting[most:] {
			if t.flowTurn == 0 {
				f.wantTurns++
			}
		}
	}
	q.changed = q.changed || wanted == 0 && f.wantTurns > 0
	for _, t := range late {
		refuse(t, f.postponement(t, at, q.flows.clock.total))
	}
}

// every estimates the time in which the flow delivers one timer.
func (f *flowState) every(total time.Duration) time.Duration {
	every := time.Duration(0)
	if f.limit.Rate.Count > 0 {
		every = flow.Interval(f.limit.Rate)
	}
	if f.limit.Concurrency > 0 {
		every = max(every, f.calls.interval(total, f.limit.Concurrency))
	}
	return max(every, 100*time.Microsecond)
}

// queueLimit returns how many deliveries can wait in this process without waiting longer than wait.
func (f *flowState) queueLimit(at *Time, total, wait time.Duration) int {
	if f.requestedAt == 0 {
		return maxWaiting // nothing is known before the first answer
	}
	most := maxWaiting
	if f.limit.Rate.Count > 0 {
		most = len(f.slots)
		if ahead := flow.At(at.Now).Add(wait).Sub(max(f.nextSlot, flow.At(at.Now))); ahead >= 0 {
			most += f.limit.Rate.Burst + int(ahead/flow.Interval(f.limit.Rate))
		}
	}
	if f.limit.Concurrency > 0 {
		most = min(most, max(f.calls.queueLimit(total, f.limit.Concurrency, wait), f.permits+1))
	}
	return most
}

// postponement postpones a delivery to its turn. If it has none, it gets the next reserved turn. If it missed its turn, or no turn is
// reserved, it gets one after the other timers that this process postponed for these reasons.
func (f *flowState) postponement(t *Ticket, at *Time, total time.Duration) Answer {
	now, every := flow.At(at.Now), f.every(total)
	first := max(now.Add(flowMaxWait), f.nextSlot)
	turn := t.flowTurn
	if turn < first {
		next := &f.localTurn
		if t.flowTurn == 0 && f.turns > 0 {
			f.turns--
			next = &f.turnAt
		}
		turn = max(*next, first)
		*next = turn.Add(every)
	}
	delay := turn.Sub(now) - flowLead
	longest := flowMaxPostpone
	if f.limit.Rate.Count > 0 { // without a rate, turns depend on how long calls took
		longest = max(longest, delay/postponeDivisor)
	}
	return Answer{
		Refused: FlowFull, FlowTurn: turn.Millis(), Delay: max(min(delay, longest), flowLead), Exact: delay <= longest,
	}
}

// FlowRequest is a request to the store for slots and permits of a flow.
type FlowRequest struct {
	Key   store.FlowKey
	Limit timer.FlowLimit
	flow.Request
}

// FlowRequests returns the requests that are due, and the time until the next one; 0 if there is none.
func (q *Queue) FlowRequests(at *Time) (due []FlowRequest, wait time.Duration) {
	var now []*flowState
	for _, f := range q.flows.known {
		q.flows.forget(f, at.Elapsed)
		in := f.requestIn(at, q.closed)
		switch {
		case in < 0: // none
		case in > 0:
			if wait == 0 || in < wait {
				wait = in
			}
		default:
			now = append(now, f)
		}
	}
	// Permits in use are renewed first, then the oldest requests. Simulations must be repeatable.
	slices.SortFunc(now, func(a, b *flowState) int {
		return cmp.Or(-cmp.Compare(min(a.holders(), 1), min(b.holders(), 1)), cmp.Compare(a.requestedAt, b.requestedAt),
			cmp.Compare(a.key.Namespace, b.key.Namespace), cmp.Compare(a.key.Key, b.key.Key))
	})
	// The others are due when a request ends.
	for _, f := range now[:min(len(now), max(maxRequests-q.flows.requesting, 0))] {
		due = append(due, q.flows.request(f, at))
	}
	return due, wait
}

// request begins a request of a flow.
func (l *flows) request(f *flowState, at *Time) FlowRequest {
	l.requesting++
	f.requesting, f.requestedAt = true, max(at.Elapsed, 1)
	r := FlowRequest{Key: f.key, Limit: f.limit}
	f.usable(at) // removes the slots and permits that have ended
	r.Running, r.Waiting = len(f.running), f.wanting()
	f.permits = min(f.permits, max(f.holders(), min(f.share, r.Running+r.Waiting)))
	r.Held = f.permits
	r.Slots, r.ClockError, r.Late = max(r.Waiting-len(f.slots), 0), at.Error+clockGrain, f.late
	if f.turns == 0 {
		r.Every = f.every(l.clock.total)
		r.Turns = min(f.wantTurns, max(int(flowTurnsFor/r.Every), flowTurns))
		r.TurnsAfter = flow.At(at.Now).Add(flowMaxWait)
	}
	return r
}

// forget removes a flow that is not in use, unless its last deliveries were late.
func (l *flows) forget(f *flowState, elapsed time.Duration) {
	idle := !f.registered && !f.requesting && f.requestedAt > 0 && len(f.running) == 0 && f.wanting() == 0
	if idle && (f.misses == 0 && f.late == 0 || elapsed-max(f.missed, f.lateAt) > lateFor) {
		delete(l.known, f.key)
	}
}

// requestIn returns the time until the next request of a flow; -1 if none is needed. ended: no delivery will begin any more.
func (f *flowState) requestIn(at *Time, ended bool) time.Duration {
	if f.requesting {
		return -1
	}
	since := at.Elapsed - f.requestedAt
	waiting := f.wanting()
	f.usable(at) // removes the slots that have expired
	wants := f.limit.Rate.Count > 0 && waiting > len(f.slots) ||
		f.limit.Concurrency > 0 && waiting+len(f.running) > f.permits || waiting > 0 && f.requestedAt == 0
	switch {
	case wants && f.requestedAt == 0:
		return 0
	case f.failures > 0:
		return max(f.backoff()-since, 0)
	case wants && !f.unmet, f.wantTurns > 0 && f.turns == 0,
		f.limit.Concurrency > 0 && f.permits > max(f.share, len(f.running)):
		return max(flowRequestEvery-since, 0)
	case wants:
		return max(flowRequestUnmet-since, 0)
	case f.registered && !f.unused && ended && len(f.running) == 0:
		return 0 // return the permits
	case f.registered && f.unused && len(f.running) == 0:
		return max(f.unusedAt-at.Elapsed, flowRenew-since, 0)
	case f.registered || len(f.running) > 0:
		return max(flowRenew-since, 0)
	default:
		return -1
	}
}

// backoff returns the time between two requests while requests fail.
func (f *flowState) backoff() time.Duration {
	if f.holders() > 0 {
		return flowRequestUnmet // permits must be renewed before they end
	}
	return min(flowRequestUnmet<<min(f.failures-1, 8), flowBackoff)
}

// FlowGranted records the answer, which arrived at elapsed, to a request that was sent at began. known is false if the store has no
// state of the flow any more.
func (q *Queue) FlowGranted(r *FlowRequest, g *flow.Grant, known bool, began, elapsed time.Duration) {
	q.flows.requesting--
	q.changed = true
	f := q.flows.known[r.Key]
	if f == nil {
		return
	}
	f.endPermits(elapsed)
	// A state that can be removed only after flowCleanUp is left to housekeeping, and one that only other dispatchers use to them. So an
	// idle flow costs no requests.
	f.failures = 0
	f.requesting = false
	f.registered = known && (r.Running+r.Waiting+g.Permits > 0 || g.Unused && g.UnusedFor <= flowCleanUp)
	f.unused, f.unusedAt = g.Unused, elapsed+g.UnusedFor
	if f.limit != r.Limit {
		f.requestedAt = 0 // the grant is that of an earlier limit
		return
	}
	f.slots = append(f.slots, g.Slots...)
	f.nextSlot = g.NextSlot
	if r.Turns > 0 {
		f.turnAt, f.turns = g.TurnsFrom, r.Turns
	}
	f.permits, f.share, f.permitsEnd = g.Permits, g.Share, began+flow.PermitsFor-permitsMargin
	f.endPermits(elapsed)
	if f.permits < f.holders() {
		f.revokePermits() // their lease had ended, and others may have leased them
	}
	f.unmet = len(g.Slots) < r.Slots || r.Limit.Concurrency > 0 && g.Permits < r.Running+r.Waiting
	q.flows.forget(f, elapsed)
}

// FlowFailed records that a request failed. It is made again later.
func (q *Queue) FlowFailed(r *FlowRequest) {
	q.flows.requesting--
	q.changed = true
	if f := q.flows.known[r.Key]; f != nil {
		f.requesting, f.unmet, f.registered = false, true, true
		f.failures++
	}
}

// WithoutPermits returns the deliveries that have begun and whose permits of a flow have ended, because they were not renewed. It returns
// each of them once. wait is the time until the next permits end; 0 if no delivery holds any.
func (q *Queue) WithoutPermits(elapsed time.Duration) (cut []*Ticket, wait time.Duration) {
	for _, f := range q.flows.known {
		if f.limit.Concurrency == 0 || len(f.running) == 0 {
			continue
		}
		f.endPermits(elapsed)
		for t := range f.running {
			if t.withoutPermit && !t.cut && t.stage == Calling {
				t.cut = true
				cut = append(cut, t)
			}
		}
		if left := f.permitsEnd - elapsed; left > 0 && (wait == 0 || left < wait) {
			wait = left
		}
	}
	slices.SortFunc(cut, func(a, b *Ticket) int { return a.UUID.Compare(b.UUID) })
	return cut, wait
}

// FlowRequestsInFlight returns the number of requests in flight.
func (q *Queue) FlowRequestsInFlight() int { return q.flows.requesting }

// FlowCounts is the number of flows that this process knows, and the number of deliveries that wait for them.
type FlowCounts struct{ Known, Waiting int }

// Flows returns the counts of flows.
func (q *Queue) Flows() FlowCounts { return FlowCounts{len(q.flows.known), q.flows.waiting} }

// drop removes deliveries from the queues.
func (l *flows) drop(which func(*Ticket) bool) {
	for e := l.queued.Front(); e != nil; {
		f, following := e.Value.(*flowState), e.Next() //nolint:errcheck // the list holds one type.
		for place, t := range slices.Backward(f.waiting) {
			if which(t) {
				l.remove(f, place)
			}
		}
		e = following
	}
}
