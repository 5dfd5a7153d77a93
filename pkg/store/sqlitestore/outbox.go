package sqlitestore

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// Few rows have outbox entries. Without INDEXED BY, SQLite would read all rows of the shards.
	ofMarked = ` WHERE marked_at IS NOT NULL AND marked_at < ? AND shard IN (SELECT value FROM json_each(?))
ORDER BY marked_at LIMIT ?`

	selectParkedMarks = "SELECT marked_at, " + timerColumns + " FROM timers INDEXED BY timers_marked" + ofMarked
	selectDeadMarks   = "SELECT marked_at, " + endColumns + " FROM history INDEXED BY history_marked" + ofMarked

	unmarkParked = "UPDATE timers SET marked_at = NULL WHERE shard = ? AND uuid = ? AND revision = ? AND marked_at IS NOT NULL"
	unmarkDead   = `UPDATE history SET marked_at = NULL
WHERE shard = ? AND uuid = ? AND generation = ? AND attempt = ? AND marked_at IS NOT NULL`
)

// Outbox implements store.Shards.
func (s *Store) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	var out []store.OutboxEntry
	list := shardsJSON(shards)
	err := s.read(ctx, "read outbox entries", func(c *conn) error {
		read := func(rows *sql.Rows) error {
			var n store.OutboxEntry
			var err error
			n.Timer, n.ID.Ref.Shard, err = c.scanTimer(rows, &n.MarkedAt)
			n.ID.Ref.UUID = n.Timer.UUID
			n.ID.Status = n.Timer.Status
			n.ID.Generation = n.Timer.Generation
			n.ID.Attempt = n.Timer.Attempts
			n.ID.Revision = n.Timer.Revision
			out = append(out, n)
			return err
		}
		return c.snapshot(func() error {
			for _, query := range []string{selectParkedMarks, selectDeadMarks} {
				if err := c.each(read, query, before, list, limit); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b store.OutboxEntry) int { return cmp.Compare(a.MarkedAt, b.MarkedAt) })
	return out[:min(limit, len(out))], nil
}

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
