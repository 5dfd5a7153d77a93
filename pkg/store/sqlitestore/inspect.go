package sqlitestore

import (
	"context"
	"database/sql"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const inspectShards = `SELECT asked.key, version, owner, node, claimed_at,
	watermark_due, watermark_uuid, published_due, published_uuid,
	(SELECT due_at FROM timers WHERE shard = asked.value AND status <> 'parked' ORDER BY due_at, uuid LIMIT 1)
FROM json_each(?) AS asked LEFT JOIN shards ON shards.shard = asked.value`

// Inspect implements store.Shards.
func (s *Store) Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	out := make([]store.ShardState, len(shards))
	for i, id := range shards {
		out[i] = store.ShardState{Shard: id, Watermark: store.MinKey(), Published: store.MinKey(), NextDueAt: timer.Never}
	}
	err := s.read(ctx, "inspect shards", func(c *conn) error {
		return c.each(func(rows *sql.Rows) error {
			var place int
			var version, claimedAt, watermarkDue, publishedDue, nextDue sql.NullInt64
			var node sql.NullString
			var owner, watermark, published sql.RawBytes
			err := rows.Scan(&place, &version, &owner, &node, &claimedAt,
				&watermarkDue, &watermark, &publishedDue, &published, &nextDue)
			if err != nil {
				return err
			}
			state := &out[place]
			if nextDue.Valid {
				state.NextDueAt = timer.Millis(nextDue.Int64)
			}
			if !version.Valid {
				return nil
			}
			state.Version, state.ClaimedAt = version.Int64, timer.Millis(claimedAt.Int64)
			state.Owner.Node, state.Held = node.String, owner != nil
			copy(state.Owner.Incarnation[:], owner)
			state.Watermark.DueAt, state.Published.DueAt = timer.Millis(watermarkDue.Int64), timer.Millis(publishedDue.Int64)
			copy(state.Watermark.UUID[:], watermark)
			copy(state.Published.UUID[:], published)
			return nil
		}, inspectShards, shardsJSON(shards))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
