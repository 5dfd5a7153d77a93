package sim

import (
	"context"
	"sync"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// fence watches what clients cannot see: that a shard's watermark only moves for its newest claim (I5). The
// sweep makes up for a watermark that is wrong, so all that would show outside is a timer that is a little
// late after two take-overs.
type fence struct {
	oracle *oracle

	mu     sync.Mutex
	newest map[shard.ID]store.Claim
}

// watched is a scheduler's way to the store, past the fence's eyes.
type watched struct {
	store.Shards

	fence *fence
}

func (w *watched) Claim(
	ctx context.Context, now timer.Millis, owner store.Owner, shards []shard.ID,
) ([]store.Claimed, error) {
	claimed, err := w.Shards.Claim(ctx, now, owner, shards)
	w.fence.mu.Lock()
	defer w.fence.mu.Unlock()
	for _, c := range claimed {
		if c.Claim.Version > w.fence.newest[c.Claim.Shard].Version {
			w.fence.newest[c.Claim.Shard] = c.Claim
		}
	}
	return claimed, err
}

func (w *watched) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	answers, err := w.Shards.Advance(ctx, now, items)
	if err != nil {
		return nil, err
	}
	w.fence.mu.Lock()
	defer w.fence.mu.Unlock()
	for i, item := range items {
		if newest := w.fence.newest[item.Claim.Shard]; answers[i] == nil && item.Claim.Version < newest.Version {
			w.fence.oracle.violate("fence", "shard %d: version %d moved the watermark after version %d had claimed it",
				item.Claim.Shard, item.Claim.Version, newest.Version)
		}
	}
	return answers, nil
}
