package scheduler_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// withdrawing records, in order, the partitions that a scheduler withdraws from its local queue and those whose claims it releases.
type withdrawing struct {
	store.Shards

	mu    sync.Mutex
	steps map[shard.Partition][]string
}

func (q *withdrawing) step(p shard.Partition, step string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.steps[p] = append(q.steps[p], step)
}

func (q *withdrawing) Withdraw(_ context.Context, p shard.Partition, cause error) {
	if errors.Is(cause, bus.ErrLost) {
		q.step(p, "lost")
		return
	}
	q.step(p, "withdrawn")
}

func (q *withdrawing) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	for _, item := range items {
		q.step(shard.Partition(item.Claim.Shard%partitions), "released")
	}
	return q.Shards.Release(ctx, now, items)
}

// TestI12_AnOwnerWithdrawsItsEventsBeforeItReleasesThePartition, so that the next owner may publish them immediately.
func TestI12_AnOwnerWithdrawsItsEventsBeforeItReleasesThePartition(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*world, *node)
		want []string
	}{
		"stop": {end: func(*world, *node) {}, want: []string{"withdrawn", "released"}},
		"loss": {end: func(w *world, n *node) {
			n.member.Freeze()
			w.pass(5 * time.Second)
			n.member.Thaw()
			w.pass(time.Second)
		}, want: []string{"lost", "withdrawn", "released"}},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				q := &withdrawing{steps: map[shard.Partition][]string{}}
				n := w.start("a", func(config *scheduler.Config) {
					q.Shards = config.Store
					config.Store, config.LocalQueue = q, q
				})
				w.put("n", "x", time.Second, true)
				w.pass(2 * time.Second)
				c.end(w, n)
				n.end()
				synctest.Wait()
				for p := range shard.Partition(partitions) {
					if got := q.steps[p]; !slices.Equal(got, c.want) {
						t.Errorf("partition %d: %q, want %q", p, got, c.want)
					}
				}
			})
		})
	}
}
