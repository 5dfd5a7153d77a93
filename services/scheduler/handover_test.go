package scheduler_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// claiming is a store that records when the scheduler claims a shard.
type claiming struct {
	store.Shards
	of shard.ID

	mu sync.Mutex
	at []timer.Millis
}

func (c *claiming) Claim(ctx context.Context, now timer.Millis, o store.Owner, ids []shard.ID) ([]store.Claimed, error) {
	for _, id := range ids {
		if id == c.of {
			c.mu.Lock()
			c.at = append(c.at, timer.SystemClock())
			c.mu.Unlock()
		}
	}
	return c.Shards.Claim(ctx, now, o, ids)
}

// TestI5_AFencedShardIsClaimedBackAfterHalfAHintWindow: if it were claimed earlier, two owners to which the bus assigns
// the partition would take its shards from one to the other in a loop. If it were claimed later, a shard whose new
// owner is gone would have no owner.
func TestI5_AFencedShardIsClaimedBackAfterHalfAHintWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		c := &claiming{of: w.shardOf("x")}
		n := w.start("a", func(config *scheduler.Config) { c.Shards, config.Store = config.Store, c })
		w.pass(time.Minute)
		if len(c.at) != 1 {
			t.Fatalf("claimed %d times, want once", len(c.at))
		}
		_, err := w.store.Claim(t.Context(), timer.SystemClock(), store.Owner{Incarnation: timer.UUID{1}}, []shard.ID{c.of})
		if err != nil {
			t.Fatal(err)
		}
		stolen := timer.SystemClock()
		// Hints name the shard during the whole time, and the owner polls, sweeps and refreshes.
		for range 60 {
			w.put("n", "x", time.Second, true)
			w.pass(time.Second)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.at) != 2 {
			t.Fatalf("claimed %d times after the theft, want once", len(c.at)-1)
		}
		if after := c.at[1].Sub(stolen); after < 30*time.Second || after > 40*time.Second {
			t.Fatalf("claimed back after %v, want half a hint window, 30 s", after)
		}
		n.end()
	})
}

// slow is a bus on which a Publish to the due queue takes a given time.
type slow struct {
	bus.Bus
	takes time.Duration
	// cut counts calls that were cancelled.
	cut atomic.Int64
}

func (s *slow) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if topic == bus.Due {
		select {
		case <-time.After(s.takes):
		case <-ctx.Done():
			s.cut.Add(1)
			return nil, ctx.Err()
		}
	}
	return s.Bus.Publish(ctx, topic, messages...)
}

// TestI5_ARevokeFlushesWhatIsOnItsWay: the partition is revoked during a publish. The owner waits for its answer,
// advances and releases. So the next owner finds no key with unknown outcome, and publishes nothing twice.
func TestI5_ARevokeFlushesWhatIsOnItsWay(t *testing.T) {
	inWorld(t, func(w *world) {
		const takes = 4 * time.Second
		x := w.put("n", "x", 3*time.Second, false)
		n := w.start("a", func(c *scheduler.Config) { c.Bus = &slow{Bus: c.Bus, takes: takes} })
		w.pass(4 * time.Second)
		if out := len(w.take()); out != 0 {
			t.Fatalf("%d events are published, want the publish under way", out)
		}
		began := timer.SystemClock()
		n.end()
		synctest.Wait()
		if took := timer.SystemClock().Sub(began); took != takes-time.Second {
			t.Errorf("the hand-over took %v, want the rest of the publish, %v", took, takes-time.Second)
		}
		w.wantFired(takes, x)
		claimed, err := w.store.Claim(t.Context(), timer.SystemClock(), store.Owner{Incarnation: timer.UUID{1}}, []shard.ID{w.shardOf("x")})
		if err != nil {
			t.Fatal(err)
		}
		want := store.Key{DueAt: x.DueAt, UUID: x.UUID}
		if got := claimed[0]; got.Watermark != want || got.Published != want {
			t.Errorf("the next owner finds W %v and P %v, want the key that was published, %v", got.Watermark, got.Published, want)
		}
	})
}

// TestI5_AfterALossNothingIsWaitedForOrReleased, because another owner may have the partition already.
func TestI5_AfterALossNothingIsWaitedForOrReleased(t *testing.T) {
	inWorld(t, func(w *world) {
		r := &releasing{}
		b := &slow{takes: time.Hour}
		n := w.start("a", func(c *scheduler.Config) {
			r.Shards, b.Bus = c.Store, c.Bus
			c.Store, c.Bus, c.CallTimeout = r, b, 2*time.Hour
		})
		w.put("n", "x", time.Second, true)
		w.pass(2 * time.Second)
		n.member.Freeze()
		w.pass(5 * time.Second) // its lease has expired
		n.member.Thaw()
		w.pass(time.Second)
		if cut, released := b.cut.Load(), r.releases.Load(); cut != 1 || released != 0 {
			t.Errorf("a second after the loss: %d publishes are cut off, want 1; %d releases, want none", cut, released)
		}
		n.end()
	})
}

// releasing is a store that counts the scheduler's releases.
type releasing struct {
	store.Shards
	releases atomic.Int64
}

func (r *releasing) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	r.releases.Add(1)
	return r.Shards.Release(ctx, now, items)
}

// TestI12_AnEventInTheQueueIsNotRepeatedWhileACallbackMayRun: the longest callback takes MaxCallbackTimeout, so an
// event that was delivered late may be in use that long.
func TestI12_AnEventInTheQueueIsNotRepeatedWhileACallbackMayRun(t *testing.T) {
	inWorld(t, func(w *world) {
		w.set(holding)
		n := w.start("a")
		x := w.put("n", "x", time.Second, true)
		published := func() int {
			sequences := map[uint64]bool{} // the queue itself repeats unacknowledged events
			for _, f := range w.take() {
				if f.Revision != x.Revision {
					t.Fatalf("event %+v is not of the timer", f.Due)
				}
				sequences[f.Sequence] = true
			}
			return len(sequences)
		}
		w.pass(time.Second + timer.MaxCallbackTimeout)
		if n := published(); n != 1 {
			t.Fatalf("published %d times within the longest callback, want once", n)
		}
		w.pass(2 * time.Minute)
		if n := published(); n != 2 {
			t.Fatalf("%d events in the two minutes after it, want the first and its repetition", n)
		}
		n.end()
	})
}
