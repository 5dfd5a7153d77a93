package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// selectEnd reads the last final outcome of a timer. It sorts the history of that timer only.
	selectEnd = "SELECT " + endColumns + ` FROM history
WHERE shard = ? AND uuid = ? AND outcome IN ('done', 'dead') AND expires_at > ?
ORDER BY finished_at DESC, attempt DESC, generation DESC LIMIT 1`

	selectHistory = `SELECT generation, attempt, outcome, execute_at, next_at, started_at, finished_at, status_code, error, correlation_id
FROM history WHERE shard = ? AND uuid = ? AND expires_at > ?
ORDER BY finished_at DESC, attempt DESC, generation DESC LIMIT ?`
)

// Get implements store.Timers. The result has no payload if the timer is done, but has it if the timer is dead.
func (s *Store) Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error) {
	var t timer.Timer
	var found bool
	err := s.read(ctx, "get timer", func(c *conn) error {
		return c.snapshot(func() (err error) {
			t, found, err = c.timer(selectLive, ref.Shard, ref.UUID[:])
			if err == nil && !found {
				t, found, err = c.timer(selectEnd, ref.Shard, ref.UUID[:], now)
			}
			return err
		})
	})
	if err == nil && !found {
		err = fmt.Errorf("get timer %s: %w", ref.UUID, store.ErrNotFound)
	}
	return t, err
}

// History implements store.Timers.
func (s *Store) History(ctx context.Context, now timer.Millis, ref store.Ref, limit int) ([]store.HistoryEntry, error) {
	var out []store.HistoryEntry
	err := s.read(ctx, "read history", func(c *conn) error {
		return c.each(func(rows *sql.Rows) error {
			entry := store.HistoryEntry{Ref: ref}
			var correlation sql.NullString
			err := rows.Scan(&entry.Generation, &entry.Attempt, (*string)(&entry.Outcome), &entry.ExecuteAt, &entry.NextAt,
				&entry.StartedAt, &entry.FinishedAt, &entry.StatusCode, &entry.Error, &correlation)
			entry.CorrelationID = correlation.String
			out = append(out, entry)
			return err
		}, selectHistory, ref.Shard, ref.UUID[:], now, limit)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
