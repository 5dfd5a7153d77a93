package admission

import (
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// table is a queue without a service.
type table struct {
	*Queue
	t    *testing.T
	made byte
	of   *Session
}

func newTable(t *testing.T, slots, perHost int) *table {
	return &table{
		Queue: New(&Limits{
			Concurrency: slots, Room: 2 * slots, RoomBytes: 1 << 20, Batch: slots, MaxInFlight: 8 * slots, HostLimit: perHost, KnownHosts: 100,
			HostMaxWait: time.Second, MaxPostpone: time.Minute, CircuitAfter: 20, CircuitOpenFor: 10 * time.Second,
			LeaseAfter: 2 * time.Second, HoldFor: 10 * time.Second,
		}),
		t: t, of: &Session{},
	}
}

// targetOf returns the target of a host.
func targetOf(host string) timer.Target { return timer.TargetOf("http://" + host) }

// bring offers a delivery of a namespace that calls a host.
func (b *table) bring(namespace, host string) *Ticket {
	b.made++
	d := &Ticket{State: State{UUID: timer.UUID{b.made}, Revision: 1}, Namespace: namespace, Session: b.of, Target: targetOf(host)}
	b.Offer(d, 0, 0)
	return d
}

// start starts the deliveries that may start, and returns them.
func (b *table) start(elapsed time.Duration) (started []*Ticket) {
	for r := b.Decide(0, elapsed); len(r.Check) > 0; r = b.Decide(0, elapsed) {
		for _, d := range r.Check {
			b.Start(d, elapsed)
			started = append(started, d)
		}
	}
	return started
}

// end ends a delivery.
func (b *table) end(d *Ticket, elapsed time.Duration) {
	b.EndAttempt(d, Replied, elapsed)
	b.End(d)
}

// A permit that becomes free is not granted to a namespace that already has all slots of its share.
func TestWhoWaitedForAHostKeepsToTheNamespacesShare(t *testing.T) {
	b := newTable(t, 8, 2)
	first, second := b.bring("quiet", "shared"), b.bring("quiet", "shared")
	b.start(0)
	for range 2 {
		b.bring("loud", "shared")
	}
	b.start(0)
	for _, host := range []string{"a", "b", "c", "d", "e"} {
		b.bring("loud", host)
	}
	if n := len(b.start(0)); n != 5 || b.hosts.waiting != 2 {
		t.Fatalf("%d of the loud started, %d wait for their host", n, b.hosts.waiting)
	}
	b.end(first, ms)
	b.start(ms)
	b.end(second, 2*ms)
	third := b.bring("quiet", "another")
	started := b.start(2 * ms)
	if len(started) != 1 || started[0] != third {
		t.Errorf("started: %v, want the quiet one", len(started))
	}
	if held := b.shares.shareOf("loud").slots; held > 6 {
		t.Errorf("the loud namespace holds %d of 8 slots", held)
	}
}

// While a batch of postponements is being written, no more tickets are postponed: they wait, hold no room, and are called if
// their host becomes faster.
func TestAtMostOneBatchIsPostponedAtATime(t *testing.T) {
	b := newTable(t, 8, 2)
	calls := make([]*Ticket, 0, 2)
	for range 50 {
		b.bring("a", "slow")
	}
	elapsed := time.Duration(0)
	var postponed []*Ticket
	pass := func() {
		for range 100 {
			elapsed += 10 * ms
			r := b.Decide(0, elapsed)
			for _, p := range r.Postpone {
				postponed = append(postponed, p.Ticket)
			}
			for _, d := range r.Check {
				b.Start(d, elapsed)
				calls = append(calls, d)
			}
		}
	}
	pass() // silence
	if batch := b.limits.Batch; len(calls) != 2 || len(postponed) != batch || b.hosts.waiting != 48-batch || b.room != 2+batch {
		t.Fatalf("%d called, %d postponed, %d wait, %d hold room", len(calls), len(postponed), b.hosts.waiting, b.room)
	}
	elapsed = time.Minute
	if old, _ := b.Aged(&Time{Elapsed: elapsed}); slices.ContainsFunc(old, func(a AgedDelivery) bool { return a.Postpone }) {
		t.Error("more are postponed because of their age")
	}
	for _, p := range postponed[:3] {
		b.End(p)
	}
	pass()
	if want := b.limits.Batch + 3; len(postponed) != want {
		t.Fatalf("%d postponed, want %d", len(postponed), want)
	}
	for len(calls) > 0 { // the host answers
		d := calls[0]
		calls = calls[1:]
		elapsed += ms
		b.end(d, elapsed)
		calls = append(calls, b.start(elapsed)...)
	}
	if b.hosts.waiting != 0 {
		t.Errorf("%d wait for a host that answers", b.hosts.waiting)
	}
}

// A quarantined timer that must run alone waits for the postponements that are being written, but not for all timers of a slow host.
func TestAQuarantinedTimerDoesNotWaitForAllPostponements(t *testing.T) {
	b := newTable(t, 8, 2)
	b.limits.ParkAfter, b.limits.GroupSize = 5, 4
	for range 100 {
		b.bring("a", "slow")
	}
	var isolated *Ticket
	var calls, postponed []*Ticket
	elapsed := time.Duration(0)
	began := false
	pass := func() {
		elapsed += 10 * ms
		r := b.Decide(0, elapsed)
		for _, p := range r.Postpone {
			postponed = append(postponed, p.Ticket)
		}
		for _, d := range r.Check {
			if d == isolated && !r.Quarantined {
				b.Quarantine(d, 4)
				continue
			}
			began = began || d == isolated
			b.Start(d, elapsed)
			calls = append(calls, d)
		}
	}
	for range 100 {
		pass()
	}
	isolated = b.bring("b", "other")
	for range 100 {
		pass()
	}
	if began || len(calls) != 2 || len(postponed) == 0 {
		t.Fatalf("quarantined timer began: %v, %d calls, %d postponed", began, len(calls), len(postponed))
	}
	for _, d := range calls { // a long callback
		b.Lease(d, 7)
	}
	for range 3 {
		for _, p := range postponed {
			b.End(p)
		}
		postponed = nil
		pass()
	}
	if !began {
		t.Errorf("the quarantined timer did not begin, while %d wait for a slow host", b.hosts.waiting)
	}
}

// A namespace whose receivers hang uses its share of the slots. Of MaxInFlight it uses only as much as can start soon.
func TestANamespaceThatHangsDoesNotFillTheIntake(t *testing.T) {
	b := newTable(t, 8, 2)
	for i := range 41 {
		b.bring("loud", string(rune('A'+i)))
	}
	var put []Answer
	elapsed := time.Duration(0)
	look := func() {
		r := b.Decide(0, elapsed)
		for _, p := range r.Postpone {
			put = append(put, p.Answer)
			b.End(p.Ticket)
		}
		for _, d := range r.Check {
			b.Start(d, elapsed)
		}
	}
	look()
	elapsed = time.Hour
	look()
	look()
	if len(put) != 0 {
		t.Fatalf("%d were postponed because the process was suspended", len(put))
	}
	for range 60 {
		elapsed += 10 * ms
		look()
	}
	// Six calls have been silent for 0.7 s, so about nine more can start within a second.
	if held := b.shares.shareOf("loud").slots; held != 6 || b.shares.size > 9 {
		t.Fatalf("it holds %d slots, and %d wait", held, b.shares.size)
	}
	if len(put) < 25 || put[0].Delay < time.Second || put[len(put)-1].Delay <= put[0].Delay || put[len(put)-1].Delay > time.Minute {
		t.Fatalf("%d postponed, the first for %v, the last for %v", len(put), put[0].Delay, put[len(put)-1].Delay)
	}
	quiet := b.bring("quiet", "q")
	look()
	if quiet.stage != Calling {
		t.Error("another namespace waits for it")
	}
}
