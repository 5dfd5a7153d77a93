package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	unmarkParked = "UPDATE timers SET marked_at = NULL WHERE shard = ? AND uuid = ? AND revision = ? AND marked_at IS NOT NULL"
	unmarkDead   = `UPDATE history SET marked_at = NULL
WHERE shard = ? AND uuid = ? AND generation = ? AND attempt = ? AND marked_at IS NOT NULL`
)

// RemoveFromOutbox implements store.Shards.
func (s *Store) RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error {
	if len(ids) == 0 {
		return nil
	}
	return s.write(ctx, "remove outbox entries", len(ids), 0, func(c *conn) error {
		for _, m := range ids {
			var err error
			if m.Status == timer.StatusParked {
				_, err = c.exec(unmarkParked, m.Ref.Shard, m.Ref.UUID[:], m.Revision)
			} else {
				_, err = c.exec(unmarkDead, m.Ref.Shard, m.Ref.UUID[:], m.Generation, m.Attempt)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
