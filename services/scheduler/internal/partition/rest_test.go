package partition_test

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

func restful() partition.Limits {
	l := limits()
	l.Rest = true
	return l
}

// sweeps reports how many shards a sweep would ask, and answers it from the rows.
func (b *bench) sweeps(now timer.Millis) int {
	b.t.Helper()
	n := len(b.p.SweepStart(now).Shards)
	b.p.SweepFailed()
	return n
}

// rest brings the bench's shard to rest at start + 2 s, and polls it there.
func (b *bench) rest() {
	b.t.Helper()
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.poll(start)
	b.sweep(start + 2000)
	if b.p.Resting() != 1 {
		b.t.Fatal("an empty shard does not come to rest")
	}
}

func TestI4_AShardAtRestIsLookedAtFromTheBeginningEveryHalfHintWindow(t *testing.T) {
	b := newBench(t, restful())
	b.put(row(5, start+1000, start))
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.poll(start)
	b.wantReleased(start+1000, "5") // R stands here
	b.remove(5)
	b.sweep(start + 2000)
	if b.p.Resting() != 1 || b.sweeps(start+4000) != 0 {
		t.Fatal("an empty shard is swept again and again")
	}
	// Committed behind R, its hint lost.
	b.put(row(1, start+500, start+2500))
	at := b.p.PollAt()
	if at != start+30_000 {
		t.Fatalf("the next look comes in %d ms, want half a hint window: 30000", at-start)
	}
	b.poll(at)
	b.wantReleased(at) // the poll arms nothing behind R
	if b.p.Resting() != 0 {
		t.Fatal("a shard with a row rests on")
	}
	b.sweep(at + 1)
	b.wantReleased(at+1, "1!")
	b.remove(1)
	b.sweep(at + 2001)
	if b.p.Resting() != 1 {
		t.Fatal("a shard whose last timer is gone does not come to rest")
	}
}

// TestI4_ARowBehindTheSweepFloorOfAShardAtRestIsSwept: its commit took longer than the margin, and the poll has found it.
func TestI4_ARowBehindTheSweepFloorOfAShardAtRestIsSwept(t *testing.T) {
	b := newBench(t, restful())
	b.put(row(5, start+1000, start))
	b.open(start, store.MinKey(), store.MinKey())
	b.floor(start, 1)
	b.poll(start)
	b.wantReleased(start+1000, "5") // R is this row
	b.remove(5)
	b.sweep(start + 2000)
	b.put(row(1, start-2*minute, start+2500))
	at := b.p.PollAt()
	b.poll(at)
	b.wantReleased(at)
	b.sweep(at + 1)
	b.wantReleased(at+1, "1!")
}

func TestAShardComesToRestOnlyWhenNothingOfItIsKnown(t *testing.T) {
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
			b.p.Release(start+600, 10, 1000)
			b.remove(1)
		}, 0},
		"a row in the store": {func(b *bench) { b.put(row(1, start+600, start)) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, restful())
			b.open(start, store.MinKey(), store.MinKey())
			b.floor(start, 1)
			b.poll(start)
			c.do(b)
			b.sweep(start + 2000)
			if n := b.p.Resting(); n != c.rest {
				t.Errorf("%d shards rest, want %d", n, c.rest)
			}
		})
	}
	t.Run("a barrier stands", func(t *testing.T) {
		b := newBench(t, restful())
		b.open(start, store.MinKey(), store.MaxKeyAt(start))
		b.poll(start)
		b.sweep(start + 2000)
		if b.p.Resting() != 0 {
			t.Error("it rests")
		}
	})
	t.Run("not asked for", func(t *testing.T) {
		b := newBench(t, limits())
		b.open(start, store.MinKey(), store.MinKey())
		b.floor(start, 1)
		b.poll(start)
		b.sweep(start + 2000)
		if b.p.Resting() != 0 || b.sweeps(start+4000) != 1 {
			t.Error("it rests")
		}
	})
}

func TestAHintWakesAShard(t *testing.T) {
	b := newBench(t, restful())
	b.rest()
	b.p.Hint(start+5000, hint(row(1, start+6000, start+5000)))
	if b.p.Resting() != 0 || b.sweeps(start+5500) != 1 {
		t.Error("it rests on with a timer armed")
	}
	b.wantReleased(start+6000, "1")
}

func TestAHintForLaterOnlyBringsTheLookForward(t *testing.T) {
	b := newBench(t, restful())
	b.rest()
	late := row(1, start+20_000, start+5000)
	b.put(late)
	b.p.Hint(start+5000, hint(late))
	if at := b.p.PollAt(); b.p.Resting() != 1 || at != start+18_000 {
		t.Fatalf("%d rest, the next look comes in %d ms; want 1 and 18000", b.p.Resting(), at-start)
	}
	b.poll(start + 18_000)
	if b.p.Resting() != 0 {
		t.Error("it rests on with a timer armed")
	}
	b.wantReleased(start+20_000, "1")
}

func TestATakenOverShardIsAwake(t *testing.T) {
	b := newBench(t, restful())
	b.rest()
	b.claim.Version++
	b.open(start+5000, store.MinKey(), store.MinKey())
	if b.p.Resting() != 0 || b.sweeps(start+6000) != 1 {
		t.Error("it rests")
	}
}

// TestI4_WithoutRoomForPollsAShardAtRestIsSwept: its looks are polls, and none is made while the agenda is full.
func TestI4_WithoutRoomForPollsAShardAtRestIsSwept(t *testing.T) {
	l := restful()
	b := newBench(t, l)
	b.rest()
	other := store.Claim{Shard: 7, Version: 1}
	b.p.Claim(start, "n", store.Claimed{Claim: other, Watermark: store.MinKey(), Published: store.MinKey()}, bus.Position{})
	for id := range byte(l.Agenda) {
		h := hint(row(100+id, start+31_000, start))
		h.Shard = 7
		b.p.Hint(start+30_000, h)
	}
	if b.p.PollAt() != timer.Never {
		t.Fatal("there is room")
	}
	if n := b.sweeps(start + 29_000); n != 1 {
		t.Errorf("before its look is due, %d shards are swept, want the other one", n)
	}
	if n := b.sweeps(start + 30_001); n != 2 {
		t.Errorf("%d shards are swept, want both", n)
	}
}
