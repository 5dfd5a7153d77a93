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
	d := &delivery{hostName: host}
	e := g.enter(d, host, 0, at)
	got := "queued"
	switch {
	case e.in:
		got = "in"
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
		if e := g.enter(d, "a", 0, ms); !e.in {
			t.Fatal("its place is not its own")
		}
		g.leave(d, nil, ms)
	}
	if g.waiting != 0 || g.calls != 0 || g.counts() != (hostCounts{}) {
		t.Fatalf("left: %+v", g.counts())
	}
}

// Where those who wait take up most of what the bus hands over, nobody else can show that the process is well.
func TestAHostThatKeepsOthersOutShedsAnyway(t *testing.T) {
	g := testGate(100, 1)
	g.want(t, "in", "hangs", 0)
	for range 21 {
		g.want(t, "queued", "hangs", 0)
	}
	shed := 0
	g.shed(500*ms, func(*delivery, entry) { shed++ })
	if shed != 19 {
		t.Fatalf("%d of 21 shed after half a second, want all that would wait longer than a second", shed)
	}
}

// A host that hangs while others answer is found out; its queue goes from its end.
func TestAHostThatHangsSheds(t *testing.T) {
	g := testGate(100, 2)
	g.want(t, "in", "hangs", 0)
	g.want(t, "in", "hangs", 0)
	first := g.want(t, "queued", "hangs", 0)
	for range 9 {
		g.want(t, "queued", "hangs", 0)
	}
	shed := func(at time.Duration) (n int) {
		g.shed(at, func(_ *delivery, e entry) {
			n++
			if e.refused != refusedFull || e.delay < time.Second || e.delay > time.Minute {
				t.Fatalf("refused as %+v", e)
			}
		})
		return n
	}
	if n := shed(2 * time.Second); n != 0 {
		t.Fatalf("%d shed though nobody answered anything: the process stood still", n)
	}
	for at := 2 * time.Second; at < 2800*ms; at += 10 * ms {
		g.leave(g.want(t, "in", "answers", at), nil, at)
	}
	if n := shed(2800 * ms); n != 9 {
		t.Fatalf("%d of 10 shed after most of a second's silence, want 9", n)
	}
	if len(g.host("hangs").waiting) != 1 || g.host("hangs").waiting[0] != first {
		t.Fatal("the first to come is not the one that waits on")
	}
	g.want(t, "saturated", "hangs", 3*time.Second)
}

// A slow host's timers are put behind each other, as far as its pace goes, and no further than a minute.
func TestPostponementsOfASlowHostFollowItsPace(t *testing.T) {
	g := testGate(100, 1)
	d := g.want(t, "in", "slow", 0)
	h := d.host
	g.want(t, "queued", "slow", 0)
	at := time.Duration(0)
	for range 20 { // one answer in 500 ms
		at += 500 * ms
		g.leave(d, nil, at)
		if d = g.next(anybody); d == nil {
			t.Fatal("nobody waits")
		}
		g.enter(&delivery{hostName: "slow"}, "slow", 0, at)
	}
	if pace := h.pace(at); pace < 400*ms || pace > 600*ms {
		t.Fatalf("pace %v, want about 500 ms", pace)
	}
	var delays []time.Duration
	for len(delays) < 200 {
		if e := g.enter(&delivery{hostName: "slow"}, "slow", 0, at); e.refused != "" {
			delays = append(delays, e.delay)
		}
	}
	if delays[0] != time.Second || delays[9] < 4*time.Second || delays[9] > 6*time.Second || delays[199] > time.Minute || delays[199] < 50*time.Second {
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
		if host, what := g.leave(g.want(t, "in", "a", 0), nil, 0); host != "a" || what != circuitClosed {
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
		if e := g.enter(&delivery{}, "a", age, 0); e.delay != want {
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
	if len(g.hosts) != 3 || g.hosts["busy"] == nil || g.hosts["999"] == nil {
		t.Fatalf("%d hosts known", len(g.hosts))
	}
	g.leave(busy, nil, 0)
	if g.idle.Len() != 3 || g.queued.Len() != 0 {
		t.Fatalf("%d idle, %d queued", g.idle.Len(), g.queued.Len())
	}
}

func TestNamespacesHaveTheirTurn(t *testing.T) {
	l := newLanes()
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
	l := newLanes()
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

func TestLookaheadFollowsWhatItFinds(t *testing.T) {
	l := lookahead{size: 256, most: 256}
	for range 10 { // all had to wait
		l.vain = 100
		l.next(100, 0)
	}
	if n := l.next(0, 0); n != leastLook {
		t.Errorf("%d are read in vain", n)
	}
	if n := l.next(10, lookAnyway/2); n != 0 {
		t.Errorf("%d are read while others wait", n)
	}
	if n := l.next(10, lookAnyway); n != lookEach {
		t.Errorf("%d are read after a while, want %d", n, lookEach)
	}
	for range 10 { // all could go
		l.useful = 100
		l.next(100, 0)
	}
	if n := l.next(100, 0); n != 256 {
		t.Errorf("%d are read where all can go", n)
	}
}

// Who calls a host in vain, be it for lack of patience, does not keep other namespaces from it.
func TestACircuitIsOneNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := testGate(100, 2)
		enter := func(namespace string) (*delivery, entry) {
			d := &delivery{namespace: namespace, hostName: "shared"}
			return d, g.enter(d, "shared", 0, 0)
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
		g.shed(0, func(*delivery, entry) { shed++ })
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
		if e := g.refuse(g.host("silent"), refusedOpen, 0, at); e.report > 0 {
			lines, timers = lines+1, timers+e.report
		}
	}
	if lines != 4 || timers != 181 {
		t.Errorf("%d lines told of %d timers, want 4 of 181", lines, timers)
	}
}
