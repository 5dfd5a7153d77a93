package dispatcher

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

func anybody(*delivery) bool { return true }

func testGate(slots, perHost int) *gate {
	return newGate(&Config{
		Concurrency: slots, MaxInFlight: 40, HostLimit: perHost, HostsRemembered: 3, HostPatience: time.Second,
		PostponeMost: time.Minute, CircuitAfter: 3, CircuitOpenFor: 10 * time.Second,
	})
}

// enter wants an outcome: in, queued or a refusal.
func (g *gate) want(t *testing.T, want, host string, at time.Duration) *delivery {
	t.Helper()
	d := &delivery{target: targetOf(host)}
	e := g.enter(d, 0, at)
	got := "queued"
	switch {
	case e.in:
		got = "in"
		d.calling, d.calledAt = true, g.clock.total
		g.begin(d)
	case e.refused != "":
		got = string(e.refused)
	}
	if got != want {
		t.Fatalf("%s at %v: %s, want %s", host, at, got, want)
	}
	return d
}

func TestAHostHasItsPlacesAndNoMoreThanAreFree(t *testing.T) {
	g := testGate(8, 5)
	for _, c := range []struct {
		host   string
		places int
	}{{"a", 4}, {"b", 2}, {"c", 1}, {"d", 1}} {
		for range c.places {
			g.want(t, "in", c.host, 0)
		}
		g.want(t, "queued", c.host, 0)
	}
	g = testGate(100, 5)
	for range 5 {
		g.want(t, "in", "a", 0)
	}
	g.want(t, "queued", "a", 0)
}

func TestWhoWaitsForAHostComesInTurnAndBeforeNewcomers(t *testing.T) {
	g := testGate(100, 1)
	running := g.want(t, "in", "a", 0)
	first, second := g.want(t, "queued", "a", 0), g.want(t, "queued", "a", 0)
	if g.next(anybody) != nil || g.any(anybody) {
		t.Fatal("there is no place")
	}
	g.leave(running, nil, ms)
	newcomer := g.want(t, "queued", "a", ms)
	for _, want := range []*delivery{first, second, newcomer} {
		d := g.next(anybody)
		if d != want || d.passed == nil {
			t.Fatalf("got %p, want %p with a place", d, want)
		}
		if e := g.enter(d, 0, ms); !e.in {
			t.Fatal("its place is not its own")
		}
		g.leave(d, nil, ms)
	}
	if g.waiting != 0 || g.calls != 0 || g.counts() != (hostCounts{}) {
		t.Fatalf("left: %+v", g.counts())
	}
}

// The queue of a host that hangs is shed from its end. A pause of the whole process does not count.
func TestAHostThatHangsSheds(t *testing.T) {
	g := testGate(100, 2)
	g.want(t, "in", "hangs", 0)
	g.want(t, "in", "hangs", 0)
	first := g.want(t, "queued", "hangs", 0)
	for range 19 {
		g.want(t, "queued", "hangs", 0)
	}
	shed := func(at time.Duration) (n int) {
		g.shed(at, func(_ *delivery, e entry) {
			n++
			if e.refused != refusedFull || e.delay < time.Second || e.delay > time.Minute {
				t.Fatalf("refused as %+v", e)
			}
		}, func(*delivery) { t.Fatal("its circuit is not open") })
		return n
	}
	if n := shed(2 * time.Second); n != 0 {
		t.Fatalf("%d shed because the process stood still", n)
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

// A delivery that holds a permit and is not read yet does not call its host, however long that takes.
func TestAPermitIsNoCall(t *testing.T) {
	g := testGate(100, 1)
	d := g.want(t, "in", "a", 0)
	g.leave(d, nil, 10*ms) // its call took 10 ms
	d.calling = false
	reading := &delivery{target: targetOf("a")}
	if e := g.enter(reading, 0, 10*ms); !e.in {
		t.Fatalf("%+v", e)
	}
	for at := 20 * ms; at < 5*time.Second; at += 20 * ms {
		g.want(t, "queued", "a", at)
		if at > time.Second {
			break
		}
	}
	g.shed(5*time.Second, func(*delivery, entry) { t.Fatal("one that could not be read was taken for a slow call") }, nil)
}

// A slow host's timers are put behind each other and behind those that wait here, at its pace and no further than a
// minute.
func TestPostponementsOfASlowHostFollowItsPace(t *testing.T) {
	g := testGate(100, 1)
	d := g.want(t, "in", "slow", 0)
	h := d.host
	g.want(t, "queued", "slow", 0)
	at := time.Duration(0)
	for range 20 { // one answer in 500 ms
		for range 5 {
			at += 100 * ms
			g.clock.read(at)
		}
		g.leave(d, nil, at)
		d.calling = false
		if d = g.next(anybody); d == nil {
			t.Fatal("nobody waits")
		}
		d.calling, d.calledAt = true, g.clock.total
		g.begin(d)
		g.enter(&delivery{target: targetOf("slow")}, 0, at)
	}
	if pace := h.pace(g.clock.total, 1); pace < 400*ms || pace > 600*ms {
		t.Fatalf("pace %v, want about 500 ms", pace)
	}
	var delays []time.Duration
	for len(delays) < 200 {
		if e := g.enter(&delivery{target: targetOf("slow")}, 0, at); e.refused != "" {
			delays = append(delays, e.delay)
			if e.exact != (e.delay < time.Minute) {
				t.Fatalf("%+v", e)
			}
		}
	}
	if delays[0] < 1400*ms || delays[0] > 1600*ms || delays[9] < 5*time.Second || delays[9] > 7*time.Second || delays[199] != time.Minute {
		t.Fatalf("postponed for %v, the tenth %v, the last %v", delays[0], delays[9], delays[199])
	}
}

func TestACircuitOpensAndOneTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := testGate(100, 10)
		at := func() time.Duration { return 0 }
		for i := range 3 {
			_, what := g.leave(g.want(t, "in", "a", at()), errNoAnswer, 0)
			if (what == circuitOpened) != (i == 2) {
				t.Fatalf("after %d: %q", i+1, what)
			}
		}
		g.want(t, "open", "a", 0)
		if g.counts().open != 1 {
			t.Fatalf("%+v", g.counts())
		}
		time.Sleep(10*time.Second + ms)
		probe := g.want(t, "in", "a", 0)
		g.want(t, "open", "a", 0)
		g.leave(probe, errUntried, 0) // its row was gone: the next one tries
		probe = g.want(t, "in", "a", 0)
		if _, what := g.leave(probe, errNoAnswer, 0); what != "" {
			t.Fatalf("told again: %q", what)
		}
		g.want(t, "open", "a", 0)
		time.Sleep(10*time.Second + ms)
		if host, what := g.leave(g.want(t, "in", "a", 0), nil, 0); host != "" || what != circuitClosed {
			t.Fatalf("%q %q", host, what)
		}
		g.want(t, "in", "a", 0)
		// An answer in between is a new beginning.
		for range 5 {
			g.leave(g.want(t, "in", "b", 0), errNoAnswer, 0)
			g.leave(g.want(t, "in", "b", 0), errNoAnswer, 0)
			g.leave(g.want(t, "in", "b", 0), nil, 0)
		}
	})
}

// The longer a timer has been due, the further it is put off while its host does not answer.
func TestADeadHostsTimersAreAskedSeldomer(t *testing.T) {
	g := testGate(100, 10)
	for range 3 {
		g.leave(g.want(t, "in", "a", 0), errNoAnswer, 0)
	}
	for age, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, 30 * time.Second: 30 * time.Second, time.Hour: time.Minute,
	} {
		if e := g.enter(&delivery{target: targetOf("a")}, age, 0); e.delay != want {
			t.Errorf("due for %v: put off for %v, want %v", age, e.delay, want)
		}
	}
}

func TestIdleHostsAreForgottenAndBusyOnesAreNot(t *testing.T) {
	g := testGate(100, 10)
	busy := g.want(t, "in", "busy", 0)
	for i := range 1000 {
		g.leave(g.want(t, "in", fmt.Sprint(i), 0), nil, 0)
	}
	if len(g.hosts) != 3 || g.hosts[targetOf("busy")] == nil || g.hosts[targetOf("999")] == nil {
		t.Fatalf("%d hosts known", len(g.hosts))
	}
	g.leave(busy, nil, 0)
	if g.idle.Len() != 3 || g.queued.Len() != 0 {
		t.Fatalf("%d idle, %d queued", g.idle.Len(), g.queued.Len())
	}
}

func TestNamespacesHaveTheirTurn(t *testing.T) {
	l := newLanes(&activity{})
	for range 100 {
		l.push(&delivery{namespace: "loud"})
	}
	l.push(&delivery{namespace: "a"})
	l.push(&delivery{namespace: "b"})
	var got []string
	for range 4 {
		d := l.pop(1)
		l.give(d)
		l.takeBack(d)
		got = append(got, d.namespace)
	}
	if fmt.Sprint(got) != "[loud a b loud]" {
		t.Fatalf("in the order %v", got)
	}
	l.remove(func(*delivery) bool { return true })
	if l.size != 0 || len(l.turn) != 0 || len(l.known) != 0 {
		t.Fatalf("left: %+v", l)
	}
}

func TestANamespaceLeavesAQuarterToOthers(t *testing.T) {
	const slots = 100
	l := newLanes(&activity{})
	for range 2 * slots {
		l.push(&delivery{namespace: "loud"})
	}
	var held []*delivery
	for d := l.pop(slots - len(held)); d != nil; d = l.pop(slots - len(held)) {
		l.give(d)
		held = append(held, d)
	}
	if len(held) != 75 {
		t.Fatalf("it holds %d of %d slots", len(held), slots)
	}
	if l.may(&delivery{namespace: "loud"}, slots-len(held)) {
		t.Error("it may hold more")
	}
	l.push(&delivery{namespace: "quiet"})
	if d := l.pop(slots - len(held)); d == nil || d.namespace != "quiet" {
		t.Fatalf("next is %+v", d)
	} else {
		held = append(held, d)
		l.give(d)
	}
	for _, d := range held {
		l.takeBack(d)
	}
	l.remove(func(*delivery) bool { return true })
	if len(l.known) != 0 {
		t.Fatalf("%d lanes are left", len(l.known))
	}
}

// Who calls a host in vain, be it for lack of patience, does not keep other namespaces from it.
func TestACircuitIsOneNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := testGate(100, 2)
		enter := func(namespace string) (*delivery, entry) {
			d := &delivery{namespace: namespace, target: targetOf("shared")}
			return d, g.enter(d, 0, 0)
		}
		for range 3 {
			d, _ := enter("hasty")
			g.leave(d, errNoAnswer, 0)
		}
		if _, e := enter("hasty"); e.refused != refusedOpen || g.counts().open != 1 {
			t.Fatalf("%+v, %+v", e, g.counts())
		}
		one, e1 := enter("calm")
		two, e2 := enter("calm")
		if !e1.in || !e2.in {
			t.Fatalf("another namespace: %+v, %+v", e1, e2)
		}
		time.Sleep(10*time.Second + ms)
		first, e1 := enter("calm")
		tries, e2 := enter("hasty") // of whose kind one may try, but the host is full
		third, e3 := enter("calm")
		if e1.in || e2.in || e3.in || e1.refused+e2.refused+e3.refused != "" {
			t.Fatalf("not queued: %+v, %+v, %+v", e1, e2, e3)
		}
		g.leave(one, nil, 0)
		g.leave(two, nil, 0)
		if d := g.next(anybody); d != first {
			t.Fatal("not in turn")
		}
		if d := g.next(anybody); d != tries {
			t.Fatal("not in turn")
		}
		if _, e := enter("hasty"); e.refused != refusedOpen {
			t.Fatalf("a second one tries: %+v", e)
		}
		if _, what := g.leave(tries, errNoAnswer, 0); what != "" || g.counts().open != 1 {
			t.Fatalf("%q, %+v", what, g.counts())
		}
		shed := 0
		g.shed(0, func(*delivery, entry) { shed++ }, func(*delivery) { shed++ })
		if d := g.next(anybody); d != third || shed != 0 {
			t.Fatalf("%d shed", shed)
		}
	})
}

// An operator sees which host's timers are postponed, and how many, in one line a minute.
func TestRefusalsOfAHostAreReportedOnceAMinute(t *testing.T) {
	g := testGate(100, 1)
	for range 3 {
		g.leave(g.want(t, "in", "silent", 0), errNoAnswer, 0)
	}
	lines, timers := 0, 0
	for at := time.Second; at <= 181*time.Second; at += time.Second {
		if e := g.refuse(g.hosts[targetOf("silent")], refusedOpen, 0, at); e.report > 0 {
			lines, timers = lines+1, timers+e.report
		}
	}
	if lines != 4 || timers != 181 {
		t.Errorf("%d lines told of %d timers, want 4 of 181", lines, timers)
	}
}
