package dispatcher

import (
	"container/list"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/timerbus/timerbus/pkg/timer"
)

// refusal is why a delivery may not call its host now.
type refusal string

const (
	refusedFull refusal = "saturated"
	refusedOpen refusal = "open"
)

// entry is what the gate decides about a delivery whose target is known.
type entry struct {
	// in: it holds one of the host's places.
	in bool
	// refused is empty if it waits in this process for a place.
	refused refusal
	// delay is how long to postpone what was refused. exact: it is the timer's turn then; otherwise many have the same
	// delay.
	delay time.Duration
	exact bool
	// host names the target for people.
	host string
	// report is how many deliveries of the host were refused since the last report; 0 if it is too early for another.
	report int
}

// change is what happened to a host's circuit.
type change string

const (
	circuitOpened change = "opened"
	circuitClosed change = "closed"
)

// reportEvery is the shortest time between two log lines about the same host.
const reportEvery = time.Minute

// gate keeps receivers apart: it knows the hosts that are called and decides who may call now. It is the
// board's, under its lock.
//
// Permits per host are min(its limit, free slots), so that hung hosts can never use all slots. Events name their target, so
// a delivery gets its permit before its row is read and calls at once after that (I7). Without a permit the delivery waits
// here, holding only a message, if the wait is not longer than patience. Otherwise its row is postponed (I11), also while
// the host's circuit is open.
type gate struct {
	slotLimit, remembered           int
	hostLimit, topicLimit           int // places
	patience, postponeMost, openFor time.Duration
	breakAfter                      uint32
	crowd                           int // how many may wait for hosts before patience gets short

	hosts          map[timer.Target]*host
	idle           *list.List // hosts without calls and queue, the longest idle first
	queued         *list.List // hosts with a queue, whose turn it is first
	calls, waiting int
	called         int // hosts with calls under way
	clock          *activity
	open           int // circuits opened and not closed since
}

func newGate(c *Config) *gate {
	return &gate{
		slotLimit: c.Concurrency, remembered: c.HostsRemembered, hostLimit: c.HostLimit, topicLimit: c.TopicLimit,
		patience: c.HostPatience, postponeMost: c.PostponeMost, openFor: c.CircuitOpenFor,
		breakAfter: uint32(c.CircuitAfter), crowd: c.MaxInFlight / 4, clock: &activity{},
		hosts: map[timer.Target]*host{}, idle: list.New(), queued: list.New(),
	}
}

// share is how many places a host may hold.
func (g *gate) share(h *host) int { return max(1, min(h.limit, g.slotLimit-g.calls)) }

// enter takes a place for a delivery, lets it wait, or refuses it. age is how long it has been due.
func (g *gate) enter(d *delivery, age, elapsed time.Duration) entry {
	if d.passed != nil {
		return entry{in: true} // a place was kept for it
	}
	h := g.host(d)
	now := g.clock.read(elapsed)
	switch {
	case !g.circuit(h, d).lets():
		return g.refuse(h, refusedOpen, age, elapsed)
	case len(h.waiting) == 0 && h.calls < g.share(h):
		if !g.take(h, d) {
			return g.refuse(h, refusedOpen, age, elapsed)
		}
		return entry{in: true}
	case len(h.waiting) >= g.keeps(h, now):
		return g.refuse(h, refusedFull, age, elapsed)
	}
	d.host, d.queuedAt = h, elapsed
	h.waiting = append(h.waiting, d)
	g.waiting++
	g.rest(h)
	return entry{}
}

// keeps is how many may wait for a host. If it has permits left, they wait for slots and not for the host. If deliveries
// that wait for hosts take up much of what the bus hands over, most of those of silent hosts go, to make room for others.
func (g *gate) keeps(h *host, now time.Duration) int {
	switch {
	case h.calls < g.share(h):
		return maxWaiting
	case g.waiting > g.crowd && h.silent(now):
		return h.bearable(now, h.calls, g.patience/crowdedPatience)
	default:
		return h.bearable(now, h.calls, g.patience)
	}
}

// crowdedPatience divides patience for a silent host while more than crowd deliveries wait.
const crowdedPatience = 8

// refuse says for how long. The longer the timer has been due, the longer it waits for a host that does not
// answer at all; nothing has to be remembered for that.
func (g *gate) refuse(h *host, why refusal, age, elapsed time.Duration) entry {
	e := entry{refused: why, host: h.name}
	if e.host == "" {
		e.host = h.target.String()
	}
	if why == refusedOpen {
		e.delay = min(max(age, g.openFor), g.postponeMost)
	} else {
		e.delay, e.exact = h.postpone(g.clock.read(elapsed), h.calls, g.patience, g.postponeMost)
	}
	if h.refused++; elapsed >= h.reportAt {
		e.report, h.refused = h.refused, 0
		h.reportAt = elapsed + reportEvery
	}
	g.rest(h)
	return e
}

// may reports whether a place is free.
func (g *gate) may(h *host) bool { return h.calls < g.share(h) }

// lets reports whether a place is free for a delivery, or it needs none.
func (g *gate) lets(d *delivery) bool {
	h := g.hosts[d.target]
	return h == nil || g.may(h) && g.circuit(h, d).lets()
}

// closed reports whether the circuit of a delivery's target would let one more call through.
func (g *gate) closed(d *delivery) bool {
	h := g.hosts[d.target]
	return h == nil || g.circuit(h, d).lets()
}

// first finds the first that waits for a host and may have a place that is free; -1 if there is none.
func (g *gate) first(h *host, may func(*delivery) bool) int {
	if !g.may(h) {
		return -1
	}
	return slices.IndexFunc(h.waiting, func(d *delivery) bool { return may(d) && g.circuit(h, d).lets() })
}

// take takes a place, if the circuit lets one more through.
func (g *gate) take(h *host, d *delivery) bool {
	c := g.circuit(h, d)
	passed, err := c.Allow()
	if err != nil {
		return false
	}
	d.host, d.circuit, d.passed = h, c, passed
	if h.calls++; h.calls == 1 {
		g.called++
	}
	g.calls++
	g.rest(h)
	return true
}

// next takes a place for the first waiting delivery that there is one for and that may have it, in turn over
// hosts; nil if there is none.
func (g *gate) next(may func(*delivery) bool) *delivery {
	for e := g.queued.Front(); e != nil; e = e.Next() {
		h := hostIn(e)
		at := g.first(h, may)
		if at < 0 || !g.take(h, h.waiting[at]) {
			continue
		}
		d := h.waiting[at]
		g.unqueue(h, at)
		if len(h.waiting) > 0 {
			g.queued.MoveToBack(h.place)
		}
		return d
	}
	return nil
}

// any reports whether next would find somebody.
func (g *gate) any(may func(*delivery) bool) bool {
	for e := g.queued.Front(); e != nil; e = e.Next() {
		if g.first(hostIn(e), may) >= 0 {
			return true
		}
	}
	return false
}

// begin notes that a delivery calls its host from now on.
func (g *gate) begin(d *delivery) {
	if d.passed != nil {
		d.host.begin(d.calledAt)
	}
}

// leave gives a delivery's place back. cause is nil after an answer, errNoAnswer without one, and errUntried
// if no call was made.
func (g *gate) leave(d *delivery, cause error, elapsed time.Duration) (name string, what change) {
	h, c, passed := d.host, d.circuit, d.passed
	d.host, d.circuit, d.passed = nil, nil, nil
	if h.calls--; h.calls == 0 {
		g.called--
	}
	g.calls--
	if d.calling {
		h.end(g.clock.read(elapsed), d.calledAt, cause != errUntried) //nolint:errorlint // it is ours and never wrapped.
	}
	before := c.State()
	passed(cause)
	switch after := c.State(); {
	case after == before:
	case after == gobreaker.StateOpen && !c.down:
		c.down, what = true, circuitOpened
		h.down++
		g.open++
	case after == gobreaker.StateClosed:
		c.down, what = false, circuitClosed
		h.down--
		g.open--
	}
	g.rest(h)
	return h.name, what
}

// shed takes deliveries out of the queues, from the end of each: refuse gets those that would wait too long, and again
// those whose circuit has opened, to be read and refused by their retry policy.
func (g *gate) shed(elapsed time.Duration, refuse func(d *delivery, e entry), again func(d *delivery)) {
	now := g.clock.read(elapsed)
	for e := g.queued.Front(); e != nil; {
		h, following := hostIn(e), e.Next()
		if h.down > 0 {
			for at, d := range slices.Backward(h.waiting) {
				if g.circuit(h, d).State() == gobreaker.StateOpen {
					g.unqueue(h, at)
					again(d)
				}
			}
		}
		for last := len(h.waiting) - 1; last >= 0 && last >= g.keeps(h, now); last-- {
			d := h.waiting[last]
			g.unqueue(h, last)
			refuse(d, g.refuse(h, refusedFull, 0, elapsed))
		}
		e = following
	}
}

// remove takes a delivery out of its host's queue.
func (g *gate) remove(d *delivery) {
	if d.host == nil {
		return
	}
	if at := slices.Index(d.host.waiting, d); at >= 0 {
		g.unqueue(d.host, at)
	}
}

// removeAll takes out of the queues what is meant.
func (g *gate) removeAll(which func(*delivery) bool) {
	for e := g.queued.Front(); e != nil; {
		h, following := hostIn(e), e.Next()
		for at, d := range slices.Backward(h.waiting) {
			if which(d) {
				g.unqueue(h, at)
			}
		}
		e = following
	}
}

func (g *gate) unqueue(h *host, at int) {
	if d := h.waiting[at]; d.passed == nil {
		d.host = nil
	}
	if at == 0 {
		h.waiting[0] = nil
		h.waiting = h.waiting[1:]
	} else {
		h.waiting = slices.Delete(h.waiting, at, at+1)
	}
	g.waiting--
	g.rest(h)
}

// host returns the state of a delivery's target, creating it if absent.
func (g *gate) host(d *delivery) *host {
	if h := g.hosts[d.target]; h != nil {
		return h
	}
	limit := g.hostLimit
	if d.target.IsTopic() {
		limit = g.topicLimit
	}
	h := &host{target: d.target, name: d.hostName, limit: limit, circuits: map[string]*circuit{}}
	g.hosts[d.target] = h
	return h
}

// circuit is the one between a host and a delivery's namespace.
func (g *gate) circuit(h *host, d *delivery) *circuit {
	if c := h.circuits[d.namespace]; c != nil {
		return c
	}
	c := &circuit{TwoStepCircuitBreaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1, Timeout: g.openFor,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= g.breakAfter },
		IsExcluded:  func(err error) bool { return err == errUntried }, //nolint:errorlint // as in leave.
	})}
	h.circuits[d.namespace] = c
	return c
}

// rest puts a host where it belongs: queued, in use, or idle. The longest idle are forgotten where there are
// too many; those in use are bounded by what the bus hands over.
func (g *gate) rest(h *host) {
	switch {
	case len(h.waiting) > 0:
		g.move(h, g.queued)
	case h.calls > 0:
		g.move(h, nil)
	default:
		g.move(h, g.idle)
	}
	for len(g.hosts) > g.remembered && g.idle.Len() > 0 {
		oldest := hostIn(g.idle.Front())
		g.move(oldest, nil)
		delete(g.hosts, oldest.target)
		g.open -= oldest.down
	}
}

// hostCounts is how many hosts are in which state; one may be in several.
type hostCounts struct{ called, queued, open int }

func (g *gate) counts() hostCounts {
	return hostCounts{called: g.called, queued: g.queued.Len(), open: g.open}
}

// move puts a host at the end of a list, unless it is on it.
func (g *gate) move(h *host, to *list.List) {
	if h.on == to {
		return
	}
	if h.on != nil {
		h.on.Remove(h.place)
	}
	h.on, h.place = to, nil
	if to != nil {
		h.place = to.PushBack(h)
	}
}

func hostIn(e *list.Element) *host {
	return e.Value.(*host) //nolint:errcheck // the lists hold one type.
}
