package mysqlstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// maxCounted is how many rows a count reads at most, because a gauge counts several times a minute. If there are more live
// rows, the count uses the server's estimate. There is no estimate of overdue and parked rows, so their counts end at maxCounted.
const maxCounted = 1_000_000

const (
	estimateLive = `SELECT coalesce(max(table_rows), 0) FROM information_schema.tables
WHERE table_schema = database() AND table_name = 'timers'`
	countLive   = "SELECT count(*) FROM (SELECT 1 FROM timers LIMIT ?) c"
	countParked = "SELECT count(*) FROM (SELECT 1 FROM timers FORCE INDEX (timers_status) WHERE status = 'parked' LIMIT ?) c"
	// countPaused reads the rows, because no index contains the options.
	countPaused = `SELECT count(*), count(CASE WHEN options LIKE '` + engine.PausedPattern + `' THEN 1 END)
FROM (SELECT options FROM timers FORCE INDEX (timers_status) WHERE status = 'parked' LIMIT ?) c`
	// countDead walks the index of dead timers, whose order makes them distinct.
	countDead = `SELECT count(*) FROM (SELECT DISTINCT shard_id, uuid FROM history FORCE INDEX (history_outcome)
	WHERE outcome = 'dead' LIMIT ?) h
WHERE NOT EXISTS (SELECT 1 FROM timers t WHERE t.shard_id = h.shard_id AND t.uuid = h.uuid)`
	// firstOfShards reads one entry of the index for each shard.
	firstOfShards = "SELECT shard_id, MIN(poll_at) FROM timers FORCE INDEX (timers_due) GROUP BY shard_id"
	countOverdue  = "SELECT count(*) FROM (SELECT 1 FROM timers FORCE INDEX (timers_due) WHERE shard_id IN "
	// countMoved reads the rows that a postponement or a lease moved. Rows that are due again are counted by countOverdue.
	countMoved = `SELECT count(CASE WHEN planned_at < ? AND due_at >= ? AND NOT leased THEN 1 END),
	min(CASE WHEN NOT leased OR due_at < ? THEN planned_at END)
FROM (SELECT planned_at, due_at, leased FROM timers FORCE INDEX (timers_moved)
	WHERE planned_at IS NOT NULL AND status <> 'parked' ORDER BY planned_at LIMIT ?) m`
)

// Count implements store.Census. It is fast enough for a gauge that is read a few times a minute.
func (s *Store) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	var counts store.Counts
	err := s.readLong(ctx, "count timers", func(c *conn) error {
		counts = store.Counts{OldestPlannedAt: timer.Never}
		var live, estimate, held, looked, paused int64
		number := func(into *int64, query string, args ...any) error {
			return c.each(ctx, func(rows *sql.Rows) error { return rows.Scan(into) }, query, args...)
		}
		if err := number(&estimate, estimateLive); err != nil {
			return err
		}
		if err := number(&live, countLive, maxCounted); err != nil {
			return err
		}
		if err := number(&held, countParked, maxCounted); err != nil {
			return err
		}
		err := c.each(ctx, func(rows *sql.Rows) error { return rows.Scan(&looked, &paused) }, countPaused, engine.MaxHeld)
		if err != nil {
			return err
		}
		if err := number(&counts.Dead, countDead, engine.MaxDead); err != nil {
			return err
		}
		if live == maxCounted {
			live = max(live, estimate)
		}
		counts.Pending = max(0, live-held)
		engine.SetHeld(&counts, held, looked, paused)
		var overdue []any
		err = c.each(ctx, func(rows *sql.Rows) error {
			var id int64
			var first sql.NullInt64
			err := rows.Scan(&id, &first)
			if first.Valid {
				counts.OldestPlannedAt = min(counts.OldestPlannedAt, timer.Millis(first.Int64))
				if timer.Millis(first.Int64) < now {
					overdue = append(overdue, id)
				}
			}
			return err
		}, firstOfShards)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(overdue, maxRows) {
			var n int64
			err := number(&n, countOverdue+"("+repeat("?", len(some))+") AND poll_at < ? LIMIT ?) c",
				append(slices.Clip(some), int64(now), maxCounted-counts.Overdue)...)
			if err != nil {
				return err
			}
			counts.Overdue += n
		}
		return c.each(ctx, func(rows *sql.Rows) error {
			var moved int64
			var oldest sql.NullInt64
			err := rows.Scan(&moved, &oldest)
			counts.Overdue += moved
			if oldest.Valid {
				counts.OldestPlannedAt = min(counts.OldestPlannedAt, timer.Millis(oldest.Int64))
			}
			return err
		}, countMoved, int64(now), int64(now), int64(now), maxCounted)
	})
	if err != nil {
		return store.Counts{}, err
	}
	return counts, nil
}
