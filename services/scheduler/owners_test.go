package scheduler_test

import (
	"context"
	"fmt"
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

// owning is a store that records the owner of each claim.
type owning struct {
	store.Shards

	mu     sync.Mutex
	owners []timer.UUID
}

func (o *owning) Claim(ctx context.Context, now timer.Millis, owner store.Owner, ids []shard.ID) ([]store.Claimed, error) {
	o.mu.Lock()
	o.owners = append(o.owners, owner.Incarnation)
	o.mu.Unlock()
	return o.Shards.Claim(ctx, now, owner, ids)
}

// TestI5_EverySessionHasAnotherIncarnation: if a failover of the store loses a claim, the next one has the same version,
// and the two claims differ only in their incarnation.
func TestI5_EverySessionHasAnotherIncarnation(t *testing.T) {
	inWorld(t, func(w *world) {
		o := &owning{}
		for _, name := range []string{"a", "b"} {
			n := w.start(name, func(c *scheduler.Config) { o.Shards, c.Store = c.Store, o })
			w.pass(5 * time.Second)
			n.end()
		}
		seen := map[timer.UUID]bool{{}: true}
		for _, owner := range o.owners {
			if seen[owner] {
				t.Errorf("two sessions have the incarnation %s", owner)
			}
			seen[owner] = true
		}
		if len(o.owners) != 2*partitions {
			t.Errorf("%d claims, want one in each session of %d partitions", len(o.owners), partitions)
		}
	})
}

// positioned is a bus that records the messages of the due queue.
type positioned struct {
	bus.Bus

	mu  sync.Mutex
	due []bus.Message
}

func (p *positioned) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	if topic == bus.Due {
		p.mu.Lock()
		p.due = append(p.due, messages...)
		p.mu.Unlock()
	}
	return p.Bus.Publish(ctx, topic, messages...)
}

// TestI9_EventsAreInThePartitionOfTheirShard, because the ack floor of another partition says nothing about them.
func TestI9_EventsAreInThePartitionOfTheirShard(t *testing.T) {
	inWorld(t, func(w *world) {
		p := &positioned{}
		n := w.start("a", func(c *scheduler.Config) { p.Bus, c.Bus = c.Bus, p })
		timers := w.many(20, time.Second, true)
		w.pass(2 * time.Second)
		w.wantFired(0, timers...)
		used := map[shard.Partition]bool{}
		for i := range timers {
			id := w.shardOf(timers[i].ID)
			found := false
			for _, m := range p.due {
				found = found || m.Key == id.String() && m.Partition == shard.PartitionOf(id, partitions)
			}
			if !found {
				t.Errorf("no event of shard %s is in partition %d", id, shard.PartitionOf(id, partitions))
			}
			used[shard.PartitionOf(id, partitions)] = true
		}
		if len(used) != partitions {
			t.Errorf("the timers are in %d partitions, want %d", len(used), partitions)
		}
		n.end()
	})
}

// TestI4_HintsThatDoNotFitAreMadeUpForByAPoll: the loop of the session hangs while more hints arrive than its queue
// holds.
func TestI4_HintsThatDoNotFitAreMadeUpForByAPoll(t *testing.T) {
	inWorld(t, func(w *world) {
		w.namespace("m")
		var hang atomic.Pointer[chan struct{}]
		n := w.start("a", func(c *scheduler.Config) {
			c.HintQueue = 1
			c.Clock = func() timer.Millis {
				if until := hang.Load(); until != nil {
					<-*until
				}
				return timer.SystemClock()
			}
		})
		w.pass(10 * time.Second)
		until := make(chan struct{})
		hang.Store(&until)
		read := w.many(40, 5*time.Second, true) // one hint is read, and one waits
		synctest.Wait()
		var dropped []timer.Timer
		for i := range 20 {
			dropped = append(dropped, w.put("m", fmt.Sprint(i), 5*time.Second, true)) // in other shards
		}
		synctest.Wait()
		close(until)
		w.pass(10 * time.Second)
		w.wantFired(0, append(read, dropped...)...)
		n.end()
	})
}
