package admission

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func suspectsTable(t *testing.T) *table {
	b := newTable(t, 2000, 1500)
	b.limits.ParkAfter, b.limits.SecondStarts, b.limits.LaterStarts = 5, 32, 4
	return b
}

// quarantined adds n suspects at their second start.
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

// TestI13_GroupsStartSmallAgain when no suspect waits or runs (docs/decisions/0043).
func TestI13_GroupsStartSmallAgain(t *testing.T) {
	b := suspectsTable(t)
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
			t.Errorf("round %d: the first group has %d suspects, want 32", round, first)
		}
	}
}

// TestANamespaceWithASmallLimitDelaysNoOther: timers of "small" (limit 1) are postponed one behind another. Timers of
// "large" do not wait for them, so their postponement is as short as without "small".
func TestANamespaceWithASmallLimitDelaysNoOther(t *testing.T) {
	delay := func(noise int) Grant {
		g := testLimiter(200, 64)
		enter := func(namespace string, limit int, at time.Duration) (*Ticket, Grant) {
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
		enter := func(namespace string, l int, at time.Duration) (*Ticket, Grant) {
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
			for d := g.next(anybody); d != nil; d = g.next(anybody) {
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
			g.shrinkQueues(at, func(*Ticket, Grant) { shed++ }, func(*Ticket) {})
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
