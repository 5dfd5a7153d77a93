package sqlitestore

import (
	"context"

	"github.com/timerbus/timerbus/pkg/timer"
)

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
