package admission

import (
	"fmt"
	"testing"
	"time"
)

const ms = time.Millisecond

func anybody(*Ticket) bool { return true }

func testLimiter(slots, perHost int) *limiter {
	return newLimiter(&Limits{
		Concurrency: slots, MaxInFlight: 40, HostLimit: perHost, KnownHosts: 3, HostMaxWait: time.Second,
		MaxPostpone: time.Minute, CircuitAfter: 3, CircuitOpenFor: 10 * time.Second, Batch: 1000,
	}, &activity{})
}

// call begins the call of a ticket with a permit.
func (l *limiter) call(d *Ticket, at time.Duration) {
	d.share = &share{}
	l.begin(d, at)
}

// leave returns the permit of a ticket.
func (l *limiter) leave(d *Ticket, result Result, at time.Duration) (string, Change) {
	l.setTime(at)
	called := d.share != nil
	d.share = nil
	return l.release(d, result, called)
}

// want checks the answer to a request: "in", "queued" or the reason of a refusal.
func (l *limiter) want(t *testing.T, want, host string, at time.Duration) *Ticket {
	t.Helper()
	d := &Ticket{Target: targetOf(host)}
	e := l.acquire(d, 0, at)
	got := "queued"
	switch {
	case e.OK:
		got = "in"
		l.call(d, at)
	case e.Refused != "":
		got = string(e.Refused)
	}
	if got != want {
		t.Fatalf("%s at %v: %s, want %s", host, at, got, want)
	}
	return d
}

func TestAHostHasItsPlacesAndNoMoreThanAreFree(t *testing.T) {
	g := testLimiter(8, 5)
	for _, c := range []struct {
		host   string
		places int
	}{{"a", 4}, {"b", 2}, {"c", 1}, {"d", 1}} {
		for range c.places {
			g.want(t, "in", c.host, 0)
		}
		g.want(t, "queued", c.host, 0)
	}
	g = testLimiter(100, 5)
	for range 5 {
		g.want(t, "in", "a", 0)
	}
	g.want(t, "queued", "a", 0)
}

func TestWhoWaitsForAHostComesInTurnAndBeforeNewcomers(t *testing.T) {
	g := testLimiter(100, 1)
	running := g.want(t, "in", "a", 0)
	first, second := g.want(t, "queued", "a", 0), g.want(t, "queued", "a", 0)
	if g.next(anybody, &Time{}) != nil || g.hasNext(anybody, &Time{}) {
		t.Fatal("there is no place")
	}
	g.leave(running, Replied, ms)
	newcomer := g.want(t, "queued", "a", ms)
	for _, want := range []*Ticket{first, second, newcomer} {
		d := g.next(anybody, &Time{})
		if d != want || !d.permit.granted {
			t.Fatalf("got %p, want %p with a place", d, want)
		}
		if e := g.acquire(d, 0, ms); !e.OK {
			t.Fatal("its place is not its own")
		}
		g.leave(d, Replied, ms)
	}
	if g.waiting != 0 || g.calls != 0 || g.counts() != (HostCounts{}) {
		t.Fatalf("left: %+v", g.counts())
	}
}

// TestI11_APostponedTimerIsNotRefusedForANewOne: while timers with fewer postponements wait, one of them is postponed
// instead.
func TestI11_APostponedTimerIsNotRefusedForANewOne(t *testing.T) {
	g := testLimiter(100, 1)
	g.want(t, "in", "hangs", 0)
	g.want(t, "queued", "hangs", 0)
	at := time.Duration(0)
	for ; at < 5*time.Second; at += 50 * ms {
		g.setTime(at)
	}
	g.want(t, string(Saturated), "hangs", at)
	again := &Ticket{Target: targetOf("hangs"), Postponements: 1}
	if e := g.acquire(again, 0, at); e.OK || e.Refused != "" {
		t.Fatalf("a timer that was postponed once: %+v, want that it waits", e)
	}
	twice := &Ticket{Target: targetOf("hangs"), Postponements: 1}
	g.drop(func(d *Ticket) bool { return d != again })
	if e := g.acquire(twice, 0, at); e.Refused != Saturated {
		t.Errorf("beside a timer with as many postponements: %+v, want a refusal", e)
	}
}

// The queue of a hanging host is shed from its end. A pause of the whole process does not count as silence.
func TestAHostThatHangsSheds(t *testing.T) {
	g := testLimiter(100, 2)
	g.want(t, "in", "hangs", 0)
	g.want(t, "in", "hangs", 0)
	first := g.want(t, "queued", "hangs", 0)
	for range 19 {
		g.want(t, "queued", "hangs", 0)
	}
	shed := func(at time.Duration) (n int) {
		g.shrinkQueues(at, func(_ *Ticket, e Answer) {
			n++
			if e.Refused != Saturated || e.Delay < time.Second || e.Delay > time.Minute {
				t.Fatalf("refused as %+v", e)
			}
		}, func(*Ticket) { t.Fatal("its circuit is not open") })
		return n
	}
	if n := shed(2 * time.Second); n != 0 {
		t.Fatalf("%d shed because the process was suspended", n)
	}
	n := 0
	for at := 2 * time.Second; at <= 2900*ms; at += 20 * ms {
		n += shed(at)
	}
	if n != 18 {
		t.Fatalf("%d of 20 shed after a second's silence of two calls, want 18", n)
	}
	for at := 2900 * ms; at <= 4*time.Second; at += 20 * ms {
		n += shed(at)
	}
	if waiting := g.hosts[targetOf("hangs")].waiting; len(waiting) != 0 || n != 20 {
		t.Fatalf("%d still wait, the first of them among them: %t", len(waiting), len(waiting) > 0 && waiting[0] == first)
	}
	g.want(t, "saturated", "hangs", 4*time.Second)
}

// A permit whose delivery's row is still being read does not count as a call, however long the read takes.
func TestAPermitIsNoCall(t *testing.T) {
	g := testLimiter(100, 1)
	d := g.want(t, "in", "a", 0)
	g.leave(d, Replied, 10*ms) // the call took 10 ms
	reading := &Ticket{Target: targetOf("a")}
	if e := g.acquire(reading, 0, 10*ms); !e.OK {
		t.Fatalf("%+v", e)
	}
	for at := 20 * ms; at < 5*time.Second; at += 20 * ms {
		g.want(t, "queued", "a", at)
		if at > time.Second {
			break
		}
	}
	g.shrinkQueues(5*time.Second, func(*Ticket, Answer) { t.Fatal("a permit whose row could not be read counted as a slow call") }, nil)
}

// Timers of a slow host are postponed one behind another and behind the waiting ones, at the host's drain rate, at most by
// a minute, and no further than the time since the first of them was postponed.
func TestPostponementsOfASlowHostFollowItsPace(t *testing.T) {
	g := testLimiter(100, 1)
	d := g.want(t, "in", "slow", 0)
	h := d.permit.host
	g.want(t, "queued", "slow", 0)
	at := time.Duration(0)
	answers := func(n int) { // one answer in 500 ms
		for range n {
			for range 5 {
				at += 100 * ms
				g.clock.read(at)
			}
			g.leave(d, Replied, at)
			if d = g.next(anybody, &Time{}); d == nil {
				t.Fatal("no delivery waits")
			}
			g.call(d, at)
			g.acquire(&Ticket{Target: targetOf("slow")}, 0, at)
		}
	}
	refused := func() (grants []Answer) {
		for n := 0; len(grants) < 200; n++ {
			if n == 1000 {
				t.Fatal("the host is not saturated")
			}
			if e := g.acquire(&Ticket{Target: targetOf("slow")}, 0, at); e.Refused != "" {
				grants = append(grants, e)
			}
		}
		return grants
	}
	answers(20)
	if pace := h.interval(g.clock.total, 1); pace < 400*ms || pace > 600*ms {
		t.Fatalf("pace %v, want about 500 ms", pace)
	}
	first := refused()
	if f := first[0]; !f.Exact || f.Delay < 1400*ms || f.Delay > 1600*ms {
		t.Fatalf("the first is %+v", f)
	}
	if f := first[199]; f.Exact || f.Delay < 2*time.Second || f.Delay > at {
		t.Fatalf("after %v the last is %+v", at, f)
	}
	for range 60 {
		answers(2)
		refused()
	}
	if last := refused()[199]; last.Exact || last.Delay < at/3 || last.Delay > at/2 {
		t.Fatalf("after %v the last is %+v", at, last)
	}
}

// A host that becomes fast counts as fast after a few hundred answers, although its calls took seconds before.
func TestAHostThatBecomesFast(t *testing.T) {
	var r drainRate
	const permits = 64
	now := time.Duration(0)
	answers := func(n int, latency time.Duration) {
		for range n / permits {
			for range permits {
				r.begin(now)
			}
			for range permits {
				r.end(now+latency, now, true)
			}
			now += latency
		}
	}
	answers(4*permits, 2*time.Second)
	if latency := r.latency(now); latency != 2*time.Second {
		t.Fatalf("latency %v", latency)
	}
	answers(16*permits, 10*ms)
	if latency := r.latency(now); latency > 100*ms {
		t.Errorf("latency %v after %d fast answers", latency, 16*permits)
	}
}

// The running calls of a host with many permits do not make it seem fast.
func TestAHostWithManyPermitsIsNotUnderestimated(t *testing.T) {
	var r drainRate
	const permits, latency, step = 1024, time.Second, time.Second / 1024
	began := make([]time.Duration, 0, permits)
	now := time.Duration(0)
	for range 20 * permits { // one call begins and one ends in each step
		if len(began) == permits {
			r.end(now, began[0], true)
			began = began[1:]
		}
		r.begin(now)
		began = append(began, now)
		now += step
	}
	if got := r.latency(now); got < 8*latency/10 || got > latency*11/10 {
		t.Errorf("latency %v, want about %v", got, latency)
	}
}

// If the calls of a host become faster, its timers were not postponed for long: a process that has just started, and is
// still slow, knows little about its hosts.
func TestPostponementsAreAtMostHalfOfTheirSeries(t *testing.T) {
	var r drainRate
	const patience, most = time.Second, time.Minute
	now := 5 * time.Second
	slow := func(until time.Duration) { // one answer in a second
		for ; now < until; now += time.Second {
			r.begin(now)
			r.end(now+time.Second, now, true)
		}
	}
	slow(10 * time.Second)
	began := now
	for now < 10*time.Minute {
		want := min(most, max(2*time.Second, (now-began)/2))
		var last time.Duration
		for range 200 {
			last, _ = r.postponement(now, 1, patience, most)
		}
		if last != want {
			t.Fatalf("at %v postponed for %v, want %v", now, last, want)
		}
		slow(now + last)
	}
	now += 2 * most // nothing was refused for longer than the longest postponement
	if by, _ := r.postponement(now, 1, patience, most); by > 2*time.Second {
		t.Fatalf("postponed for %v", by)
	}
}

func TestACircuitOpensAndOneTriesAgain(t *testing.T) {
	g := testLimiter(100, 10)
	at := ms
	for i := range 3 {
		_, what := g.leave(g.want(t, "in", "a", at), Silent, at)
		if (what == Opened) != (i == 2) {
			t.Fatalf("after %d: %q", i+1, what)
		}
	}
	g.want(t, "open", "a", at)
	if g.counts().Open != 1 {
		t.Fatalf("%+v", g.counts())
	}
	at += 10*time.Second + ms
	probe := g.want(t, "in", "a", at)
	g.want(t, "open", "a", at)
	g.leave(probe, Untried, at) // its row was gone: the next call tries
	probe = g.want(t, "in", "a", at)
	if _, what := g.leave(probe, Silent, at); what != "" {
		t.Fatalf("a change was reported: %q", what)
	}
	g.want(t, "open", "a", at)
	at += 10*time.Second + ms
	if host, what := g.leave(g.want(t, "in", "a", at), Replied, at); host != "" || what != Closed {
		t.Fatalf("%q %q", host, what)
	}
	g.want(t, "in", "a", at)
	// An answer resets the count.
	for range 5 {
		g.leave(g.want(t, "in", "b", at), Silent, at)
		g.leave(g.want(t, "in", "b", at), Silent, at)
		g.leave(g.want(t, "in", "b", at), Replied, at)
	}
}

// The result of a call that began before the circuit opened or closed does not change the circuit.
func TestALateResultDoesNotChangeTheCircuit(t *testing.T) {
	g := testLimiter(100, 10)
	at := ms
	var calls []*Ticket
	for range 6 {
		calls = append(calls, g.want(t, "in", "a", at))
	}
	for _, d := range calls[:3] {
		g.leave(d, Silent, at)
	}
	if _, what := g.leave(calls[3], Replied, at); what != "" {
		t.Fatalf("an earlier call: %q", what)
	}
	g.want(t, "open", "a", at)
	at += 10*time.Second + ms
	probe := g.want(t, "in", "a", at)
	g.leave(calls[4], Silent, at)
	g.want(t, "open", "a", at) // the probe is in flight
	if _, what := g.leave(probe, Replied, at); what != Closed {
		t.Fatalf("the probe: %q", what)
	}
	g.leave(calls[5], Silent, at)
	for range 2 {
		g.leave(g.want(t, "in", "a", at), Silent, at)
	}
	g.want(t, "in", "a", at)
}

// The longer a timer has been due, the further it is postponed while its host does not answer.
func TestADeadHostsTimersAreAskedSeldomer(t *testing.T) {
	g := testLimiter(100, 10)
	for range 3 {
		g.leave(g.want(t, "in", "a", 0), Silent, 0)
	}
	for age, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 30 * time.Second: 30 * time.Second, time.Hour: time.Minute,
	} {
		if e := g.acquire(&Ticket{Target: targetOf("a")}, age, 0); e.Delay != want {
			t.Errorf("due for %v: postponed for %v, want %v", age, e.Delay, want)
		}
	}
}

func TestIdleHostsAreForgottenAndBusyOnesAreNot(t *testing.T) {
	g := testLimiter(100, 10)
	busy := g.want(t, "in", "busy", 0)
	for i := range 1000 {
		g.leave(g.want(t, "in", fmt.Sprint(i), 0), Replied, 0)
	}
	if len(g.hosts) != 3 || g.hosts[targetOf("busy")] == nil || g.hosts[targetOf("999")] == nil {
		t.Fatalf("%d hosts known", len(g.hosts))
	}
	g.leave(busy, Replied, 0)
	if g.idle.Len() != 3 || g.queued.Len() != 0 {
		t.Fatalf("%d idle, %d queued", g.idle.Len(), g.queued.Len())
	}
}

func TestNamespacesHaveTheirTurn(t *testing.T) {
	l := newShares(&activity{})
	for range 100 {
		l.push(&Ticket{Namespace: "loud"})
	}
	l.push(&Ticket{Namespace: "a"})
	l.push(&Ticket{Namespace: "b"})
	var got []string
	for range 4 {
		d := l.pop(1)
		l.takeSlot(d)
		l.releaseSlot(d, false)
		got = append(got, d.Namespace)
	}
	if fmt.Sprint(got) != "[loud a b loud]" {
		t.Fatalf("in the order %v", got)
	}
	l.drop(func(*Ticket) bool { return true })
	if l.size != 0 || len(l.order) != 0 || len(l.known) != 0 {
		t.Fatalf("left: %+v", l)
	}
}

func TestANamespaceLeavesAQuarterToOthers(t *testing.T) {
	const slots = 100
	l := newShares(&activity{})
	for range 2 * slots {
		l.push(&Ticket{Namespace: "loud"})
	}
	var held []*Ticket
	for d := l.pop(slots - len(held)); d != nil; d = l.pop(slots - len(held)) {
		l.takeSlot(d)
		held = append(held, d)
	}
	if len(held) != 75 {
		t.Fatalf("it holds %d of %d slots", len(held), slots)
	}
	if l.mayHold(&Ticket{Namespace: "loud"}, slots-len(held)) {
		t.Error("it may hold more")
	}
	l.push(&Ticket{Namespace: "quiet"})
	if d := l.pop(slots - len(held)); d == nil || d.Namespace != "quiet" {
		t.Fatalf("next is %+v", d)
	} else {
		held = append(held, d)
		l.takeSlot(d)
	}
	for _, d := range held {
		l.releaseSlot(d, false)
	}
	l.drop(func(*Ticket) bool { return true })
	if len(l.known) != 0 {
		t.Fatalf("%d shares are left", len(l.known))
	}
}

// Unanswered calls of one namespace, perhaps because of a short timeout, do not stop the calls of other namespaces.
func TestACircuitIsOneNamespaces(t *testing.T) {
	g, at := testLimiter(100, 2), ms
	enter := func(namespace string) (*Ticket, Answer) {
		d := &Ticket{Namespace: namespace, Target: targetOf("shared")}
		return d, g.acquire(d, 0, at)
	}
	for range 3 {
		d, _ := enter("hasty")
		g.leave(d, Silent, at)
	}
	if _, e := enter("hasty"); e.Refused != Open || g.counts().Open != 1 {
		t.Fatalf("%+v, %+v", e, g.counts())
	}
	one, e1 := enter("calm")
	two, e2 := enter("calm")
	if !e1.OK || !e2.OK {
		t.Fatalf("another Namespace: %+v, %+v", e1, e2)
	}
	at += 10*time.Second + ms
	first, e1 := enter("calm")
	tries, e2 := enter("hasty") // one call of this namespace may try the host, but the host has no free permit
	third, e3 := enter("calm")
	if e1.OK || e2.OK || e3.OK || e1.Refused+e2.Refused+e3.Refused != "" {
		t.Fatalf("not queued: %+v, %+v, %+v", e1, e2, e3)
	}
	g.leave(one, Replied, at)
	g.leave(two, Replied, at)
	if d := g.next(anybody, &Time{}); d != first {
		t.Fatal("not in turn")
	}
	if d := g.next(anybody, &Time{}); d != tries {
		t.Fatal("not in turn")
	}
	if _, e := enter("hasty"); e.Refused != Open {
		t.Fatalf("a second one tries: %+v", e)
	}
	if _, what := g.leave(tries, Silent, at); what != "" || g.counts().Open != 1 {
		t.Fatalf("%q, %+v", what, g.counts())
	}
	shed := 0
	g.shrinkQueues(at, func(*Ticket, Answer) { shed++ }, func(*Ticket) { shed++ })
	if d := g.next(anybody, &Time{}); d != third || shed != 0 {
		t.Fatalf("%d shed", shed)
	}
}

// An operator sees which host's timers are postponed, and how many, in one line per minute.
func TestRefusalsOfAHostAreReportedOnceAMinute(t *testing.T) {
	g := testLimiter(100, 1)
	for range 3 {
		g.leave(g.want(t, "in", "silent", 0), Silent, 0)
	}
	h := g.hosts[targetOf("silent")]
	lines, timers := 0, 0
	for at := time.Second; at <= 181*time.Second; at += time.Second {
		g.setTime(at)
		if e := g.refuse(h, h.tenants[""], Open, 0); e.Report > 0 {
			lines, timers = lines+1, timers+e.Report
		}
	}
	if lines != 4 || timers != 181 {
		t.Errorf("%d lines reported %d timers, want 4 of 181", lines, timers)
	}
}

// Each namespace has its limit at a host. All of them together have the largest of these limits.
func TestEachNamespaceHasItsLimitAtAHost(t *testing.T) {
	g := testLimiter(100, 3)
	enter := func(namespace string, limit int) (*Ticket, Answer) {
		d := &Ticket{Namespace: namespace, HostLimit: limit, Target: targetOf("shared")}
		return d, g.acquire(d, 0, 0)
	}
	held := map[string][]*Ticket{}
	for _, c := range []struct {
		namespace string
		limit     int
	}{{"small", 2}, {"large", 5}, {"unknown", 0}} {
		for range 8 {
			if d, e := enter(c.namespace, c.limit); e.OK {
				g.call(d, 0)
				held[c.namespace] = append(held[c.namespace], d)
			}
			for d := g.next(anybody, &Time{}); d != nil; d = g.next(anybody, &Time{}) {
				g.call(d, 0)
				held[d.Namespace] = append(held[d.Namespace], d)
			}
		}
	}
	if len(held["small"]) != 2 || len(held["large"]) != 3 || len(held["unknown"]) != 0 {
		t.Fatalf("permits: %d of 2, %d of the other 3, %d of none left",
			len(held["small"]), len(held["large"]), len(held["unknown"]))
	}
	for _, d := range held["small"] {
		g.leave(d, Replied, ms)
	}
	if d := g.next(anybody, &Time{}); d == nil || d.Namespace != "small" {
		t.Fatalf("the first that waits is %+v", d)
	}
	if d := g.next(anybody, &Time{}); d == nil || d.Namespace != "small" {
		t.Fatalf("the second that waits is %+v", d)
	}
	if d := g.next(anybody, &Time{}); d != nil {
		t.Fatalf("a sixth call, of %s", d.Namespace)
	}
	// A changed setting applies from the next event on.
	if _, e := enter("large", 6); e != (Answer{}) || g.hosts[targetOf("shared")].limit != 6 {
		t.Fatalf("%+v, the host's limit is %d", e, g.hosts[targetOf("shared")].limit)
	}
	if d := g.next(anybody, &Time{}); d == nil || d.Namespace != "large" {
		t.Fatalf("after the change %+v", d)
	}
}

// If a namespace reaches its limit at a slow host, its timers are postponed, and those of other namespaces at that host
// are not.
func TestTheQueueOfANamespaceAtItsLimitIsShed(t *testing.T) {
	g := testLimiter(100, 10)
	enter := func(namespace string, limit int, at time.Duration) Answer {
		d := &Ticket{Namespace: namespace, HostLimit: limit, Target: targetOf("slow")}
		e := g.acquire(d, 0, at)
		if e.OK {
			g.call(d, at)
		}
		return e
	}
	enter("large", 10, 0)
	enter("small", 1, 0)
	for range 20 {
		enter("small", 1, 0)
	}
	shed := 0
	for at := 20 * ms; at <= 2*time.Second; at += 20 * ms {
		g.shrinkQueues(at, func(d *Ticket, e Answer) {
			shed++
			if d.Namespace != "small" || e.Refused != Saturated || e.Delay < time.Second {
				t.Fatalf("%s refused as %+v", d.Namespace, e)
			}
		}, nil)
	}
	if e := enter("small", 1, 2*time.Second); shed != 20 || e.Refused != Saturated {
		t.Fatalf("%d of 20 were postponed, and another: %+v", shed, e)
	}
	if e := enter("large", 10, 2*time.Second); !e.OK {
		t.Fatalf("the other namespace: %+v", e)
	}
}
