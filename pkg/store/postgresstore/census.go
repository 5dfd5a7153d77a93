package postgresstore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// maxCounted is how many rows a count reads at most, because a gauge counts several times a minute. If there are more
// live rows, the count uses the server's estimate. There is no estimate of overdue and parked rows, so their counts end
// at maxCounted.
const maxCounted = 1_000_000

var (
	// countLive counts rows only if the estimate is below the limit.
	countLive = statement{"count_live", `SELECT estimate,
	CASE WHEN estimate < $1::bigint THEN (SELECT count(*) FROM (SELECT FROM timers LIMIT $1) AS counted) ELSE 0 END
FROM (SELECT coalesce(sum(c.reltuples), 0)::bigint AS estimate FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
	WHERE i.inhparent = to_regclass('timers') AND c.reltuples > 0) e`}

	countParked = statement{"count_parked", "SELECT count(*) FROM (SELECT FROM timers WHERE status = 'parked' LIMIT $1::bigint) AS counted"}

	// countPaused reads the rows, because no index contains the options.
	countPaused = statement{"count_paused", `SELECT count(*), count(*) FILTER (WHERE o.options LIKE '` + engine.PausedPattern + `')
FROM (SELECT options FROM timers WHERE status = 'parked' LIMIT $1::bigint) o`}

	// countDead walks the index of dead timers, whose order makes them distinct. LIMIT 1 makes the lookup of live rows a loop;
	// otherwise statistics may make it a join that reads all timers.
	countDead = statement{"count_dead", `SELECT count(*) FROM (SELECT DISTINCT d.shard_id, d.timer_uuid FROM timer_history_dead d
	WHERE d.outcome = 'dead' ORDER BY d.shard_id, d.timer_uuid LIMIT $1::bigint) h
LEFT JOIN LATERAL (SELECT true AS live FROM timers t WHERE t.shard_id = h.shard_id AND t.timer_uuid = h.timer_uuid LIMIT 1) l ON true
WHERE l.live IS NULL`}

	// countOverdue reads only the overdue rows of each shard. The shards are those of the namespaces.
	countOverdue = statement{"count_overdue", `WITH firsts AS MATERIALIZED (
	SELECT b.shard_id, f.due_at
	FROM namespaces n CROSS JOIN LATERAL generate_series(n.shard_base, n.shard_base + n.shard_count - 1) AS b(shard_id)
	CROSS JOIN LATERAL (SELECT t.due_at FROM timers t WHERE t.shard_id = b.shard_id AND t.status <> 'parked'
		ORDER BY t.due_at, t.timer_uuid LIMIT 1) f
)
SELECT (SELECT count(*) FROM (SELECT FROM firsts f CROSS JOIN LATERAL (SELECT FROM timers t
		WHERE t.shard_id = f.shard_id AND t.status <> 'parked' AND t.due_at < $1::timestamptz OFFSET 0) o
	WHERE f.due_at < $1 LIMIT $2::bigint) AS counted),
	(SELECT min(due_at) FROM firsts)`}

	// countMoved reads the rows that a postponement or a lease moved. Rows that are due again are counted by
	// countOverdue.
	countMoved = statement{"count_moved", `SELECT
	count(*) FILTER (WHERE m.planned_at < $1::timestamptz AND m.due_at >= $1 AND NOT m.leased),
	min(m.planned_at) FILTER (WHERE NOT m.leased OR m.due_at < $1)
FROM (SELECT t.planned_at, t.due_at, t.leased FROM timers t
	WHERE t.planned_at IS NOT NULL AND t.status <> 'parked' ORDER BY t.planned_at LIMIT $2::bigint) m`}
)

// Count implements store.Census. It is fast enough for a gauge that is read a few times a minute.
func (s *Store) Count(ctx context.Context, now timer.Millis) (store.Counts, error) {
	var counts store.Counts
	err := s.readLong(ctx, "count timers", func(c *conn) error {
		counts = store.Counts{OldestPlannedAt: timer.Never}
		add := func(r *record) {
			counts.Overdue += r.int8()
			counts.OldestPlannedAt = min(counts.OldestPlannedAt, r.due())
		}
		var live, estimate, held, looked, paused int64
		most := int8Value(int64(s.maxCounted))
		err := c.exchange(ctx,
			call{
				statement: countLive,
				args:      [][]byte{most},
				row:       func(r *record) { estimate, live = r.int8(), r.int8() },
			},
			call{statement: countParked, args: [][]byte{most}, row: func(r *record) { held = r.int8() }},
			call{
				statement: countPaused, args: [][]byte{int8Value(engine.MaxHeld)},
				row: func(r *record) { looked, paused = r.int8(), r.int8() },
			},
			call{statement: countDead, args: [][]byte{int8Value(engine.MaxDead)}, row: func(r *record) { counts.Dead = r.int8() }},
			call{
				statement: countOverdue,
				args:      [][]byte{instantValue(now), most},
				row:       add,
			},
			call{statement: countMoved, args: [][]byte{instantValue(now), most}, row: add})
		if estimate >= int64(s.maxCounted) || live == int64(s.maxCounted) {
			live = max(live, estimate)
		}
		counts.Pending = max(0, live-held)
		engine.SetHeld(&counts, held, looked, paused)
		return err
	})
	if err != nil {
		return store.Counts{}, err
	}
	return counts, nil
}
