package sim

import (
	"context"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// yes answers every claim.
type yes struct {
	store.Shards

	version int64
}

func (y *yes) Claim(_ context.Context, _ timer.Millis, owner store.Owner, shards []shard.ID) ([]store.Claimed, error) {
	y.version++
	claimed := make([]store.Claimed, len(shards))
	for i, id := range shards {
		claimed[i].Claim = store.Claim{Shard: id, Version: y.version, Owner: owner.Incarnation}
	}
	return claimed, nil
}

func (y *yes) Due(_ context.Context, q store.DueQuery) ([]store.DueShard, error) {
	return make([]store.DueShard, len(q.Shards)), nil
}

func (y *yes) Overdue(_ context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	return make([]store.OverdueShard, len(q.Shards)), nil
}

func (y *yes) Advance(_ context.Context, _ timer.Millis, items []store.Advance) ([]error, error) {
	return make([]error, len(items)), nil
}

func (y *yes) Release(_ context.Context, _ timer.Millis, items []store.Release) ([]error, error) {
	return make([]error, len(items)), nil
}

// TestFenceSeesEveryStatementOfAStaleClaim: schedulers seldom release a claim that they have lost, so no seed shows a
// store that allows that.
func TestFenceSeesEveryStatementOfAStaleClaim(t *testing.T) {
	ctx := t.Context()
	statements := map[string]func(w *watched, c store.Claim) error{
		"Due": func(w *watched, c store.Claim) error {
			_, err := w.Due(ctx, store.DueQuery{Shards: []store.DueAfter{{Claim: c}}})
			return err
		},
		"Overdue": func(w *watched, c store.Claim) error {
			_, err := w.Overdue(ctx, store.OverdueQuery{Shards: []store.OverdueRange{{Claim: c}}})
			return err
		},
		"Advance": func(w *watched, c store.Claim) error {
			_, err := w.Advance(ctx, 0, []store.Advance{{Claim: c}})
			return err
		},
		"Release": func(w *watched, c store.Claim) error {
			_, err := w.Release(ctx, 0, []store.Release{{Claim: c}})
			return err
		},
	}
	for name, statement := range statements {
		t.Run(name, func(t *testing.T) {
			o := newOracle(&World{plan: &Plan{}})
			w := &watched{Shards: &yes{}, fence: newFence(o)}
			claim := func(owner byte) store.Claim {
				claimed, err := w.Claim(ctx, 0, store.Owner{Incarnation: timer.UUID{owner}}, []shard.ID{7})
				must(err)
				return claimed[0].Claim
			}
			try := func(what string, c store.Claim, want int) {
				t.Helper()
				o.violations = nil
				must(statement(w, c))
				if len(o.violations) != want {
					t.Errorf("%s: %v, want %d violations", what, o.violations, want)
				}
			}
			older, newest := claim(1), claim(2)
			try("an older claim", older, 1)
			other := newest
			other.Owner = timer.UUID{9}
			try("the newest version with another owner", other, 1)
			try("the newest claim", newest, 0)
			_, err := w.Release(ctx, 0, []store.Release{{Claim: newest}})
			must(err)
			try("a released claim", newest, 1)
		})
	}
}
