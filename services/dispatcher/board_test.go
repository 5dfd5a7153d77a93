package dispatcher

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
)

// table is a board without a service.
type table struct {
	*board
	t    *testing.T
	made byte
	of   *session
}

func newTable(t *testing.T, slots, perHost int) *table {
	return &table{
		board: newBoard(&Config{
			Concurrency: slots, Room: 2 * slots, RoomBytes: 1 << 20, Batch: slots, MaxInFlight: 8 * slots, HostLimit: perHost, HostsRemembered: 100,
			HostPatience: time.Second, PostponeMost: time.Minute, CircuitAfter: 20, CircuitOpenFor: 10 * time.Second,
			LeaseAfter: 2 * time.Second, HoldFor: 10 * time.Second,
		}),
		t: t, of: &session{idle: make(chan struct{})},
	}
}

// targetOf is the target of a host.
func targetOf(host string) timer.Target { return timer.TargetOf("http://" + host) }

// bring admits a delivery of a namespace that calls a host.
func (b *table) bring(namespace, host string) *delivery {
	b.made++
	d := &delivery{namespace: namespace, session: b.of, target: targetOf(host)}
	d.due.UUID, d.due.Revision = timer.UUID{b.made}, 1
	b.admit(d, &bus.Delivery{}, 0, 0)
	return d
}

// start starts what may start, and returns it.
func (b *table) start(elapsed time.Duration) (started []*delivery) {
	for r := b.next(0, elapsed); len(r.check) > 0; r = b.next(0, elapsed) {
		for _, d := range r.check {
			b.board.start(d, elapsed)
			started = append(started, d)
		}
	}
	return started
}

// end ends a delivery.
func (b *table) end(d *delivery, elapsed time.Duration) {
	b.answered(d, nil, elapsed)
	b.settle(d)
}

// A place that becomes free with a host goes to nobody whose namespace holds its share of the slots already.
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
	if n := len(b.start(0)); n != 5 || b.gate.waiting != 2 {
		t.Fatalf("%d of the loud started, %d wait for their host", n, b.gate.waiting)
	}
	b.end(first, ms)
	b.start(ms)
	b.end(second, 2*ms)
	third := b.bring("quiet", "another")
	started := b.start(2 * ms)
	if len(started) != 1 || started[0] != third {
		t.Errorf("started: %v, want the quiet one", len(started))
	}
	if held := b.ready.of("loud").held; held > 6 {
		t.Errorf("the loud namespace holds %d of 8 slots", held)
	}
}

// A namespace whose receivers hang holds its share of the slots, and no more of what the bus hands over than can have
// its turn soon.
func TestANamespaceThatHangsDoesNotFillTheIntake(t *testing.T) {
	b := newTable(t, 8, 2)
	redelivered := b.bring("loud", "h")
	redelivered.redelivered = true
	for i := range 40 {
		b.bring("loud", string(rune('A'+i)))
	}
	var put []entry
	elapsed := time.Duration(0)
	look := func() {
		r := b.next(0, elapsed)
		for _, o := range r.refused {
			if o.delivery == redelivered {
				t.Error("a redelivered event was put off unread")
			}
			put = append(put, o.entry)
			b.settle(o.delivery)
		}
		for _, d := range r.check {
			b.board.start(d, elapsed)
		}
	}
	look()
	elapsed = time.Hour
	look()
	look()
	if len(put) != 0 {
		t.Fatalf("%d were put off because the process stood still", len(put))
	}
	for range 60 {
		elapsed += 10 * ms
		look()
	}
	// Six calls have been silent for 0.7 s, so about nine more can have their turn within a second.
	if held := b.ready.of("loud").held; held != 6 || b.ready.size > 9 {
		t.Fatalf("it holds %d slots, and %d wait", held, b.ready.size)
	}
	if len(put) < 25 || put[0].delay < time.Second || put[len(put)-1].delay <= put[0].delay || put[len(put)-1].delay > time.Minute {
		t.Fatalf("%d put off, the first for %v, the last for %v", len(put), put[0].delay, put[len(put)-1].delay)
	}
	quiet := b.bring("quiet", "q")
	look()
	if quiet.stage != stageRunning {
		t.Error("another namespace waits for it")
	}
}
