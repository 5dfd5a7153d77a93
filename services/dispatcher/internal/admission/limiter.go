package admission

import (
	"container/list"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Reason is why a delivery may not call its host now.
type Reason string

const (
	// Saturated: it would wait too long for a permit.
	Saturated Reason = "saturated"
	// Open: the circuit is open.
	Open Reason = "open"
	// FlowFull: it would wait too long for its flow.
	FlowFull Reason = "flow"
)

// Answer is the answer to a request for a permit of a host or for a start in a flow: granted (OK) or refused. If it is neither, the
// delivery waits. In a Postponement, it is the reason and the delay.
type Answer struct {
	OK      bool
	Refused Reason
	// Delay is how long to postpone a refused delivery. Exact: it is expected to start after this delay. Otherwise many
	// deliveries get the same delay, and the caller adds jitter.
	Delay time.Duration
	Exact bool
	// FlowTurn is the turn of a delivery that waits for its flow; 0 if it waits for something else.
	FlowTurn timer.Millis
	// Host is the readable name of the target.
	Host string
	// Report is the number of deliveries of the host that were refused since the last report; 0: no report is due.
	Report int
}

// limiter limits the concurrent calls of each host. A user topic is a host here: its events are the calls, and the bus
// answers them.
//
// A namespace has at most as many permits of a host as its setting hostConcurrency allows, and a host at most as many
// as the largest of these settings. A host gets at most as many permits as are not in use, but at least one, so each further
// hung host holds fewer. Events name their target, so a delivery gets its permit before its row is read, and calls immediately
// after the read (I7). Without a permit the delivery waits here with only its message. If the expected wait exceeds
// HostMaxWait, or the host's circuit is open, its row is postponed (I11); in the first case, at most a batch at a time.
type limiter struct {
	limits           *Limits
	maxWaitingSilent int // number of waiting deliveries above which silent hosts keep shorter queues

	hosts          map[timer.Target]*host
	idle           *list.List // hosts without calls and queue, the longest idle first
	queued         *list.List // hosts with a queue, the next one first
	calls, waiting int
	postponing     int  // deliveries in Writing because they would have waited too long
	postponesNone  bool // no delivery is refused because of its wait, see Queue.Decide
	hostsInUse     int  // hosts with calls
	openCircuits   int  // open circuits
	clock          *activity
	elapsed        time.Duration // of the last call
}

func newLimiter(l *Limits, clock *activity) *limiter {
	return &limiter{
		limits: l, maxWaitingSilent: l.MaxInFlight / 4, clock: clock, hosts: map[timer.Target]*host{}, idle: list.New(), queued: list.New(),
	}
}

// permit is the permit of a host that a delivery holds or waits for.
type permit struct {
	host     *host
	granted  bool
	tenant   *tenant       // the delivery's namespace at that host
	changes  int           // of the circuit when the permit was granted
	queuedAt time.Duration // when the delivery began to wait
	calledAt time.Duration // when the call began, by the activity clock
}

// setTime records the time, and returns that of the activity clock.
func (l *limiter) setTime(elapsed time.Duration) time.Duration {
	l.elapsed = max(l.elapsed, elapsed)
	return l.clock.read(elapsed)
}

// permitLimit returns how many permits a host may have.
func (l *limiter) permitLimit(h *host) int { return max(1, min(h.limit, l.limits.Concurrency-l.calls)) }

// acquire grants a permit to a delivery, makes it wait, or refuses it. age is the time since its executeAt.
func (l *limiter) acquire(t *Ticket, age, elapsed time.Duration) Answer {
	if t.permit.granted {
		return Answer{OK: true}
	}
	h, n := l.hostOf(t)
	return l.request(h, n, t, age, elapsed)
}

// request is acquire for a delivery without a permit. h and n are the results of hostOf.
func (l *limiter) request(h *host, n *tenant, t *Ticket, age, elapsed time.Duration) Answer {
	now := l.setTime(elapsed)
	if t.HostLimit != 0 && !t.Target.IsTopic() {
		h.setLimit(n, t.HostLimit)
	}
	switch {
	case !n.allows(l.elapsed):
		return l.refuse(h, n, Open, age)
	case len(h.waiting) == 0 && l.tryGrant(h, n, t):
		return Answer{OK: true}
	case l.mayPostpone() && !n.wouldDisplace(t) &&
		(len(h.waiting) >= l.hostQueueLimit(h, now) && h.fillsQueue(n) || n.waiting >= l.tenantQueueLimit(n, now)):
		return l.refuse(h, n, Saturated, age)
	}
	t.permit.host, t.permit.tenant, t.permit.queuedAt = h, n, elapsed
	h.waiting = append(h.waiting, t)
	if n.waiting++; n.waiting == 1 {
		h.tenantsWaiting++
	}
	n.postponements[t.Postponements]++
	l.waiting++
	l.updateList(h)
	return Answer{}
}

// mayPostpone reports whether another delivery may be refused because it would wait too long. If not, the delivery keeps
// waiting, and gets a permit if its host becomes faster. Without this limit, one slow second after an outage would
// postpone all timers that are in memory, and they would hold all room until their postponements are written.
func (l *limiter) mayPostpone() bool { return l.postponing < l.limits.Batch && !l.postponesNone }

// hostQueueLimit returns how many deliveries may wait for a host. If the host has free permits, they wait for slots and
// not for the host.
func (l *limiter) hostQueueLimit(h *host, now time.Duration) int {
	if h.calls < l.permitLimit(h) {
		return maxWaiting
	}
	return l.queueLimit(&h.drainRate, h.calls, now)
}

// fillsQueue reports whether a namespace has at least an equal share of the deliveries that wait for a host. Only such
// namespaces are postponed if the host's queue is too long.
func (h *host) fillsQueue(n *tenant) bool { return n.waiting*h.tenantsWaiting >= len(h.waiting) }

// tenantQueueLimit returns how many deliveries of a namespace may wait for a host.
func (l *limiter) tenantQueueLimit(n *tenant, now time.Duration) int {
	if n.calls < n.limit {
		return maxWaiting
	}
	return l.queueLimit(&n.drainRate, n.calls, now)
}

// queueLimit returns how many deliveries can wait without waiting too long. If the deliveries that wait for hosts use much of
// MaxInFlight, silent hosts keep shorter queues, to make room for other hosts.
func (l *limiter) queueLimit(d *drainRate, calls int, now time.Duration) int {
	maxWait := l.limits.HostMaxWait
	if l.waiting > l.maxWaitingSilent && d.silent(now) {
		maxWait /= silentWaitDivisor
	}
	return d.queueLimit(now, calls, maxWait)
}

// silentWaitDivisor divides HostMaxWait for a silent host while more than maxWaitingSilent deliveries wait.
const silentWaitDivisor = 8

const reportEvery = time.Minute // at most one log line per host

// refuse returns a refusal with its delay. If the circuit is open, the delay grows with the age of the timer, so the
// limiter need not count the refusals of a timer.
func (l *limiter) refuse(h *host, n *tenant, why Reason, age time.Duration) Answer {
	g := Answer{Refused: why, Host: h.name}
	if g.Host == "" {
		g.Host = h.target.String()
	}
	if why == Open {
		g.Delay = min(max(age, l.limits.CircuitOpenFor), l.limits.MaxPostpone)
	} else {
		d, permits := &h.drainRate, h.calls
		if n.calls >= n.limit {
			d, permits = &n.drainRate, n.calls
		}
		g.Delay, g.Exact = d.postponement(l.clock.total, permits, l.limits.HostMaxWait, l.limits.MaxPostpone)
	}
	if h.refused++; l.elapsed >= h.reportAt {
		g.Report, h.refused = h.refused, 0
		h.reportAt = l.elapsed + reportEvery
	}
	l.updateList(h)
	return g
}

// mayGrant reports whether a namespace may get a permit of a host now.
func (l *limiter) mayGrant(h *host, n *tenant) bool {
	return h.calls < l.permitLimit(h) && n.calls < n.limit && n.allows(l.elapsed)
}

// free reports whether a delivery can get a permit now, or needs none.
func (l *limiter) free(t *Ticket) bool {
	h := l.hosts[t.Target]
	return h == nil || l.mayGrant(h, l.tenant(h, t))
}

// retryAt returns when the delivery's open circuit allows one trial call. It returns 0 if the circuit does not keep the delivery
// waiting, or a trial call is running: then the end of another call wakes the delivery.
func (l *limiter) retryAt(t *Ticket) time.Duration {
	h := l.hosts[t.Target]
	if h == nil {
		return 0
	}
	if n := l.tenant(h, t); n.open && !n.trying && l.elapsed <= n.retryAt {
		return n.retryAt
	}
	return 0
}

// firstGrantable returns the index of the first delivery that waits for a host and may get a permit; -1 if there is none. A
// delivery whose turn in its flow has come gets one only while its flow has a slot for it, and keeps its place until then.
func (l *limiter) firstGrantable(h *host, may func(*Ticket) bool, at *Time) int {
	if h.calls >= l.permitLimit(h) || !l.anyTenant(h, func(n *tenant) bool { return n.waiting > 0 && n.calls < n.limit }) {
		return -1
	}
	var refused *tenant // the last one that may not get a permit
	return slices.IndexFunc(h.waiting, func(t *Ticket) bool {
		if t.permit.tenant == refused {
			return false
		}
		if may(t) && l.mayGrant(h, t.permit.tenant) {
			return t.releasedBy == nil || t.releasedBy.usable(at) > 0
		}
		refused = t.permit.tenant
		return false
	})
}

// anyTenant reports whether wanted is true for one of a host's namespaces. It must be false for those without waiting
// deliveries.
func (l *limiter) anyTenant(h *host, wanted func(*tenant) bool) bool {
	if h.tenantsWaiting == 1 {
		return wanted(h.waiting[0].permit.tenant)
	}
	for _, n := range h.tenants {
		if wanted(n) {
			return true
		}
	}
	return false
}

// tryGrant grants a permit if one is free.
func (l *limiter) tryGrant(h *host, n *tenant, t *Ticket) bool {
	if !l.mayGrant(h, n) {
		return false
	}
	l.grant(h, n, t)
	return true
}

func (l *limiter) grant(h *host, n *tenant, t *Ticket) {
	n.trying = n.open
	n.calls++
	t.permit.host, t.permit.granted, t.permit.tenant, t.permit.changes = h, true, n, n.changes
	if h.calls++; h.calls == 1 {
		l.hostsInUse++
	}
	l.calls++
	l.updateList(h)
}

// next grants a permit to the first waiting delivery that may have one, by round robin over hosts. It returns nil if
// there is none.
func (l *limiter) next(may func(*Ticket) bool, now *Time) *Ticket {
	for e := l.queued.Front(); e != nil; e = e.Next() {
		h := hostIn(e)
		at := l.firstGrantable(h, may, now)
		if at < 0 {
			continue
		}
		t := h.waiting[at]
		l.removeWaiting(h, at)
		l.grant(h, t.permit.tenant, t)
		if len(h.waiting) > 0 {
			l.queued.MoveToBack(h.element)
		}
		return t
	}
	return nil
}

// hasNext reports whether next would return a delivery.
func (l *limiter) hasNext(may func(*Ticket) bool, now *Time) bool {
	for e := l.queued.Front(); e != nil; e = e.Next() {
		if l.firstGrantable(hostIn(e), may, now) >= 0 {
			return true
		}
	}
	return false
}

// begin records that a delivery calls its host from now on.
func (l *limiter) begin(t *Ticket, elapsed time.Duration) {
	t.permit.calledAt = l.setTime(elapsed)
	if t.permit.granted {
		t.permit.host.begin(t.permit.calledAt)
		t.permit.tenant.begin(t.permit.calledAt)
	}
	t.share.begin(t.permit.calledAt)
}

// release returns the permit of a delivery, if it holds one. called: the call had begun.
func (l *limiter) release(t *Ticket, result Result, called bool) (name string, changed Change) {
	p := &t.permit
	if !p.granted {
		return "", ""
	}
	h := p.host
	p.host, p.granted = nil, false
	p.tenant.calls--
	if h.calls--; h.calls == 0 {
		l.hostsInUse--
	}
	l.calls--
	if called {
		h.end(l.clock.total, p.calledAt, result != Untried)
		p.tenant.end(l.clock.total, p.calledAt, result != Untried)
	}
	changed = l.report(h, p, result)
	l.updateList(h)
	return h.name, changed
}

// shrinkQueues removes deliveries from each host's queue. refuse gets the deliveries that would wait too long. open gets the
// deliveries whose circuit has opened: their rows are read, and their retry policies decide.
func (l *limiter) shrinkQueues(elapsed time.Duration, refuse func(*Ticket, Answer), open func(*Ticket)) {
	now := l.setTime(elapsed)
	for e := l.queued.Front(); e != nil; {
		h, following := hostIn(e), e.Next()
		if h.openCircuits > 0 {
			for at, t := range slices.Backward(h.waiting) {
				if n := t.permit.tenant; n.open && l.elapsed <= n.retryAt {
					l.dequeue(h, at)
					open(t)
				}
			}
		}
		l.shrinkQueue(h, now, refuse)
		e = following
	}
}

// shrinkQueue is shrinkQueues for the deliveries of one host that would wait too long.
func (l *limiter) shrinkQueue(h *host, now time.Duration, refuse func(*Ticket, Answer)) {
	tenantFull := func(n *tenant) bool { return n.waiting > l.tenantQueueLimit(n, now) }
	hostFull, more := false, false
	look := func() {
		hostFull = len(h.waiting) > l.hostQueueLimit(h, now)
		more = l.mayPostpone() && (hostFull || l.anyTenant(h, tenantFull))
	}
	if look(); !more {
		return
	}
	for at, t := range postponeFirst(&h.waiting) {
		if n := t.permit.tenant; hostFull && h.fillsQueue(n) || tenantFull(n) {
			l.dequeue(h, at)
			refuse(t, l.refuse(h, n, Saturated, 0))
			if look(); !more {
				return
			}
		}
	}
}

// drop removes deliveries from the queues.
func (l *limiter) drop(which func(*Ticket) bool) {
	for e := l.queued.Front(); e != nil; {
		h, following := hostIn(e), e.Next()
		for at, t := range slices.Backward(h.waiting) {
			if which(t) {
				l.dequeue(h, at)
			}
		}
		e = following
	}
}

// dequeue removes a delivery from the queue of its host.
func (l *limiter) dequeue(h *host, at int) {
	l.removeWaiting(h, at)
	l.updateList(h)
}

// removeWaiting is dequeue without updateList, which may remove an unused host.
func (l *limiter) removeWaiting(h *host, at int) {
	t := h.waiting[at]
	n := t.permit.tenant
	t.permit.host = nil
	if n.waiting--; n.waiting == 0 {
		h.tenantsWaiting--
	}
	n.postponements[t.Postponements]--
	if at == 0 {
		h.waiting[0] = nil
		h.waiting = h.waiting[1:]
	} else {
		h.waiting = slices.Delete(h.waiting, at, at+1)
	}
	l.waiting--
}
