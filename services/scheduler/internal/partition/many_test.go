package partition_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// many returns a partition whose shard numbers are 16 apart, as in a cluster of 16 partitions. Its shards have no
// timers.
func many(shards int) *partition.Partition {
	l := limits()
	l.ActiveFor = time.Minute
	p := partition.New(l)
	for i := range shards {
		p.Claim(start, fmt.Sprint("n", i), store.Claimed{
			Claim: store.Claim{Shard: shard.ID(16 * i), Version: 1}, Watermark: store.MinKey(), Published: store.MinKey(),
		}, bus.Position{Epoch: 1, Offset: 1})
	}
	p.SetFloor(start, bus.Floor{Floor: bus.Position{Epoch: 1, Offset: 1}})
	return p
}

// pollAll answers polls with no rows until none is due. It returns the number of polls and the shards in them.
func pollAll(p *partition.Partition, now timer.Millis) (polls int, asked []shard.ID) {
	for p.PollAt() <= now {
		q := p.Poll(now)
		polls++
		answer := make([]store.DueShard, len(q.Shards))
		for i, s := range q.Shards {
			asked = append(asked, s.Claim.Shard)
			answer[i].NextDueAt = timer.Never
		}
		p.Polled(now, q, answer)
	}
	return polls, asked
}

// idle makes all shards idle, with no row in the store.
func idle(tb testing.TB, p *partition.Partition) {
	tb.Helper()
	pollAll(p, start)
	for _, now := range []timer.Millis{start + 2000, start + 4000} { // the second one reads nothing
		q := p.SweepStart(now)
		p.Swept(q, make([]store.OverdueShard, len(q.Shards)))
	}
	if _, all := p.IdleSince(); !all {
		tb.Fatalf("%d shards are idle, want all", p.Idle())
	}
}

// TestIdleShardsArePolledOnceInHalfAHintWindowAndTogether: a poll reads many shards, but never all.
func TestIdleShardsArePolledOnceInHalfAHintWindowAndTogether(t *testing.T) {
	const shards = 6000
	p := many(shards)
	idle(t, p)
	pollAll(p, start+30_000) // after the first half window, every shard is polled at its regular time
	asked, polls := map[shard.ID]int{}, 0
	for now := start + 30_001; now <= start+90_000; now = max(now+1, p.PollAt()) {
		n, of := pollAll(p, now)
		polls += n
		if len(of) > shards/30 {
			t.Fatalf("%d shards are polled at once", len(of))
		}
		for _, id := range of {
			asked[id]++
		}
		if n := len(p.SweepStart(now).Shards); n > 0 {
			t.Fatalf("a sweep reads %d idle shards", n)
		}
		p.SweepFailed()
	}
	if len(asked) != shards || polls > 120 {
		t.Errorf("%d shards in %d polls, want %d in at most 120", len(asked), polls, shards)
	}
	for id, n := range asked {
		if n != 2 {
			t.Fatalf("shard %s is polled %d times in a minute, want twice", id, n)
		}
	}
}

// TestAPollAsksForAtMostPollShards: the remaining shards are polled immediately afterwards, in the order of their
// times.
func TestAPollAsksForAtMostPollShards(t *testing.T) {
	p := many(2500)
	polls, asked := pollAll(p, start)
	slices.Sort(asked)
	if polls != 3 || len(slices.Compact(asked)) != 2500 {
		t.Errorf("%d polls of %d shards, want 3 of 2500", polls, len(asked))
	}
}

// TestLostHintsArePolledForInEveryShard: after hints were dropped, no shard waits for its regular poll.
func TestLostHintsArePolledForInEveryShard(t *testing.T) {
	p := many(2500)
	idle(t, p)
	p.HintsLost(start + 2500)
	if _, asked := pollAll(p, start+2500); len(asked) != 2500 {
		t.Errorf("%d shards are polled, want 2500", len(asked))
	}
}

// TestPollsComeInTheOrderOfTheirTimes compares the heap with a scan, over random hints, polls, claims and losses.
func TestPollsComeInTheOrderOfTheirTimes(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := many(40)
		pollAll(p, start)
		want := map[shard.ID]timer.Millis{} // when the next poll is needed
		now := start
		for range 200 {
			now += timer.Millis(r.IntN(300))
			id := shard.ID(16 * r.IntN(40))
			switch r.IntN(8) {
			case 0:
				p.RemoveFenced(id)
				delete(want, id)
			case 1:
				p.Claim(now, "n", store.Claimed{
					Claim:     store.Claim{Shard: id, Version: int64(now)},
					Watermark: store.MinKey(), Published: store.MinKey(),
				}, bus.Position{})
				want[id] = now
			default:
				h := hint(row(byte(1+r.IntN(250)), now.Add(time.Duration(2100+r.IntN(9000))*time.Millisecond), now))
				h.Shard = id
				at := h.DueAt.Add(-2 * time.Second)
				if before, ok := want[id]; p.Owns(id) && (!ok || at < before) {
					p.Hint(now, h)
					want[id] = at
				}
			}
			earliest := timer.Never
			for _, at := range want {
				earliest = min(earliest, at)
			}
			if at := p.PollAt(); at > earliest {
				t.Fatalf("seed %d: the next poll is at %d, want one by %d", seed, at, earliest)
			}
			_, asked := pollAll(p, now)
			for id, at := range want {
				if polled := slices.Contains(asked, id); at <= now && !polled {
					t.Fatalf("seed %d: shard %s is not polled at %d, want %d", seed, id, now, at)
				} else if polled {
					delete(want, id)
				}
			}
		}
	}
}

// BenchmarkIdleShards measures one second of decisions of a session with 10,000 idle shards: two polls, half a sweep,
// and the calculation of the next times for each of 100 hints of one shard. That is a tenth of a scheduler with 160,000
// shards and 16 partitions.
func BenchmarkIdleShards(b *testing.B) {
	const shards = 10_000
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p := many(shards)
	idle(b, p)
	runtime.GC()
	runtime.ReadMemStats(&after)
	now := start + 30_000
	pollAll(p, now)
	probes := 0
	for b.Loop() {
		for range 2 {
			now += 500
			_, asked := pollAll(p, now)
			probes += len(asked)
		}
		if now%2000 == 0 {
			p.SweepStart(now)
			p.SweepFailed()
		}
		for range 200 { // a session calls them before and after each step
			p.PollAt()
			p.Behind()
			p.NeedsFloor()
			p.IdleSince()
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/shards, "B/shard")
	b.ReportMetric(float64(probes)/float64(b.N), "probes/op")
}
