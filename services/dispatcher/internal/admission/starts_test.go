package admission

import (
	"slices"
	"testing"
	"time"
)

// TestWhoIsPostponed: a delivery that waits too long for a slot or a group is postponed, so that another process can
// begin it. That includes redelivered events, because the postponement marks them (I13).
func TestWhoIsPostponed(t *testing.T) {
	const hold = 10 * time.Second
	for _, c := range []struct {
		stage  Stage
		waited time.Duration
		want   bool
	}{
		{stage: Ready, waited: hold, want: true},
		{stage: Ready, waited: hold - 1},
		{stage: Quarantined, waited: hold, want: true},
		{stage: Quarantined, waited: hold - 1},
		{stage: Checking, waited: 100 * hold},
		{stage: Calling, waited: 100 * hold},
		{stage: Early, waited: 100 * hold},
	} {
		b := newTable(t, 8, 1)
		b.limits.HoldFor = hold
		for _, redelivered := range []bool{false, true} {
			d := &Ticket{stage: c.stage, Redelivered: redelivered, starts: 2}
			if got := b.waitedTooLong(d, c.waited); got != c.want {
				t.Errorf("%+v, redelivered %t: postponed: %t", c, redelivered, got)
			}
			b.checking = true
			if b.waitedTooLong(d, c.waited) {
				t.Errorf("%+v, redelivered %t: postponed while the checker waits for the store", c, redelivered)
			}
			b.checking = false
		}
	}
}

// TestI11_LeasesBeginWhileAnAttemptIsUnderWay: LeaseAfter counts from the start of the attempt, and no lease begins once
// the outcome is being written.
func TestI11_LeasesBeginWhileAnAttemptIsUnderWay(t *testing.T) {
	b := newTable(t, 8, 8)
	leases := func(elapsed time.Duration) int {
		n := 0
		old, _ := b.Aged(&Time{Elapsed: elapsed})
		for _, a := range old {
			if a.Lease {
				n++
			}
		}
		return n
	}
	calling, written := b.bring("n", "a"), b.bring("n", "b")
	if got := len(b.start(time.Second)); got != 2 {
		t.Fatalf("%d deliveries began, want 2", got)
	}
	if n := leases(2 * time.Second); n != 0 {
		t.Errorf("%d leases a second after the start", n)
	}
	b.EndAttempt(written, Replied, 2*time.Second)
	b.BeginWrite(written)
	if n := leases(3 * time.Second); n != 1 || !calling.leasing {
		t.Errorf("%d leases, want that of the delivery without a result", n)
	}
	if n := leases(5 * time.Second); n != 0 {
		t.Errorf("%d deliveries are leased again", n)
	}
}

// isolated returns a table with a quarantined timer that must run alone.
func isolated(t *testing.T) (*table, *Ticket) {
	t.Helper()
	b := newTable(t, 100, 100)
	b.limits.ParkAfter, b.limits.GroupSize, b.limits.LaterInGroup = 5, 32, 4
	d := b.bring("n", "host")
	b.Decide(0, 0)
	b.Quarantine(d, 4)
	return b, d
}

// TestI13_AnIsolatedQuarantinedTimerDelaysOthersUntilItsLease: slow callbacks must not delay others for minutes.
func TestI13_AnIsolatedQuarantinedTimerDelaysOthersUntilItsLease(t *testing.T) {
	b, d := isolated(t)
	if got := b.start(0); len(got) != 1 || got[0] != d {
		t.Fatalf("%d deliveries began, want the quarantined timer", len(got))
	}
	other := b.bring("n", "host")
	if got := b.start(time.Second); len(got) != 0 {
		t.Fatal("another delivery began beside the quarantined timer")
	}
	b.Lease(d, 2)
	if got := b.start(2 * time.Second); len(got) != 1 || got[0] != other {
		t.Errorf("%d deliveries began beside the leased quarantined timer, want 1", len(got))
	}
}

// TestI13_AnIsolatedQuarantinedTimerWaitsForLeasedQuarantinedTimers, because one of them may be the poison timer.
func TestI13_AnIsolatedQuarantinedTimerWaitsForLeasedQuarantinedTimers(t *testing.T) {
	b, d := isolated(t)
	b.quarantine.waiting = nil
	leased := b.bring("n", "host")
	b.Decide(0, 0)
	b.Quarantine(leased, 2)
	if got := b.start(0); len(got) != 1 || got[0] != leased {
		t.Fatalf("%d deliveries began, want the first quarantined timer", len(got))
	}
	b.Lease(leased, 2)
	b.Quarantine(d, 4)
	if got := b.start(3 * time.Second); len(got) != 0 {
		t.Fatal("a quarantined timer near parking began beside another one")
	}
	b.end(leased, 4*time.Second)
	if got := b.start(4 * time.Second); len(got) != 1 || got[0] != d {
		t.Errorf("%d deliveries began after the first quarantined timer, want 1", len(got))
	}
}

// TestI13_ALeasedQuarantinedTimerLeavesItsGroup, so that slow quarantined timers do not delay others.
func TestI13_ALeasedQuarantinedTimerLeavesItsGroup(t *testing.T) {
	b := newTable(t, 100, 100)
	b.limits.ParkAfter, b.limits.GroupSize, b.limits.LaterInGroup = 5, 32, 1
	first, second := b.bring("n", "host"), b.bring("n", "host")
	b.Decide(0, 0)
	b.Quarantine(first, 3)
	b.Quarantine(second, 3)
	if got := b.start(0); len(got) != 1 || got[0] != first {
		t.Fatalf("%d quarantined timers began, want 1", len(got))
	}
	b.Lease(first, 2)
	if got := b.start(3 * time.Second); len(got) != 1 || got[0] != second {
		t.Errorf("%d quarantined timers began beside the leased one, want 1", len(got))
	}
}

// TestI13_OthersBeginBetweenGroupsOfQuarantinedTimers: thousands of quarantined timers must not delay other deliveries.
func TestI13_OthersBeginBetweenGroupsOfQuarantinedTimers(t *testing.T) {
	b := quarantineTable(t)
	b.quarantined(0, 30)
	b.limits.Batch = 10
	for range 20 {
		b.bring("n", "host")
	}
	var quarantined []bool
	for r := b.Decide(0, 0); len(r.Check) > 0; r = b.Decide(0, 0) {
		quarantined = append(quarantined, r.Quarantined)
	}
	if want := []bool{true, false, true, false, true}; !slices.Equal(quarantined, want) {
		t.Errorf("batches of quarantined timers: %v, want %v", quarantined, want)
	}
}

// TestI13_SecondStartsAreNoLaterStarts: only quarantined timers at their third or later start count against LaterInGroup.
func TestI13_SecondStartsAreNoLaterStarts(t *testing.T) {
	b := quarantineTable(t)
	b.quarantined(0, 10)
	if got := len(b.start(0)); got != 10 {
		t.Fatalf("%d quarantined timers began, want 10", got)
	}
	b.quarantine.othersNext = false
	var later []*Ticket
	for range 6 {
		later = append(later, b.bring("n", "host"))
	}
	b.Decide(0, 0)
	for _, d := range later {
		b.Quarantine(d, 3)
	}
	if got := len(b.start(0)); got != 4 {
		t.Errorf("%d quarantined timers began at their third start beside 10 at their second one, want 4", got)
	}
}

// TestI10_NothingStartsAfterARevoke: the session of a delivery may end during its row check. Then another member may
// deliver it.
func TestI10_NothingStartsAfterARevoke(t *testing.T) {
	steps := map[string]func(b *table, d *Ticket) (started bool){
		"start":      func(b *table, d *Ticket) bool { return b.Start(d, 0) },
		"enter":      func(b *table, d *Ticket) bool { _, ok := b.RequestPermit(d, 0, 0); return ok },
		"withdraw":   func(b *table, d *Ticket) bool { return b.SkipAttempt(d) },
		"hold":       func(b *table, d *Ticket) bool { b.WaitUntil(d, 1); return false },
		"quarantine": func(b *table, d *Ticket) bool { b.Quarantine(d, 4); return false },
	}
	for name, step := range steps {
		for end, of := range map[string]func(b *table){
			"session": func(b *table) { b.EndSession(b.of) },
			"service": func(b *table) { b.Close() },
		} {
			b := newTable(t, 8, 8)
			d := b.bring("n", "host")
			d.Target = targetOf("host")
			if r := b.Decide(0, 0); len(r.Check) != 1 {
				t.Fatalf("%d deliveries to check, want 1", len(r.Check))
			}
			of(b)
			if step(b, d) {
				t.Errorf("%s after the end of the %s lets the delivery go on", name, end)
			}
			if d.stage != Ended || len(b.known)+len(b.early)+len(b.quarantine.waiting)+b.slots+b.room+b.exposed > 0 {
				t.Errorf("%s after the end of the %s leaves stage %d, %d known, %d slots, %d room, %d exposed",
					name, end, d.stage, len(b.known), b.slots, b.room, b.exposed)
			}
			if r := b.Decide(1000, time.Hour); len(r.Check) > 0 {
				t.Errorf("%s after the end of the %s: it is checked again", name, end)
			}
		}
	}
}

// TestI10_NothingOfAnEndedSessionIsChecked, neither what waited nor what arrives later.
func TestI10_NothingOfAnEndedSessionIsChecked(t *testing.T) {
	b := newTable(t, 8, 1)
	for range 3 { // two wait for their host
		b.bring("n", "host")
	}
	if got := len(b.start(0)); got != 1 || b.hosts.waiting != 2 {
		t.Fatalf("%d deliveries began, %d wait", got, b.hosts.waiting)
	}
	early := b.bring("n", "other")
	b.EndSession(b.of)
	late := b.bring("n", "another")
	if len(b.known) != 1 || b.hosts.waiting != 0 || early.stage != Ended || late.stage != 0 {
		t.Errorf("%d deliveries are known, %d wait for their host, want only the running one", len(b.known), b.hosts.waiting)
	}
	if r := b.Decide(0, time.Second); len(r.Check) > 0 {
		t.Errorf("%d deliveries are checked", len(r.Check))
	}
}

// TestI10_ALeasedDeliveryIsKnownByItsNewestStates: an event of the leased state belongs to the running delivery. Events
// of states before the last two have been acknowledged.
func TestI10_ALeasedDeliveryIsKnownByItsNewestStates(t *testing.T) {
	b := newTable(t, 8, 8)
	d := b.bring("n", "host")
	b.start(0)
	for revision := d.Revision + 1; revision <= 4; revision++ {
		b.Lease(d, revision)
		if b.known[State{d.UUID, revision}] != d {
			t.Fatalf("revision %d is not known", revision)
		}
	}
	if len(b.known) != 2 || d.known != 2 {
		t.Errorf("%d states are known, want the last two", len(b.known))
	}
	if b.End(d); len(b.known) != 0 {
		t.Errorf("%d states are known of a settled delivery", len(b.known))
	}
}

// TestAQuarantinedTimerTriesItsHostWhenTheCircuitLetsIt: without anything else to do, the queue wakes the checker at that time.
func TestAQuarantinedTimerTriesItsHostWhenTheCircuitLetsIt(t *testing.T) {
	b := newTable(t, 8, 8)
	b.hosts.limits.CircuitAfter = 1
	d, silent := b.bring("n", "host"), b.bring("n", "host")
	if r := b.Decide(0, 0); len(r.Check) != 2 {
		t.Fatalf("%d to check, want 2", len(r.Check))
	}
	b.Quarantine(d, 3)
	b.Start(silent, 0)
	b.EndAttempt(silent, Silent, 0)
	b.End(silent)
	r := b.Decide(0, time.Second)
	if len(r.Check) > 0 || r.Wait < 9*time.Second || r.Wait > 9*time.Second+10*time.Millisecond {
		t.Fatalf("while the circuit is open: %d to check, %v until the next look, want 0 and 9 s", len(r.Check), r.Wait)
	}
	if r = b.Decide(0, time.Second+r.Wait); len(r.Check) != 1 || r.Check[0] != d {
		t.Errorf("%d to check when the circuit lets one try, want the quarantined timer", len(r.Check))
	}
}

// TestAQuarantinedTimerThatWaitsForAPermitIsNotPolledFor: the circuit would allow a call, but another namespace has all permits of the
// host. The end of one of its calls wakes the quarantined timer.
func TestAQuarantinedTimerThatWaitsForAPermitIsNotPolledFor(t *testing.T) {
	b := newTable(t, 8, 2)
	b.hosts.limits.CircuitAfter = 1
	b.limits.ParkAfter, b.limits.GroupSize, b.limits.LaterInGroup = 5, 32, 4
	d, silent := b.bring("n", "host"), b.bring("n", "host")
	if r := b.Decide(0, 0); len(r.Check) != 2 {
		t.Fatalf("%d to check, want 2", len(r.Check))
	}
	b.Quarantine(d, 3)
	b.Start(silent, 0)
	b.EndAttempt(silent, Silent, 0)
	b.End(silent)
	b.quarantine.othersNext = true
	first, second := b.bring("m", "host"), b.bring("m", "host")
	if got := len(b.start(20 * time.Second)); got != 2 {
		t.Fatalf("%d calls of the other namespace began, want 2", got)
	}
	if r := b.Decide(0, 20*time.Second); len(r.Check) > 0 || r.Wait != 0 {
		t.Errorf("without a free permit: %d to check, %v until the next look, want 0 and no wait", len(r.Check), r.Wait)
	}
	b.end(first, 21*time.Second)
	if got := b.start(21 * time.Second); len(got) != 1 || got[0] != d {
		t.Errorf("after one call %d deliveries began, want the quarantined timer", len(got))
	}
	b.end(second, 21*time.Second)
}
