package sqlitestore

import (
	"context"
	"database/sql"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// selectLeases reads the index of moved rows, and of the rows only those with leases.
const selectLeases = `SELECT shard, uuid, due_at, revision FROM timers INDEXED BY timers_moved
WHERE planned_at IS NOT NULL AND status <> 'parked' AND leased AND due_at > ? LIMIT ?`

// Leased implements store.Exclusive. It takes a few milliseconds for each 100,000 postponed timers.
func (s *Store) Leased(ctx context.Context, now timer.Millis, limit int) ([]store.Lease, error) {
	var leases []store.Lease
	err := s.readLong(ctx, "read leases", func(c *conn) error {
		return c.each(func(rows *sql.Rows) error {
			var l store.Lease
			if err := rows.Scan(&l.Ref.Shard, (*uuidColumn)(&l.Ref.UUID), &l.Until, &l.Revision); err != nil {
				return err
			}
			leases = append(leases, l)
			return nil
		}, selectLeases, now, limit)
	})
	if err != nil {
		return nil, err
	}
	return leases, nil
}
