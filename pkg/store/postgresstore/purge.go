package postgresstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// deleteExpired removes row by row what no day holds.
var deleteExpired = statement{"delete_expired", `DELETE FROM timer_history_default d USING (
	SELECT expires_at, ctid AS row FROM timer_history_default
	WHERE expires_at <= $1::timestamptz AND marked_at IS NULL ORDER BY expires_at LIMIT $2::bigint
	FOR UPDATE SKIP LOCKED) AS old
WHERE d.ctid = old.row AND d.marked_at IS NULL`}

// Purge implements store.Outcomes. Days that are over are dropped, which costs the same for any number of
// rows and is not held to the limit; what lies beside the days goes row by row. It also makes the days to
// come.
func (s *Store) Purge(ctx context.Context, now timer.Millis, limit int) (int, error) {
	dropped, err := s.keepDays(ctx, now)
	if err != nil {
		return 0, err
	}
	var deleted int64
	err = s.write(ctx, "purge history", latest, func(t *transaction) error {
		return t.commit(ctx, call{
			statement: deleteExpired,
			args:      [][]byte{instantValue(now), int8Value(int64(limit))},
			changed:   &deleted,
		})
	})
	if err != nil {
		if dropped > 0 && !errors.Is(err, store.ErrOutcomeUnknown) {
			// The days are gone.
			err = fmt.Errorf("%w: a part was removed: %w", store.ErrOutcomeUnknown, err)
		}
		return 0, err
	}
	return dropped + int(deleted), nil
}
