package postgresstore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

var inspectShards = statement{"inspect_shards", `SELECT a.place, f.due_at, c.version, c.owner, c.node, c.claimed_at,
	n.due_at, n.uuid, c.published_due, c.published_uuid
FROM unnest($1::bigint[]) WITH ORDINALITY AS a(shard_id, place)
LEFT JOIN claims c ON c.shard_id = ANY (ARRAY[a.shard_id])
LEFT JOIN LATERAL (` + newestWatermark + `) n ON true
LEFT JOIN LATERAL (SELECT t.due_at FROM timers t WHERE t.shard_id = a.shard_id AND t.status <> 'parked'
	ORDER BY t.due_at, t.timer_uuid LIMIT 1) f ON true`}

// Inspect implements store.Shards.
func (s *Store) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	out := make([]store.ShardState, len(shards))
	err := s.read(ctx, "inspect shards", func(c *conn) error {
		return c.exchange(ctx, call{
			statement: inspectShards,
			args:      [][]byte{int8s(len(shards), func(i int) int64 { return int64(shards[i]) })},
			row: func(r *record) {
				place := r.int8() - 1
				if place < 0 || place >= int64(len(out)) {
					r.failf("the server answers for shard %d of %d", place, len(out))
					return
				}
				out[place] = readState(r, shards[place])
			},
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func readState(r *record, id shard.ID) store.ShardState {
	state := store.ShardState{Shard: id, Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never}
	state.NextDueAt = r.due()
	state.Version = r.int8()
	state.Owner.Incarnation, state.Held = r.uuid()
	state.Owner.Node = r.text()
	state.ClaimedAt, _ = r.instant()
	if state.Version != 0 {
		state.Watermark, state.Published = readKey(r), readKey(r)
	}
	return state
}
