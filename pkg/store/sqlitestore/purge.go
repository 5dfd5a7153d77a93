package sqlitestore

import (
	"context"
	"database/sql"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	selectFinal = "SELECT marked_at FROM history WHERE shard = ? AND uuid = ? AND generation = ? AND " + relational.IsEnd +
		" AND expires_at > ?"
	deleteGeneration = "DELETE FROM history WHERE shard = ? AND uuid = ? AND generation = ?"
)

// Forget implements store.Outcomes.
func (s *Store) Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error) {
	if len(items) == 0 {
		return nil, nil
	}
	out := make([]error, len(items))
	err := s.write(ctx, "forget timers", len(items), 0, func(c *conn) (err error) {
		for i := range items {
			if out[i], err = c.forget(now, &items[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// forget removes one finished timer. refused is the item's answer, err an error of the database.
func (c *conn) forget(now timer.Millis, item *store.Forget) (refused, err error) {
	refused = store.ErrNotFound
	err = c.each(func(rows *sql.Rows) error {
		var marked sql.NullInt64
		if err := rows.Scan(&marked); err != nil {
			return err
		}
		if refused = nil; marked.Valid {
			refused = store.ErrConflict
		}
		return nil
	}, selectFinal, item.Ref.Shard, item.Ref.UUID[:], item.Generation, now)
	if err != nil || refused != nil {
		return refused, err
	}
	_, err = c.exec(deleteGeneration, item.Ref.Shard, item.Ref.UUID[:], item.Generation)
	return nil, err
}

const deleteExpired = `DELETE FROM history WHERE rid IN (
	SELECT rid FROM history WHERE expires_at <= ? AND marked_at IS NULL ORDER BY expires_at LIMIT ?)`

// Purge implements store.Outcomes. It removes rows in the order in which they expired.
func (s *Store) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	var n int64
	err := s.write(ctx, "purge history", limit, 0, func(c *conn) (err error) {
		n, err = c.exec(deleteExpired, now, limit)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int(n), nil
}
