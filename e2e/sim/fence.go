package sim

import (
	"context"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// slack is the schedulers' default of Slack: how far watermarks stay behind the present.
const slack = 2 * time.Second

// fence checks rules that clients cannot see: that only the holder of a shard's newest claim gets answers (I5), that
// watermarks and P are right (I6), and that a handover preserves them. The sweep compensates for a wrong watermark, so
// the only outside effect would be a timer that is a little late after two take-overs.
//
// Answers are checked where the scheduler gets them (watched), watermarks where the store applies them (witness) and
// publications where the bus accepts them (publisher), because mutants change the code between.
type fence struct {
	oracle *oracle
	local  bool // Plan.Local

	mu     sync.Mutex
	newest map[shard.ID]store.Claim
	owners map[store.Claim]*ownership
	// absent has the states whose row a dispatcher did not find. A hint of a write that takes long may cause the check before the commit.
	absent map[dueState]bool
}

// ownership is the state of a claim's owner: its reads and publications.
type ownership struct {
	// begin is max(P, W) at the claim; read is at least R: the last key that it has read. resume is W at the claim;
	// resumed: a poll has begun there.
	begin, read, resume store.Key
	resumed             bool
	claimed             time.Duration
	// rows are the rows read beyond R that W has not passed.
	rows []store.DueRow
	// published has the states that the bus has acknowledged; sent is the largest key published.
	published map[dueState]bool
	sent      store.Key
}

// dueState is the state that a due event names.
type dueState struct {
	uuid     timer.UUID
	revision timer.Revision
}

func newFence(o *oracle) *fence {
	return &fence{oracle: o, newest: map[shard.ID]store.Claim{}, owners: map[store.Claim]*ownership{}, absent: map[dueState]bool{}}
}

// watched is a scheduler's store. An answer that the claim must not get violates I5.
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
		if c.Err == nil && c.Claim.Version >= w.fence.newest[c.Claim.Shard].Version {
			w.fence.newest[c.Claim.Shard] = c.Claim
		}
	}
	return claimed, err
}

func (w *watched) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	judge := before(w.fence, "Due", q.Shards, func(a *store.DueAfter) store.Claim { return a.Claim })
	answers, err := w.Shards.Due(ctx, q)
	for i := range answers {
		judge(i, answers[i].Err)
		if answers[i].Err == nil {
			w.fence.reads(&q.Shards[i], answers[i].Rows)
		}
	}
	return answers, err
}

func (w *watched) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	judge := before(w.fence, "Overdue", q.Shards, func(r *store.OverdueRange) store.Claim { return r.Claim })
	answers, err := w.Shards.Overdue(ctx, q)
	for i := range answers {
		judge(i, answers[i].Err)
	}
	return answers, err
}

func (w *watched) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	judge := before(w.fence, "Advance", items, func(a *store.Advance) store.Claim { return a.Claim })
	answers, err := w.Shards.Advance(ctx, now, items)
	for i := range answers {
		judge(i, answers[i])
	}
	return answers, err
}

func (w *watched) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	judge := before(w.fence, "Release", items, func(r *store.Release) store.Claim { return r.Claim })
	answers, err := w.Shards.Release(ctx, now, items)
	for i := range answers {
		judge(i, answers[i])
	}
	w.fence.mu.Lock()
	defer w.fence.mu.Unlock()
	for i := range answers {
		if id := items[i].Claim.Shard; answers[i] == nil && w.fence.newest[id] == items[i].Claim {
			// The shard has no owner until the next claim.
			w.fence.newest[id] = store.Claim{Shard: id, Version: items[i].Claim.Version}
		}
	}
	return answers, err
}

// before records which claims are not the newest when a call begins, and returns the function that checks the answers.
// A claim that is lost during the call may get an answer.
func before[T any](f *fence, method string, items []T, claimOf func(*T) store.Claim) func(i int, answer error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	claims, newest := make([]store.Claim, len(items)), make([]store.Claim, len(items))
	for i := range items {
		claims[i] = claimOf(&items[i])
		newest[i] = f.newest[claims[i].Shard]
	}
	return func(i int, answer error) {
		if answer == nil && claims[i] != newest[i] {
			f.oracle.violate("fence", "shard %d: version %d of %s got an answer to %s, and version %d of %s held the shard",
				claims[i].Shard, claims[i].Version, claims[i].Owner, method, newest[i].Version, newest[i].Owner)
		}
	}
}
