package scheduler_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// tally counts the queries of each shard, like a store that charges per shard.
type tally struct {
	store.Shards

	mu    sync.Mutex
	asked map[shard.ID]int
	marks int
}

func counting(y *tally) func(*scheduler.Config) {
	return func(c *scheduler.Config) {
		y.Shards, y.asked = c.Store, map[shard.ID]int{}
		c.Store, c.PaidByShard = y, true
	}
}

func (y *tally) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	y.mu.Lock()
	for _, asked := range q.Shards {
		y.asked[asked.Claim.Shard]++
	}
	y.mu.Unlock()
	return y.Shards.Due(ctx, q)
}

func (y *tally) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	y.mu.Lock()
	for _, asked := range q.Shards {
		y.asked[asked.Claim.Shard]++
	}
	y.mu.Unlock()
	return y.Shards.Overdue(ctx, q)
}

func (y *tally) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	y.mu.Lock()
	y.marks++
	y.mu.Unlock()
	return y.Shards.Outbox(ctx, shards, before, limit)
}

// take returns the counts since the last call.
func (y *tally) take() (asked map[shard.ID]int, marks int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	asked, marks = y.asked, y.marks
	y.asked, y.marks = map[shard.ID]int{}, 0
	return asked, marks
}

// TestQuestionsFollowTheWork: of four shards, one has a timer every five seconds.
func TestQuestionsFollowTheWork(t *testing.T) {
	inWorld(t, func(w *world) {
		y := &tally{}
		n := w.start("a", counting(y))
		w.many(200, 24*time.Hour, false) // timers that only wait cause no queries
		w.pass(time.Minute)
		y.take()
		const minutes = 10
		w.pass(minutes * time.Minute)
		asked, marks := y.take()
		for id, count := range asked {
			if count != 2*minutes {
				t.Errorf("idle shard %s is read %d times in %d minutes, want twice a minute", id, count, minutes)
			}
		}
		if len(asked) != partitions || marks != 2*minutes*partitions {
			t.Errorf("%d shards are read, and outbox entries of partitions %d times; want %d and %d",
				len(asked), marks, partitions, 2*minutes*partitions)
		}

		busy := w.shardOf("every five seconds")
		var timers []timer.Timer
		for range minutes * 12 {
			timers = append(timers, w.put("n", "every five seconds", 0, true))
			w.pass(5 * time.Second)
		}
		w.wantFired(0, timers...)
		asked, _ = y.take()
		for id, count := range asked {
			if id != busy && count != 2*minutes {
				t.Errorf("shard %s, idle next to a busy one, is read %d times, want %d", id, count, 2*minutes)
			}
			// A sweep finds the row gone, and perhaps a later one finds the shard empty.
			if id == busy && (count < len(timers) || count > 2*len(timers)+2*minutes) {
				t.Errorf("the busy shard is read %d times for %d timers", count, len(timers))
			}
		}
		n.end()
	})
}

// TestI4_ALostHintInAnIdleShardCostsHalfAHintWindow tests the bound of decisions 0019 and 0041.
func TestI4_ALostHintInAnIdleShardCostsHalfAHintWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a", counting(&tally{}))
		w.pass(10*time.Minute + 10*time.Second)
		timers := w.many(20, 3*time.Second, false)
		w.pass(time.Minute)
		w.wantFired(idleBound, timers...) // includes grace and sweep, for rows before R
		n.end()
	})
}

// TestI14_TheOutboxOfIdlePartitionsIsPublished: a dispatcher may die when the scheduler no longer has any state of its
// work.
func TestI14_TheOutboxOfIdlePartitionsIsPublished(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start("a", counting(&tally{}))
		w.pass(2 * time.Minute)
		x := w.put("n", "x", time.Hour, false)
		errs, err := w.store.Finish(t.Context(), timer.SystemClock(), []store.Finish{{
			Ref: store.Ref{Shard: w.shardOf("x"), UUID: x.UUID}, DueAt: x.DueAt, Kind: store.FinishDead,
			If: store.Guard{Generation: x.Generation},
			Record: store.Record{
				Attempt: 1, StatusCode: 410, Error: "gone", FinishedAt: timer.SystemClock(), KeepFor: time.Hour,
			},
		}})
		if err != nil || errs[0] != nil {
			t.Fatal(err, errs)
		}
		dead := w.listen(bus.Dead)
		w.pass(5*time.Second + 30*time.Second)
		if dead.len() != 1 {
			t.Errorf("published %d times, want once", dead.len())
		}
		n.end()
	})
}
