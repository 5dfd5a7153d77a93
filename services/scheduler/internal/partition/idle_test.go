package partition_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

func idling() partition.Limits {
	l := limits()
	l.ActiveFor = 0
	return l
}

// sweeps returns how many shards a sweep would read. It ends the sweep without an answer.
func (b *bench) sweeps(now timer.Millis) int {
	b.t.Helper()
	n := len(b.p.SweepStart(now).Shards)
	b.p.SweepFailed()
	return n
}

// idle makes the bench's shard idle at start + 2 s.
func (b *bench) idle() {
	b.t.Helper()
	b.begin()
	b.sweep(start + 2000)
	if b.p.Idle() != 1 {
		b.t.Fatal("an empty shard does not become idle")
	}
}

func TestI4_AnIdleShardIsPolledFromItsSweepFloorEveryHalfHintWindow(t *testing.T) {
	b := newBench(t, idling())
	b.put(row(5, start+1000, start))
	b.begin()
	b.wantReleased(start+1000, "5") // R is this key
	b.remove(5)
	b.sweep(start + 2000)
	if b.p.Idle() != 1 || b.sweeps(start+4000) != 0 {
		t.Fatal("an empty shard is swept again and again")
	}
	// Committed before R, and its hint was lost.
	b.put(row(1, start+500, start+2500))
	at := b.p.PollAt()
	if at > start+30_000 {
		t.Fatalf("the next poll is in %d ms, want at most half a hint window: 30000", at-start)
	}
	b.poll(at)
	b.wantReleased(at) // the poll arms nothing before R
	if b.p.Idle() != 0 {
		t.Fatal("a shard with a row is idle")
	}
	b.sweep(at + 1)
	b.wantReleased(at+1, "1")
	b.remove(1)
	b.sweep(at + 2001)
	if b.p.Idle() != 1 {
		t.Fatal("a shard whose last timer was deleted does not become idle")
	}
}

// TestI4_ARowBehindTheSweepFloorOfAnIdleShardIsSwept: its commit took longer than the margin, and a poll from the first
// key, one every five minutes, has found it.
func TestI4_ARowBehindTheSweepFloorOfAnIdleShardIsSwept(t *testing.T) {
	b := newBench(t, idling())
	b.put(row(5, start+1000, start))
	b.begin()
	b.wantReleased(start+1000, "5") // R is this row
	b.remove(5)
	b.sweep(start + 2000)
	for at := b.p.PollAt(); at < start+3*minute; at = b.p.PollAt() {
		b.poll(at) // the sweep floor follows
	}
	b.put(row(1, start-2*minute, start+3*minute)) // before R
	at := b.p.PollAt()
	for ; b.p.Idle() == 1; at = b.p.PollAt() {
		if at > start+5*minute+30_000 {
			t.Fatal("the row was not found in five minutes and half a hint window")
		}
		b.poll(at)
		b.wantReleased(at)
	}
	b.sweep(at + 1)
	b.wantReleased(at+1, "1")
}

func TestAShardBecomesIdleOnlyWhenNothingOfItIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(b *bench)
		rest int
	}{
		"nothing":        {func(*bench) {}, 1},
		"waiting beyond": {func(b *bench) { b.put(row(1, start+60_000, start)) }, 1},
		"armed": {func(b *bench) {
			b.put(row(1, start+2100, start))
			b.p.HintsLost(start + 500)
			b.poll(start + 500)
		}, 0},
		"armed by a hint": {func(b *bench) { b.p.Hint(start+1000, hint(row(1, start+2100, start))) }, 0},
		"out": {func(b *bench) {
			b.put(row(1, start+600, start))
			b.p.HintsLost(start + 500)
			b.poll(start + 500)
			b.wantReleased(start+600, "1")
		}, 0},
		"out, and unacknowledged": {func(b *bench) {
			b.put(row(1, start+600, start))
			b.p.HintsLost(start + 500)
			b.poll(start + 500)
			b.p.TakeDue(start+600, 10, 1000)
			b.remove(1)
		}, 0},
		"a row in the store": {func(b *bench) { b.put(row(1, start+600, start)) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, idling())
			b.begin()
			c.do(b)
			b.sweep(start + 2000)
			if n := b.p.Idle(); n != c.rest {
				t.Errorf("%d shards are idle, want %d", n, c.rest)
			}
		})
	}
	t.Run("a handover barrier", func(t *testing.T) {
		b := newBench(t, idling())
		b.open(start, store.MinKey(), store.MaxKeyAt(start))
		b.poll(start)
		b.sweep(start + 2000)
		if b.p.Idle() != 0 {
			t.Error("the shard is idle")
		}
	})
	t.Run("a row was read lately", func(t *testing.T) {
		l := idling()
		l.ActiveFor = time.Minute
		b := newBench(t, l)
		b.put(row(1, start+600, start))
		b.begin()
		b.wantReleased(start+600, "1")
		b.remove(1)
		for now := start + 2000; now < start+60_000; now += 2000 {
			if b.sweep(now); b.p.Idle() != 0 {
				t.Fatalf("the shard is idle %d ms after a row of it was read", now-start)
			}
		}
		if b.sweep(start + 60_000); b.p.Idle() != 1 {
			t.Error("it does not become idle")
		}
	})
	t.Run("an empty one, at once", func(t *testing.T) {
		l := idling()
		l.ActiveFor = time.Minute
		b := newBench(t, l)
		b.idle()
	})
}

func TestAHintMakesAShardActive(t *testing.T) {
	b := newBench(t, idling())
	b.idle()
	b.p.Hint(start+5000, hint(row(1, start+6000, start+5000)))
	if b.p.Idle() != 0 || b.sweeps(start+5500) != 1 {
		t.Error("the shard is idle with a timer armed")
	}
	b.wantReleased(start+6000, "1")
}

func TestAHintForLaterOnlyBringsThePollForward(t *testing.T) {
	b := newBench(t, idling())
	b.idle()
	late := row(1, start+14_000, start+5000)
	b.put(late)
	b.p.Hint(start+5000, hint(late))
	if at := b.p.PollAt(); b.p.Idle() != 1 || at != start+12_000 {
		t.Fatalf("%d shards are idle, the next poll is in %d ms; want 1 and 12000", b.p.Idle(), at-start)
	}
	b.poll(start + 12_000)
	if b.p.Idle() != 0 {
		t.Error("the shard is idle with a timer armed")
	}
	b.wantReleased(start+14_000, "1")
}

func TestATakenOverShardIsActive(t *testing.T) {
	b := newBench(t, idling())
	b.idle()
	b.claim.Version++
	b.open(start+5000, store.MinKey(), store.MinKey())
	if b.p.Idle() != 0 || b.sweeps(start+6000) != 1 {
		t.Error("the shard is idle")
	}
}

// TestI4_WithoutRoomForPollsAnIdleShardIsSwept: while the timer heap is full, its polls are not made.
func TestI4_WithoutRoomForPollsAnIdleShardIsSwept(t *testing.T) {
	l := idling()
	b := newBench(t, l)
	b.idle()
	at := b.p.PollAt()
	other := store.Claim{Shard: 7, Version: 1}
	b.p.Claim(start, "n", store.Claimed{Claim: other, Watermark: store.MinKey(), Published: store.MinKey()}, bus.Position{})
	for id := range byte(l.MaxArmed) {
		h := hint(row(100+id, start+31_000, start))
		h.Shard = 7
		b.p.Hint(start+30_000, h)
	}
	if b.p.PollAt() != timer.Never {
		t.Fatal("there is room")
	}
	if n := b.sweeps(at - 1); n != 1 {
		t.Errorf("before its poll is due, %d shards are swept, want the other one", n)
	}
	if n := b.sweeps(at); n != 2 {
		t.Errorf("%d shards are swept, want both", n)
	}
}

// TestIdleShardsAreReadFromTheirSweepFloor: in stores where removed rows slow reads until they are cleaned up, reading
// from the first key is expensive.
func TestIdleShardsAreReadFromTheirSweepFloor(t *testing.T) {
	b := newBench(t, idling())
	b.idle()
	full, polls := 0, 0
	var last timer.Millis
	for at := b.p.PollAt(); at < start+20*minute; at = b.p.PollAt() {
		q := b.p.Poll(at)
		switch after := q.Shards[0].After; {
		case after == store.MinKey():
			full++
		case last > 0 && after != store.MaxKeyAt(last-minute):
			t.Fatalf("the poll at %d ms starts at %v, want a minute before the last one at %d ms", at-start, after, last-start)
		}
		b.p.Polled(at, q, []store.DueShard{{NextDueAt: timer.Never}})
		last, polls = at, polls+1
	}
	if full < 3 || full > 4 || polls < 39 || polls > 41 {
		t.Errorf("%d of %d polls in 20 minutes start at the first key, want one in 5 minutes and 2 polls a minute", full, polls)
	}
}

// TestI4_AShardWhoseRowsDidNotFitIntoThePageIsNotIdle: the sweep began after R, and rows of other shards filled the page.
func TestI4_AShardWhoseRowsDidNotFitIntoThePageIsNotIdle(t *testing.T) {
	for more, want := range map[bool]int{false: 1, true: 0} {
		l := limits()
		l.ActiveFor = 0
		b := newBench(t, l)
		b.begin()
		b.sweep(start + 100)
		b.wantIdleShards(1)
		b.put(row(1, start+200, start+200))
		b.p.Hint(start+200, hint(b.rows[0])) // makes the shard active
		b.wantReleased(start+200, "1")
		b.floor(start+300, b.end)
		b.remove(1)
		q := b.p.SweepStart(start + 2*minute)
		b.p.Swept(q, []store.OverdueShard{{More: more}})
		b.wantIdleShards(want)
	}
}

func (b *bench) wantIdleShards(want int) {
	b.t.Helper()
	if n := b.p.Idle(); n != want {
		b.t.Fatalf("%d idle shards, want %d", n, want)
	}
}
