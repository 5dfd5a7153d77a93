package admission

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func quarantineTable(t *testing.T) *table {
	b := newTable(t, 2000, 1500)
	b.limits.ParkAfter, b.limits.GroupSize, b.limits.LaterInGroup = 5, 32, 4
	return b
}

// quarantined adds n quarantined timers at their second start.
func (b *table) quarantined(round byte, n int) {
	b.t.Helper()
	for i := range n {
		b.Offer(&Ticket{
			State: State{UUID: timer.UUID{round, byte(i >> 8), byte(i)}, Revision: 1}, Namespace: "n", Session: b.of,
			Target: targetOf("host"), Redelivered: true,
		}, 0, 0)
	}
	r := b.Decide(0, 0)
	if len(r.Check) != n || r.Quarantined {
		b.t.Fatalf("%d to check", len(r.Check))
	}
	for _, d := range r.Check {
		b.Quarantine(d, 2)
	}
}

// TestI13_GroupsStartSmallAgain when no quarantined timer waits or runs (docs/decisions/0043).
func TestI13_GroupsStartSmallAgain(t *testing.T) {
	b := quarantineTable(t)
	for round := range byte(2) {
		b.quarantined(round, 600)
		first := 0
		for r := b.Decide(0, 0); len(r.Check) > 0; r = b.Decide(0, 0) {
			if first == 0 {
				first = len(r.Check)
			}
			for _, d := range r.Check {
				b.Start(d, 0)
				b.end(d, 0)
			}
		}
		if len(b.quarantine.waiting) != 0 || b.quarantine.running != 0 || b.quarantine.unleased != [2]int{} {
			t.Fatalf("left: %+v", b.quarantine)
		}
		b.Decide(0, 0)
		if first != 32 {
			t.Errorf("round %d: the first group has %d quarantined timers, want 32", round, first)
		}
	}
}

// TestI13_GroupsGrowToABound: one of a larger group may be poison, and would bring all others to their third start.
func TestI13_GroupsGrowToABound(t *testing.T) {
	b := quarantineTable(t)
	b.limits.GroupSize = 2
	b.quarantined(0, 100)
	var groups []int
	for r := b.Decide(0, 0); len(r.Check) > 0; r = b.Decide(0, 0) {
		groups = append(groups, len(r.Check))
		for _, d := range r.Check {
			b.Start(d, 0)
			b.end(d, 0)
		}
	}
	if want := []int{2, 4, 8, 16, 32, 32, 6}; !slices.Equal(groups, want) {
		t.Errorf("groups of %v quarantined timers, want %v", groups, want)
	}
}

// TestANamespaceWithASmallLimitDelaysNoOther: timers of "small" (limit 1) are postponed one behind another. Timers of
// "large" do not wait for them, so their postponement is as short as without "small".
func TestANamespaceWithASmallLimitDelaysNoOther(t *testing.T) {
	delay := func(noise int) Answer {
		g := testLimiter(200, 64)
		enter := func(namespace string, limit int, at time.Duration) (*Ticket, Answer) {
			d := &Ticket{Namespace: namespace, HostLimit: limit, Target: targetOf("shared")}
			e := g.acquire(d, 0, at)
			if e.OK {
				g.call(d, at)
			}
			return d, e
		}
		var calls []*Ticket
		at := time.Duration(0)
		begin := func() {
			d, _ := enter("small", 1, at)
			calls = []*Ticket{d}
			for range 63 {
				d, e := enter("large", 64, at)
				if !e.OK {
					t.Fatalf("%+v", e)
				}
				calls = append(calls, d)
			}
		}
		for range 4 { // calls take 500 ms
			begin()
			for range 5 {
				at += 100 * ms
				g.setTime(at)
			}
			for _, d := range calls {
				g.leave(d, Replied, at)
			}
		}
		begin()
		for range noise {
			enter("small", 1, at)
		}
		for {
			if _, e := enter("large", 64, at); e.Refused != "" {
				return e
			}
		}
	}
	without, with := delay(0), delay(2000)
	t.Logf("without: %+v, with: %+v", without, with)
	if with.Delay > 2*without.Delay {
		t.Errorf("large is postponed by %v because of the postponements of small, want about %v", with.Delay, without.Delay)
	}
}

// TestASlowNamespaceAtAFastHostIsPostponed: calls of one namespace take 20 s, while another has fast calls to the same
// host. Timers of the slow one wait at most for a second, and for 5 s until the limiter has measured that its calls are
// slow.
func TestASlowNamespaceAtAFastHostIsPostponed(t *testing.T) {
	for _, limit := range []int{1, 4, 20, 64} {
		g := testLimiter(2048, 64)
		g.maxWaitingSilent = 320
		enter := func(namespace string, l int, at time.Duration) (*Ticket, Answer) {
			d := &Ticket{Namespace: namespace, HostLimit: l, Target: targetOf("shared")}
			e := g.acquire(d, 0, at)
			if e.OK {
				g.call(d, at)
			}
			return d, e
		}
		at, shed := time.Duration(0), 0
		var quick []*Ticket
		for i := range limit {
			if _, e := enter("slow", limit, at); !e.OK {
				t.Fatalf("%d: %+v", i, e)
			}
		}
		for at < 5*time.Second {
			at += 10 * ms
			g.setTime(at)
			for _, d := range quick {
				g.leave(d, Replied, at)
			}
			quick = nil
			for d := g.next(anybody, &Time{}); d != nil; d = g.next(anybody, &Time{}) {
				g.call(d, at)
				if d.Namespace == "quick" {
					quick = append(quick, d)
				}
			}
			for range 10 {
				if d, e := enter("quick", 64, at); e.OK {
					quick = append(quick, d)
				}
			}
			for range 20 {
				enter("slow", limit, at)
			}
			g.shrinkQueues(at, func(*Ticket, Answer) { shed++ }, func(*Ticket) {})
		}
		waits := 0
		if n := g.hosts[targetOf("shared")].tenants["slow"]; n != nil {
			waits = n.waiting
		}
		if per := 20 * time.Second / time.Duration(limit); time.Duration(waits)*per > 5*time.Second {
			t.Errorf("limit %d: %d wait for %v, want at most 5 s; %d postponed", limit, waits, time.Duration(waits)*per, shed)
		}
	}
}

// TestANamespaceWithFewTimersIsNotPostponedForAnother: 1,000 timers of one namespace wait for a host, all of them
// postponed before. A timer of another namespace that calls the same host is not postponed instead.
func TestANamespaceWithFewTimersIsNotPostponedForAnother(t *testing.T) {
	g := testLimiter(100, 10)
	wait := func(namespace string, postponements int, at time.Duration) Answer {
		d := &Ticket{Namespace: namespace, Target: targetOf("shared"), Postponements: postponements}
		e := g.acquire(d, 0, at)
		if e.OK {
			g.call(d, at)
		}
		return e
	}
	for i := range 20 { // namespaces that called the host before
		d := &Ticket{Namespace: fmt.Sprint("earlier-", i), Target: targetOf("shared")}
		g.acquire(d, 0, 0)
		g.leave(d, Untried, 0)
	}
	for range 1000 {
		wait("large", 3, 0)
	}
	at := 500 * ms
	if e := wait("small", 0, at); e.OK || e.Refused != "" {
		t.Fatalf("the namespace with one timer: %+v", e)
	}
	large := 0
	for ; at < 3*time.Second; at += 20 * ms {
		g.shrinkQueues(at, func(d *Ticket, _ Answer) {
			if d.Namespace == "small" {
				t.Fatalf("postponed after %v and %d of the other namespace", at, large)
			}
			large++
		}, nil)
	}
	if large == 0 || g.waiting > 30 {
		t.Fatalf("%d of the large namespace were postponed, and %d wait", large, g.waiting)
	}
}
