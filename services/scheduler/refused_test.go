package scheduler_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// refusing is a scheduler's store that refuses one shard while refuses is set.
type refusing struct {
	store.Shards

	hot     shard.ID
	refuses atomic.Bool
}

func (r *refusing) refusal(id shard.ID) error {
	if id != r.hot || !r.refuses.Load() {
		return nil
	}
	return fmt.Errorf("shard %s: %w: it is hot", id, store.ErrUnavailable)
}

// some makes a call with the items that are not refused, and merges the answers with the refusals.
func some[Item, Answer any](
	r *refusing, items []Item, of func(Item) shard.ID, refused func(error) Answer, call func([]Item) ([]Answer, error),
) ([]Answer, error) {
	out := make([]Answer, len(items))
	var rest []Item
	var at []int
	for i, item := range items {
		if err := r.refusal(of(item)); err != nil {
			out[i] = refused(err)
			continue
		}
		rest, at = append(rest, item), append(at, i)
	}
	answers, err := call(rest)
	for n, answer := range answers {
		out[at[n]] = answer
	}
	return out, err
}

func (r *refusing) Claim(ctx context.Context, now timer.Millis, o store.Owner, ids []shard.ID) ([]store.Claimed, error) {
	return some(r, ids, func(id shard.ID) shard.ID { return id },
		func(err error) store.Claimed { return store.Claimed{Claim: store.Claim{Shard: r.hot}, Err: err} },
		func(rest []shard.ID) ([]store.Claimed, error) { return r.Shards.Claim(ctx, now, o, rest) })
}

func (r *refusing) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	return some(r, q.Shards, func(a store.DueAfter) shard.ID { return a.Claim.Shard },
		func(err error) store.DueShard { return store.DueShard{Err: err} },
		func(rest []store.DueAfter) ([]store.DueShard, error) { q.Shards = rest; return r.Shards.Due(ctx, q) })
}

func (r *refusing) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	return some(r, q.Shards, func(a store.OverdueRange) shard.ID { return a.Claim.Shard },
		func(err error) store.OverdueShard { return store.OverdueShard{Err: err} },
		func(rest []store.OverdueRange) ([]store.OverdueShard, error) {
			q.Shards = rest
			return r.Shards.Overdue(ctx, q)
		})
}

func (r *refusing) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	return some(r, items, func(a store.Advance) shard.ID { return a.Claim.Shard }, func(err error) error { return err },
		func(rest []store.Advance) ([]error, error) { return r.Shards.Advance(ctx, now, rest) })
}

// TestAShardThatTheStoreRefusesHoldsUpNoOther of its partition: neither when the partition is opened nor later.
func TestAShardThatTheStoreRefusesHoldsUpNoOther(t *testing.T) {
	inWorld(t, func(w *world) {
		w.namespace("m") // its shards are in the same partitions
		r := &refusing{hot: w.shardOf("hot")}
		r.refuses.Store(true)
		other := ""
		for i := 0; other == ""; i++ {
			id := fmt.Sprint("cool ", i)
			ns, err := w.directory.Lookup(t.Context(), "m")
			if err != nil {
				t.Fatal(err)
			}
			if shard.PartitionOf(ns.Shards.Place(id), partitions) == shard.PartitionOf(r.hot, partitions) {
				other = id
			}
		}
		n := w.start("a", func(c *scheduler.Config) { r.Shards, c.Store = c.Store, r })
		for _, phase := range []string{"when the partition is opened", "later"} {
			hot := w.put("n", "hot", 3*time.Second, false)
			cool := w.put("m", other, 3*time.Second, true)
			w.pass(20 * time.Second)
			w.wantFired(0, cool)
			r.refuses.Store(false)
			w.pass(20 * time.Second)
			w.wantFired(time.Minute, hot)
			if t.Failed() {
				t.Fatalf("refused %s", phase)
			}
			w.pass(5 * time.Minute) // polls, sweeps and advances with the claim
			r.refuses.Store(true)
			w.pass(30 * time.Second)
		}
		n.end()
	})
}
