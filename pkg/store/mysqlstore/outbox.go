package mysqlstore

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	unmarkParked = " STRAIGHT_JOIN timers t ON t.shard_id = k.s AND t.uuid = k.u SET t.marked_at = NULL WHERE t.revision = k.a"
	unmarkDead   = ` STRAIGHT_JOIN history t ON t.shard_id = k.s AND t.uuid = k.u AND t.generation = k.a AND t.attempt = k.b
SET t.purge_at = t.expires_at, t.marked_at = NULL WHERE t.marked_at IS NOT NULL`
)

// RemoveFromOutbox implements store.Shards.
func (s *Store) RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error {
	if len(ids) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(ids), func(a, b store.OutboxID) int { return compareRefs(a.Ref, b.Ref) })
	return s.write(ctx, "remove outbox entries", func(c *conn) error {
		for some := range slices.Chunk(sorted, maxRows) {
			var parked, dead []any
			for _, id := range some {
				if id.Status == timer.StatusParked {
					parked = append(parked, int64(id.Ref.Shard), uuidOf(id.Ref.UUID), int64(id.Revision))
				} else {
					dead = append(dead, int64(id.Ref.Shard), uuidOf(id.Ref.UUID), int64(id.Generation), int64(id.Attempt))
				}
			}
			if len(parked) > 0 {
				if _, err := c.exec(ctx, "UPDATE "+list(len(parked)/3, "s", "u", "a")+unmarkParked, parked...); err != nil {
					return err
				}
			}
			if len(dead) > 0 {
				if _, err := c.exec(ctx, "UPDATE "+list(len(dead)/4, "s", "u", "a", "b")+unmarkDead, dead...); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
