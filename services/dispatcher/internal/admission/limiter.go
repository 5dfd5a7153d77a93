package admission

import (
	"cmp"
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
)

// Grant is the answer to a request for a permit. The delivery waits for one if it is neither OK nor Refused.
type Grant struct {
	OK      bool
	Refused Reason
	// Delay is how long to postpone a refused delivery. Exact: it is the timer's turn then; otherwise many have the same
	// delay.
	Delay time.Duration
	Exact bool
	// Host is the name of the target for people.
	Host string
	// Report is how many deliveries of the host were refused since the last report; 0 if it is too early for another.
	Report int
}

// limiter limits the calls of each host. A user topic is a host here, whose events are calls answered by the bus.
//
// A namespace has at most as many permits of a host as its setting hostConcurrency says, and a host as many as the largest
// of these settings. A host never has more permits than slots are free, so that hung hosts can never use all slots. Events
// name their target, so a delivery gets its permit before its row is read and calls immediately after that (I7). Without a
// permit the delivery waits here, holding only a message, if the wait is not longer than HostPatience. Otherwise its row is
// postponed (I11), also while the host's circuit is open.
type limiter struct {
	limits *Limits
	crowd  int // how many may wait for hosts before the wait for silent hosts gets short

	hosts          map[timer.Target]*host
	idle           *list.List // hosts without calls and queue, the longest idle first
	queued         *list.List // hosts with a queue, the next one first
	calls, waiting int
	called         int // hosts with calls
	down           int // circuits opened and not closed since
	clock          *activity
	elapsed        time.Duration // of the last call
}

func newLimiter(l *Limits, clock *activity) *limiter {
	return &limiter{
		limits: l, crowd: l.MaxInFlight / 4, clock: clock, hosts: map[timer.Target]*host{}, idle: list.New(), queued: list.New(),
	}
}

// host is one host and port, or one user topic.
type host struct {
	target  timer.Target
	name    string        // for people; empty until a row that calls it was read
	limit   int           // permits: the largest of its tenants' limits
	calls   int           // permits in use
	waiting []*Ticket     // for a permit, in order of arrival; their rows were not read
	on      *list.List    // the limiter's idle or queued list, or none
	element *list.Element // in it

	drain
	refused  int           // deliveries refused since the last report
	reportAt time.Duration // when the next report is due

	tenants map[string]*tenant // by namespace
	down    int                // circuits that have opened and not closed since
}

// tenant is a namespace that calls a host. Each has its own circuit: calls without an answer, perhaps with a short timeout,
// say nothing about the receivers of other namespaces behind the same host. Its drain decides while its own limit is reached.
type tenant struct {
	circuit
	drain
	limit, calls, waiting int
}

// permit is that of a ticket.
type permit struct {
	host     *host // whose permit the ticket holds, or waits for
	granted  bool
	tenant   *tenant       // the ticket's namespace at that host
	changes  int           // of the circuit when the permit was granted
	queuedAt time.Duration // when the ticket began to wait
	calledAt time.Duration // when the call began, by the activity clock
}

// at notes the time, and returns that of the activity clock.
func (l *limiter) at(elapsed time.Duration) time.Duration {
	l.elapsed = max(l.elapsed, elapsed)
	return l.clock.read(elapsed)
}

// share is how many permits a host may hold.
func (l *limiter) share(h *host) int { return max(1, min(h.limit, l.limits.Concurrency-l.calls)) }

// enter grants a permit to a ticket, lets it wait, or refuses it. age is how long it has been due.
func (l *limiter) enter(t *Ticket, age, elapsed time.Duration) Grant {
	if t.permit.granted {
		return Grant{OK: true}
	}
	h, n := l.of(t)
	return l.request(h, n, t, age, elapsed)
}

// request is enter for a ticket without a permit; of has returned h and n.
func (l *limiter) request(h *host, n *tenant, t *Ticket, age, elapsed time.Duration) Grant {
	now := l.at(elapsed)
	if t.HostLimit != 0 && !t.Target.IsTopic() {
		h.setLimit(n, t.HostLimit)
	}
	switch {
	case !n.lets(l.elapsed):
		return l.refuse(h, n, Open, age)
	case len(h.waiting) == 0 && l.take(h, n, t):
		return Grant{OK: true}
	case len(h.waiting) >= l.keeps(h, now) || n.waiting >= l.keepsOf(n, now):
		return l.refuse(h, n, Saturated, age)
	}
	t.permit.host, t.permit.tenant, t.permit.queuedAt = h, n, elapsed
	h.waiting = append(h.waiting, t)
	n.waiting++
	l.waiting++
	l.place(h)
	return Grant{}
}

// keeps is how many may wait for a host. If it has permits left, they wait for slots and not for the host.
func (l *limiter) keeps(h *host, now time.Duration) int {
	if h.calls < l.share(h) {
		return maxWaiting
	}
	return l.bearable(&h.drain, h.calls, now)
}

// keepsOf is how many of a namespace may wait for a host.
func (l *limiter) keepsOf(n *tenant, now time.Duration) int {
	if n.calls < n.limit {
		return maxWaiting
	}
	return l.bearable(&n.drain, n.calls, now)
}

// bearable is how many can wait without waiting too long. If deliveries that wait for hosts take up much of the intake, most
// of those of silent hosts are postponed, to make room for others.
func (l *limiter) bearable(d *drain, calls int, now time.Duration) int {
	patience := l.limits.HostPatience
	if l.waiting > l.crowd && d.silent(now) {
		patience /= crowdedPatience
	}
	return d.bearable(now, calls, patience)
}

// crowdedPatience divides HostPatience for a silent host while more than crowd deliveries wait.
const crowdedPatience = 8

const reportEvery = time.Minute // at most one log line about a host

// refuse returns a refusal with its delay. The longer the timer has been due, the longer the delay if the host does not answer
// at all, so the limiter need not count the refusals of a timer.
func (l *limiter) refuse(h *host, n *tenant, why Reason, age time.Duration) Grant {
	g := Grant{Refused: why, Host: h.name}
	if g.Host == "" {
		g.Host = h.target.String()
	}
	if why == Open {
		g.Delay = min(max(age, l.limits.CircuitOpenFor), l.limits.PostponeMost)
	} else {
		d, permits := &h.drain, h.calls
		if n.calls >= n.limit {
			d, permits = &n.drain, n.calls
		}
		g.Delay, g.Exact = d.postpone(l.clock.total, permits, l.limits.HostPatience, l.limits.PostponeMost)
	}
	if h.refused++; l.elapsed >= h.reportAt {
		g.Report, h.refused = h.refused, 0
		h.reportAt = l.elapsed + reportEvery
	}
	l.place(h)
	return g
}

// may reports whether a namespace may have a permit of a host now.
func (l *limiter) may(h *host, n *tenant) bool {
	return h.calls < l.share(h) && n.calls < n.limit && n.lets(l.elapsed)
}

// free reports whether there is a permit for a ticket, or it needs none.
func (l *limiter) free(t *Ticket) bool {
	h := l.hosts[t.Target]
	return h == nil || l.may(h, l.tenant(h, t))
}

// retryAt returns when the circuit that is open for a ticket lets one call try the host; 0 if no circuit is open, or a call
// tries it already.
func (l *limiter) retryAt(t *Ticket) time.Duration {
	h := l.hosts[t.Target]
	if h == nil {
		return 0
	}
	if n := l.tenant(h, t); n.down && !n.trying {
		return n.until
	}
	return 0
}

// first finds the first ticket that waits for a host and may have a permit; -1 if there is none.
func (l *limiter) first(h *host, may func(*Ticket) bool) int {
	if h.calls >= l.share(h) || !l.anyTenant(h, func(n *tenant) bool { return n.waiting > 0 && n.calls < n.limit }) {
		return -1
	}
	return slices.IndexFunc(h.waiting, func(t *Ticket) bool { return may(t) && l.may(h, t.permit.tenant) })
}

// anyTenant reports whether one of a host's namespaces, of which there are fewer than waiting tickets, satisfies wanted.
func (l *limiter) anyTenant(h *host, wanted func(*tenant) bool) bool {
	for _, n := range h.tenants {
		if wanted(n) {
			return true
		}
	}
	return false
}

// take grants a permit, if there is one.
func (l *limiter) take(h *host, n *tenant, t *Ticket) bool {
	if !l.may(h, n) {
		return false
	}
	l.grant(h, n, t)
	return true
}

func (l *limiter) grant(h *host, n *tenant, t *Ticket) {
	n.trying = n.down
	n.calls++
	t.permit.host, t.permit.granted, t.permit.tenant, t.permit.changes = h, true, n, n.changes
	if h.calls++; h.calls == 1 {
		l.called++
	}
	l.calls++
	l.place(h)
}

// next grants a permit to the first waiting ticket that may have one, by round robin over hosts; nil if there is none.
func (l *limiter) next(may func(*Ticket) bool) *Ticket {
	for e := l.queued.Front(); e != nil; e = e.Next() {
		h := hostIn(e)
		at := l.first(h, may)
		if at < 0 {
			continue
		}
		t := h.waiting[at]
		l.dequeue(h, at)
		l.grant(h, t.permit.tenant, t)
		if len(h.waiting) > 0 {
			l.queued.MoveToBack(h.element)
		}
		return t
	}
	return nil
}

// any reports whether next would find one.
func (l *limiter) any(may func(*Ticket) bool) bool {
	for e := l.queued.Front(); e != nil; e = e.Next() {
		if l.first(hostIn(e), may) >= 0 {
			return true
		}
	}
	return false
}

// begin notes that a ticket calls its host from now on.
func (l *limiter) begin(t *Ticket, elapsed time.Duration) {
	t.permit.calledAt = l.at(elapsed)
	if t.permit.granted {
		t.permit.host.begin(t.permit.calledAt)
		t.permit.tenant.begin(t.permit.calledAt)
	}
	t.share.begin(t.permit.calledAt)
}

// release returns the permit of a ticket, if it holds one. called: the call had begun.
func (l *limiter) release(t *Ticket, result Result, called bool) (name string, changed Change) {
	p := &t.permit
	if !p.granted {
		return "", ""
	}
	h := p.host
	p.host, p.granted = nil, false
	p.tenant.calls--
	if h.calls--; h.calls == 0 {
		l.called--
	}
	l.calls--
	if called {
		h.end(l.clock.total, p.calledAt, result != Untried)
		p.tenant.end(l.clock.total, p.calledAt, result != Untried)
	}
	changed = l.report(h, p, result)
	l.place(h)
	return h.name, changed
}

// shed takes tickets out of the queues, from the end of each: refuse gets those that would wait too long, and again
// those whose circuit has opened, to be read and refused by their retry policy.
func (l *limiter) shed(elapsed time.Duration, refuse func(*Ticket, Grant), again func(*Ticket)) {
	now := l.at(elapsed)
	for e := l.queued.Front(); e != nil; {
		h, following := hostIn(e), e.Next()
		if h.down > 0 {
			for at, t := range slices.Backward(h.waiting) {
				if n := t.permit.tenant; n.down && l.elapsed <= n.until {
					l.unqueue(h, at)
					again(t)
				}
			}
		}
		for last := len(h.waiting) - 1; last >= 0 && last >= l.keeps(h, now); last-- {
			t := h.waiting[last]
			n := t.permit.tenant
			l.unqueue(h, last)
			refuse(t, l.refuse(h, n, Saturated, 0))
		}
		if len(h.tenants) > 1 && l.anyTenant(h, func(n *tenant) bool { return n.waiting > l.keepsOf(n, now) }) {
			for at, t := range slices.Backward(h.waiting) {
				if n := t.permit.tenant; n.waiting > l.keepsOf(n, now) {
					l.unqueue(h, at)
					refuse(t, l.refuse(h, n, Saturated, 0))
				}
			}
		}
		e = following
	}
}

// drop takes tickets out of the queues.
func (l *limiter) drop(which func(*Ticket) bool) {
	for e := l.queued.Front(); e != nil; {
		h, following := hostIn(e), e.Next()
		for at, t := range slices.Backward(h.waiting) {
			if which(t) {
				l.unqueue(h, at)
			}
		}
		e = following
	}
}

func (l *limiter) unqueue(h *host, at int) {
	l.dequeue(h, at)
	l.place(h)
}

// dequeue is unqueue without place, which may remove a host that nothing uses.
func (l *limiter) dequeue(h *host, at int) {
	p := &h.waiting[at].permit
	p.host = nil
	p.tenant.waiting--
	if at == 0 {
		h.waiting[0] = nil
		h.waiting = h.waiting[1:]
	} else {
		h.waiting = slices.Delete(h.waiting, at, at+1)
	}
	l.waiting--
}

// of returns the host of a ticket and its namespace there, creating them if absent.
func (l *limiter) of(t *Ticket) (*host, *tenant) {
	h := l.hosts[t.Target]
	if h == nil {
		h = &host{target: t.Target, name: t.host, tenants: map[string]*tenant{}}
		l.hosts[t.Target] = h
	}
	return h, l.tenant(h, t)
}

// name names the host of a ticket.
func (l *limiter) name(t *Ticket) {
	if h := l.hosts[t.Target]; h != nil {
		h.name = t.host
	}
}

// tenant returns the namespace of a ticket at a host, creating it if absent.
func (l *limiter) tenant(h *host, t *Ticket) *tenant {
	n := h.tenants[t.Namespace]
	if n == nil {
		n = &tenant{}
		h.tenants[t.Namespace] = n
		if t.Target.IsTopic() {
			h.setLimit(n, l.limits.TopicLimit)
		} else {
			h.setLimit(n, cmp.Or(t.HostLimit, l.limits.HostLimit))
		}
	}
	return n
}

func (h *host) setLimit(of *tenant, limit int) {
	if of.limit == limit {
		return
	}
	of.limit, h.limit = limit, 0
	for _, n := range h.tenants {
		h.limit = max(h.limit, n.limit)
	}
}

// place moves a host to the list that it belongs to. If there are too many hosts, the longest idle are removed; those in use
// are bounded by the intake.
func (l *limiter) place(h *host) {
	switch {
	case len(h.waiting) > 0:
		l.move(h, l.queued)
	case h.calls > 0:
		l.move(h, nil)
	default:
		l.move(h, l.idle)
	}
	for len(l.hosts) > l.limits.HostsRemembered && l.idle.Len() > 0 {
		oldest := hostIn(l.idle.Front())
		l.move(oldest, nil)
		delete(l.hosts, oldest.target)
		l.down -= oldest.down
	}
}

// move puts a host at the end of a list, unless it is on it.
func (l *limiter) move(h *host, to *list.List) {
	if h.on == to {
		return
	}
	if h.on != nil {
		h.on.Remove(h.element)
	}
	h.on, h.element = to, nil
	if to != nil {
		h.element = to.PushBack(h)
	}
}

func hostIn(e *list.Element) *host {
	return e.Value.(*host) //nolint:errcheck // the lists hold one type.
}

// HostCounts is how many hosts have calls, have deliveries that wait for them, and have open circuits.
type HostCounts struct{ Called, Queued, Open int }

func (l *limiter) counts() HostCounts { return HostCounts{l.called, l.queued.Len(), l.down} }
