package scheduler_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// faulty is a scheduler's store with faults. While failing is set, the functions give the answers to their calls.
type faulty struct {
	store.Shards
	failing atomic.Bool
	advance func() error
	overdue func(q store.OverdueQuery) error
	due     func(ctx context.Context) error
}

func (f *faulty) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	if f.advance != nil && f.failing.Load() {
		return nil, f.advance()
	}
	return f.Shards.Advance(ctx, now, items)
}

func (f *faulty) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	if f.overdue != nil && f.failing.Load() {
		return nil, f.overdue(q)
	}
	return f.Shards.Overdue(ctx, q)
}

func (f *faulty) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	if f.due != nil && f.failing.Load() {
		return nil, f.due(ctx)
	}
	return f.Shards.Due(ctx, q)
}

// shardOf returns the shard of a timer of namespace "n".
func (w *world) shardOf(id string) shard.ID {
	w.t.Helper()
	ns, err := w.directory.Lookup(w.t.Context(), "n")
	if err != nil {
		w.t.Fatal(err)
	}
	return ns.Shards.Place(id)
}

func through(f *faulty) func(*scheduler.Config) {
	return func(c *scheduler.Config) {
		f.Shards = c.Store
		c.Store = f
	}
}

func TestCloseReleasesEvenIfTheLastAdvanceFails(t *testing.T) {
	inWorld(t, func(w *world) {
		f := &faulty{advance: func() error { return store.ErrUnavailable }}
		f.failing.Store(true)
		put := w.put("n", "a", time.Second, false)
		n := w.start("a", through(f))
		w.pass(5 * time.Second)
		n.end()
		claimed, err := w.store.Claim(t.Context(), timer.SystemClock(), store.Owner{Incarnation: timer.UUID{1}},
			[]shard.ID{w.shardOf("a")})
		if err != nil {
			t.Fatal(err)
		}
		if p, want := claimed[0].Published, (store.Key{DueAt: put.DueAt, UUID: put.UUID}); p != want {
			t.Fatalf("P is %v, want the key that was sent: %v", p, want)
		}
	})
}

func TestAFailingSweepIsPacedWhileTheBoundIsNear(t *testing.T) {
	inWorld(t, func(w *world) {
		var mu sync.Mutex
		var asked []timer.Millis // by the session whose bound is near
		f := &faulty{overdue: func(q store.OverdueQuery) error {
			mu.Lock()
			defer mu.Unlock()
			if q.Shards[0].Claim.Shard == w.shardOf("a") {
				asked = append(asked, timer.SystemClock())
			}
			return store.ErrUnavailable
		}}
		w.set(holding)
		n := w.start("a", through(f), func(c *scheduler.Config) { c.MaxInFlight = 1 })
		w.put("n", "a", time.Second, true)
		w.pass(1100 * time.Millisecond)
		f.failing.Store(true)
		w.pass(20 * time.Second)
		n.end()
		if len(asked) < 2 {
			t.Fatalf("the sweep was tried %d times", len(asked))
		}
		for i := 1; i < len(asked); i++ {
			if pause := asked[i].Sub(asked[i-1]); pause < 250*time.Millisecond {
				t.Fatalf("tried again after %v", pause)
			}
		}
	})
}

func TestACallThatNeverReturnsIsGivenUp(t *testing.T) {
	inWorld(t, func(w *world) {
		f := &faulty{due: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
		n := w.start("a", through(f))
		w.pass(time.Minute)
		f.failing.Store(true)
		w.pass(time.Minute) // every poll fails
		f.failing.Store(false)
		timers := w.many(20, time.Minute, false)
		w.pass(2 * time.Minute)
		w.wantFired(0, timers...)
		n.end()
	})
}
