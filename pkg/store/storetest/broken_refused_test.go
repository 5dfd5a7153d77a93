package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// refuser is a store whose handles refuse a shard. The flags select its mistake.
type refuser struct {
	broken

	hot    shard.ID
	active bool

	// whole: the refusal is the error of the whole batch. asFenced: the refusal is ErrFenced. behind: later items for
	// the same timer as a refused item are applied.
	whole, asFenced, behind bool
}

func (r *refuser) refusing(id shard.ID) store.Store {
	return &refuser{broken: broken{Store: r.Store}, hot: id, active: true, whole: r.whole, asFenced: r.asFenced, behind: r.behind}
}

func (r *refuser) refusal() error {
	if r.asFenced {
		return fmt.Errorf("%w: the shard is hot", store.ErrFenced)
	}
	return fmt.Errorf("%w: the shard is hot", store.ErrUnavailable)
}

// split calls with the items that are not refused, and merges the answers with the refusals.
func split[Item, Answer any](
	r *refuser, items []Item, of func(Item) shard.ID, refused func(Item, error) Answer, call func([]Item) ([]Answer, error),
) ([]Answer, error) {
	var rest []Item
	var at []int
	out := make([]Answer, len(items))
	seen := false
	for i, item := range items {
		if r.active && of(item) == r.hot && !(r.behind && seen) {
			seen = true
			out[i] = refused(item, r.refusal())
			continue
		}
		rest, at = append(rest, item), append(at, i)
	}
	if seen && r.whole {
		return nil, r.refusal()
	}
	answers, err := call(rest)
	if err != nil {
		return nil, err
	}
	for n, i := range at {
		out[i] = answers[n]
	}
	return out, nil
}

func shardOf(op store.Op) shard.ID {
	switch op := op.(type) {
	case store.Put:
		return op.Ref.Shard
	case store.Update:
		return op.Ref.Shard
	case store.Delete:
		return op.Ref.Shard
	default:
		return 0
	}
}

func (r *refuser) Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error) {
	return split(r, ops, shardOf, func(_ store.Op, err error) store.Written { return store.Written{Err: err} },
		func(rest []store.Op) ([]store.Written, error) { return r.Store.Write(ctx, now, rest) })
}

func (r *refuser) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	return split(r, checks, func(c store.Check) shard.ID { return c.Ref.Shard },
		func(_ store.Check, err error) store.Checked { return store.Checked{Err: err} },
		func(rest []store.Check) ([]store.Checked, error) { return r.Store.Current(ctx, rest) })
}

func (r *refuser) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	return split(r, items, func(f store.Finish) shard.ID { return f.Ref.Shard }, func(_ store.Finish, err error) error { return err },
		func(rest []store.Finish) ([]error, error) { return r.Store.Finish(ctx, now, rest) })
}

func (r *refuser) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	return split(r, items, func(a store.Advance) shard.ID { return a.Claim.Shard }, func(_ store.Advance, err error) error { return err },
		func(rest []store.Advance) ([]error, error) { return r.Store.Advance(ctx, now, rest) })
}

func (r *refuser) Release(ctx context.Context, now timer.Millis, items []store.Release) ([]error, error) {
	return split(r, items, func(a store.Release) shard.ID { return a.Claim.Shard }, func(_ store.Release, err error) error { return err },
		func(rest []store.Release) ([]error, error) { return r.Store.Release(ctx, now, rest) })
}

func (r *refuser) Claim(ctx context.Context, now timer.Millis, o store.Owner, ids []shard.ID) ([]store.Claimed, error) {
	return split(r, ids, func(id shard.ID) shard.ID { return id },
		func(id shard.ID, err error) store.Claimed {
			return store.Claimed{Claim: store.Claim{Shard: id}, Err: err}
		},
		func(rest []shard.ID) ([]store.Claimed, error) { return r.Store.Claim(ctx, now, o, rest) })
}

func (r *refuser) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	return split(r, q.Shards, func(a store.DueAfter) shard.ID { return a.Claim.Shard },
		func(_ store.DueAfter, err error) store.DueShard { return store.DueShard{Err: err} },
		func(rest []store.DueAfter) ([]store.DueShard, error) {
			q.Shards = rest
			return r.Store.Due(ctx, q)
		})
}

func (r *refuser) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	return split(r, q.Shards, func(a store.OverdueRange) shard.ID { return a.Claim.Shard },
		func(_ store.OverdueRange, err error) store.OverdueShard { return store.OverdueShard{Err: err} },
		func(rest []store.OverdueRange) ([]store.OverdueShard, error) {
			q.Shards = rest
			return r.Store.Overdue(ctx, q)
		})
}

func TestSuitePassesOnAStoreThatRefusesAShard(t *testing.T) {
	v := judge(t, factoryOf(func(s *memstore.Store) store.Store { return &refuser{broken: broken{Store: s}} }))
	for _, name := range v.failed {
		t.Errorf("%s: %s", name, v.why[name])
	}
	for _, name := range v.skipped {
		if name == "Refused/AShardLeavesTheOthersOfABatchAlone" {
			t.Errorf("%s is skipped", name)
		}
	}
}

func TestSuiteCatchesARefusalOfTheWholeBatch(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &refuser{broken: broken{Store: s}, whole: true} },
		"Refused/AShardLeavesTheOthersOfABatchAlone", "Refused/AShardIsNoErrorOfTheWholeCall", "Refused/NothingIsAppliedBehindIt")
}

// TestSuiteCatchesARefusalThatLooksLikeAFence: a scheduler would stop working on such a shard.
func TestSuiteCatchesARefusalThatLooksLikeAFence(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &refuser{broken: broken{Store: s}, asFenced: true} },
		"Refused/AShardLeavesTheOthersOfABatchAlone")
}

func TestSuiteCatchesAnOperationAppliedBehindARefusedOne(t *testing.T) {
	catches(t, func(s *memstore.Store) store.Store { return &refuser{broken: broken{Store: s}, behind: true} },
		"Refused/NothingIsAppliedBehindIt")
}
