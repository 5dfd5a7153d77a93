package postgresstore

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// byGeneration finds the history rows h of a generation.
const byGeneration = "h.shard_id = ANY (ARRAY[a.shard_id]) AND h.timer_uuid = a.timer_uuid AND h.generation = a.generation"

var (
	selectFinal = statement{"select_final", `SELECT a.place, h.marked_at IS NOT NULL
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[]) WITH ORDINALITY AS a(shard_id, timer_uuid, generation, place)
JOIN timer_history h ON ` + byGeneration + ` AND h.` + relational.IsEnd + ` AND ` + unexpired("$4::timestamptz")}

	deleteGeneration = statement{"delete_generation", `DELETE FROM timer_history h
USING unnest($1::bigint[], $2::uuid[], $3::bigint[]) AS a(shard_id, timer_uuid, generation)
WHERE ` + byGeneration}
)

// Forget implements store.Outcomes.
func (s *Store) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	sorted := slices.SortedFunc(slices.Values(items), func(a, b store.Forget) int { return byRef(a.Ref, b.Ref) })
	var out []error
	err := s.write(ctx, "forget timers", snapshot, func(t *transaction) error {
		ends := make(map[store.Forget]bool, len(items))
		err := t.exchange(ctx, call{
			statement: selectFinal,
			args:      append(generationArgs(sorted), instantValue(now)),
			row: func(r *record) {
				place, marked := r.int8()-1, r.bool()
				if place < 0 || place >= int64(len(sorted)) {
					r.failf("the server answered for timer %d of %d", place, len(sorted))
					return
				}
				ends[sorted[place]] = marked
			},
		})
		if err != nil {
			return err
		}
		var gone []store.Forget
		if out, gone = engine.Forget(items, ends); len(gone) == 0 {
			return t.commit(ctx)
		}
		slices.SortFunc(gone, func(a, b store.Forget) int { return byRef(a.Ref, b.Ref) })
		return t.commit(ctx, call{statement: deleteGeneration, args: generationArgs(gone)})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func generationArgs(items []store.Forget) [][]byte {
	n := len(items)
	ref := func(i int) store.Ref { return items[i].Ref }
	return [][]byte{refShards(n, ref), refUUIDs(n, ref), int8s(n, func(i int) int64 { return int64(items[i].Generation) })}
}
