package dispatcher

import (
	"container/list"
	"math"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
)

// refusal is why a delivery may not call its host now.
type refusal string

const (
	refusedFull refusal = "saturated"
	refusedOpen refusal = "open"
)

// entry is what the gate says to a delivery whose host is known.
type entry struct {
	// in: it holds one of the host's places.
	in bool
	// refused is empty if it waits in this process for a place.
	refused refusal
	// delay is how long to postpone what was refused.
	delay time.Duration
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
// A host has so many places, and no more than the process has free beside those in use: whatever number of
// hosts hangs, some places stay for others. Who finds none waits here if that cannot take long, without
// holding anything but a message, and is row-checked again before the call (I7). Otherwise the row is
// postponed (I11), as it is while the host's circuit is open.
type gate struct {
	slotLimit, remembered           int
	hostLimit, topicLimit           int // places
	patience, postponeMost, openFor time.Duration
	breakAfter                      uint32
	crowd                           int // so many waiting are too many

	hosts          map[string]*host
	idle           *list.List // hosts without calls and queue, the longest idle first
	queued         *list.List // hosts with a queue, whose turn it is first
	calls, waiting int
	called         int // hosts with calls under way
	pulse          pulse
	open           int // circuits opened and not closed since
}

func newGate(c *Config) *gate {
	return &gate{
		slotLimit: c.Concurrency, remembered: c.HostsRemembered, hostLimit: c.HostLimit, topicLimit: c.TopicLimit,
		patience: c.HostPatience, postponeMost: c.PostponeMost, openFor: c.CircuitOpenFor,
		breakAfter: uint32(c.CircuitAfter), crowd: c.MaxInFlight / 2,
		hosts: map[string]*host{}, idle: list.New(), queued: list.New(),
	}
}

// share is how many places a host may hold.
func (g *gate) share(h *host) int { return max(1, min(h.limit, g.slotLimit-g.calls)) }

// enter takes a place for a delivery, lets it wait, or refuses it. age is how long it has been due.
func (g *gate) enter(d *delivery, name string, age, elapsed time.Duration) entry {
	if d.passed != nil {
		return entry{in: true} // a place was kept for it
	}
	h := g.host(name)
	switch {
	case !g.circuit(h, d).lets():
		return g.refuse(h, refusedOpen, age, elapsed)
	case len(h.waiting) == 0 && h.calls < g.share(h):
		if !g.take(h, d) {
			return g.refuse(h, refusedOpen, age, elapsed)
		}
		return entry{in: true}
	}
	if h.calls >= g.share(h) {
		h.fill(elapsed, g.lived(elapsed))
		if len(h.waiting) >= h.bearable(g.lived(elapsed), g.patience) {
			return g.refuse(h, refusedFull, age, elapsed)
		}
	}
	d.host, d.queuedAt = h, elapsed
	h.waiting = append(h.waiting, d)
	g.waiting++
	g.rest(h)
	return entry{}
}

// refuse says for how long. The longer the timer has been due, the longer it waits for a host that does not
// answer at all; nothing has to be remembered for that.
func (g *gate) refuse(h *host, why refusal, age, elapsed time.Duration) entry {
	e := entry{refused: why}
	if why == refusedOpen {
		e.delay = min(max(age, g.openFor), g.postponeMost)
	} else {
		e.delay = h.put(elapsed, g.patience, g.postponeMost)
	}
	if h.refused++; elapsed >= h.reportAt {
		e.report, h.refused = h.refused, 0
		h.reportAt = elapsed + reportEvery
	}
	g.rest(h)
	return e
}

// lived is the time of the pulse.
func (g *gate) lived(elapsed time.Duration) time.Duration { return g.pulse.at(elapsed, g.beatMost()) }

// beatMost is that of the pulse, unless so many wait for hosts that others may not even get here: then all time
// counts.
func (g *gate) beatMost() time.Duration {
	if g.waiting > g.crowd {
		return math.MaxInt64
	}
	return beatMost
}

// may reports whether a place is free.
func (g *gate) may(h *host) bool { return h.calls < g.share(h) }

// lets reports whether a place is free for a delivery, or it needs none.
func (g *gate) lets(d *delivery) bool {
	if d.hostName == "" {
		return true
	}
	h := g.host(d.hostName)
	return g.may(h) && g.circuit(h, d).lets()
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
	passed, err := g.circuit(h, d).Allow()
	if err != nil {
		return false
	}
	d.host, d.passed = h, passed
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

// leave gives a delivery's place back. cause is nil after an answer, errNoAnswer without one, and errUntried
// if no call was made.
func (g *gate) leave(d *delivery, cause error, elapsed time.Duration) (name string, what change) {
	h, passed := d.host, d.passed
	full := h.calls >= g.share(h)
	d.host, d.passed = nil, nil
	if h.calls--; h.calls == 0 {
		g.called--
	}
	g.calls--
	if cause != errUntried { //nolint:errorlint // it is ours and never wrapped.
		g.pulse.beat(elapsed, g.beatMost())
		if full {
			h.step(elapsed, g.pulse.lived)
		} else {
			h.full = false // whoever waits for it waits for this process
		}
	}
	c := g.circuit(h, d)
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

// shed takes out those for whom waiting has become pointless, from the end of each queue.
func (g *gate) shed(elapsed time.Duration, each func(d *delivery, e entry)) {
	for e := g.queued.Front(); e != nil; {
		h, following := hostIn(e), e.Next()
		keep := maxWaiting
		if h.full && h.calls >= g.share(h) {
			keep = h.bearable(g.lived(elapsed), g.patience)
		}
		for at, d := range slices.Backward(h.waiting) {
			var why refusal
			switch {
			case h.down > 0 && g.circuit(h, d).State() == gobreaker.StateOpen:
				why = refusedOpen
			case len(h.waiting) > keep:
				why = refusedFull
			default:
				continue
			}
			g.unqueue(h, at)
			each(d, g.refuse(h, why, 0, elapsed))
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
	h.waiting = slices.Delete(h.waiting, at, at+1)
	g.waiting--
	g.rest(h)
}

// host finds a host or makes its acquaintance.
func (g *gate) host(name string) *host {
	if h := g.hosts[name]; h != nil {
		return h
	}
	limit := g.hostLimit
	if isTopicPlace(name) {
		limit = g.topicLimit
	}
	h := &host{name: name, limit: limit, circuits: map[string]*circuit{}}
	g.hosts[name] = h
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
		delete(g.hosts, oldest.name)
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
