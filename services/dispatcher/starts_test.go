package dispatcher

import (
	"testing"
	"time"
)

// TestI13_WhoMayBePostponed: the start before a redelivery may not be counted yet. If it were
// postponed, its next event would be a first delivery, and the start of a poison timer would be forgotten. So it waits
// until its row was read and the start counted.
func TestI13_WhoMayBePostponed(t *testing.T) {
	const hold = 10 * time.Second
	for _, c := range []struct {
		stage       stage
		redelivered bool
		starts      int
		busy        bool // its host has no free permit
		waited      time.Duration
		want        bool
	}{
		{stage: stageReady, waited: hold, want: true},
		{stage: stageReady, waited: hold - 1},
		{stage: stageReady, redelivered: true, waited: hold},
		{stage: stageReady, redelivered: true, waited: 100 * hold},
		{stage: stageSuspected, waited: hold, want: true},
		{stage: stageSuspected, waited: hold - 1},
		{stage: stageSuspected, starts: 2, waited: hold, want: true},
		{stage: stageSuspected, starts: 1, redelivered: true, waited: 100 * hold},
		{stage: stageSuspected, starts: 2, redelivered: true, waited: hold, want: true},
		// The refusal of a host counts the start first.
		{stage: stageSuspected, starts: 1, redelivered: true, busy: true, waited: hold, want: true},
		{stage: stageSuspected, starts: 1, redelivered: true, busy: true, waited: hold - 1},
		{stage: stageChecking, waited: 100 * hold},
		{stage: stageRunning, waited: 100 * hold},
		{stage: stageEarly, waited: 100 * hold},
	} {
		b := newTable(t, 8, 1)
		b.holdFor = hold
		b.bring("n", "busy")
		b.start(0)
		d := &delivery{stage: c.stage, redelivered: c.redelivered, target: targetOf("free")}
		d.row.Starts = c.starts
		if c.busy {
			d.target = targetOf("busy")
		}
		if got := b.tooLong(d, c.waited); got != c.want {
			t.Errorf("%+v: postponed: %t", c, got)
		}
		b.checking = true
		if b.tooLong(d, c.waited) {
			t.Errorf("%+v: postponed while the checker waits for the store", c)
		}
	}
}

// TestI10_NothingStartsAfterARevoke: the row check of a delivery may be under way when its session ends. From then on
// another member may deliver it.
func TestI10_NothingStartsAfterARevoke(t *testing.T) {
	steps := map[string]func(b *table, d *delivery) (started bool){
		"start":    func(b *table, d *delivery) bool { return b.board.start(d, 0) },
		"enter":    func(b *table, d *delivery) bool { _, ok := b.enter(d, 0, 0); return ok },
		"withdraw": func(b *table, d *delivery) bool { return b.withdraw(d) },
		"hold":     func(b *table, d *delivery) bool { b.hold(d, 1); return false },
		"suspect":  func(b *table, d *delivery) bool { b.suspect(d, 4); return false },
	}
	for name, step := range steps {
		for end, of := range map[string]func(b *table){
			"session": func(b *table) { b.leave(b.of) },
			"service": func(b *table) { b.close() },
		} {
			b := newTable(t, 8, 8)
			d := b.bring("n", "host")
			d.target = targetOf("host")
			if r := b.next(0, 0); len(r.check) != 1 {
				t.Fatalf("%d deliveries to check, want 1", len(r.check))
			}
			of(b)
			if step(b, d) {
				t.Errorf("%s after the end of the %s lets the delivery go on", name, end)
			}
			if d.stage != stageSettled || len(b.known)+len(b.early)+len(b.suspects)+b.slots+b.room+b.exposed > 0 {
				t.Errorf("%s after the end of the %s leaves stage %d, %d known, %d slots, %d room, %d exposed",
					name, end, d.stage, len(b.known), b.slots, b.room, b.exposed)
			}
			if r := b.next(1000, time.Hour); len(r.check) > 0 {
				t.Errorf("%s after the end of the %s: it is checked again", name, end)
			}
			if messages := b.settle(d); len(messages) > 0 {
				t.Errorf("%s after the end of the %s: %d messages are left to acknowledge", name, end, len(messages))
			}
		}
	}
}

// TestI10_ALeasedDeliveryIsKnownByItsNewestStates: an event of the leased state belongs to the delivery under way. States
// before the last two have been acknowledged.
func TestI10_ALeasedDeliveryIsKnownByItsNewestStates(t *testing.T) {
	b := newTable(t, 8, 8)
	d := b.bring("n", "host")
	d.ref.UUID = d.due.UUID
	b.start(0)
	for revision := d.due.Revision + 1; revision <= 4; revision++ {
		b.leased(d, revision)
		if b.known[state{d.ref.UUID, revision}] != d {
			t.Fatalf("revision %d is not known", revision)
		}
	}
	if len(b.known) != 2 || len(d.keys) != 2 {
		t.Errorf("%d states are known, want the last two", len(b.known))
	}
	if b.settle(d); len(b.known) != 0 {
		t.Errorf("%d states are known of a settled delivery", len(b.known))
	}
}
