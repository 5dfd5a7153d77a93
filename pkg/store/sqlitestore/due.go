package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// selectFirst reads many shards in one statement: for each shard whose claim is its newest one, the first key after
	// the cursor, or NULL. A poll of idle shards is only this statement.
	selectFirst = `WITH asked (place, in_shard, version, owner, after_due, after_uuid) AS (VALUES %s)
SELECT place, t.due_at, t.uuid
FROM asked
CROSS JOIN shards s ON s.shard = in_shard AND s.version = asked.version AND s.owner = asked.owner
LEFT JOIN timers t ON t.rid = (
	SELECT rid FROM timers
	WHERE shard = in_shard AND (due_at, uuid) > (after_due, after_uuid) AND status <> 'parked'
	ORDER BY due_at, uuid LIMIT 1)`

	selectDue = `SELECT uuid, revision, generation, attempts, due_at, updated_at, target FROM timers
WHERE shard = ? AND (due_at, uuid) > (?, ?) AND status <> 'parked'
ORDER BY due_at, uuid LIMIT ?`
)

// selectFirstOf is selectFirst for each of valuesSizes.
var selectFirstOf = func() map[int]string {
	queries := map[int]string{}
	for _, size := range valuesSizes {
		queries[size] = fmt.Sprintf(selectFirst, values(size, 6))
	}
	return queries
}()

// cursorIn is a position in a shard, under a claim.
type cursorIn struct {
	claim store.Claim
	after store.Key
}

// firsts runs selectFirst for all cursors. The caller runs it in the same snapshot as the reads of the rows, so that
// the check of the claims applies to them too.
func (c *conn) firsts(cursors []cursorIn) ([]engine.Look, error) {
	out := make([]engine.Look, len(cursors))
	for done := 0; done < len(cursors); {
		size, take := valuesSize(len(cursors) - done)
		args := make([]any, 0, 6*size)
		for i, at := range cursors[done : done+take] {
			args = append(args, done+i, at.claim.Shard, at.claim.Version, at.claim.Owner[:], at.after.DueAt, at.after.UUID[:])
		}
		args = append(args, make([]any, 6*(size-take))...)
		err := c.each(func(rows *sql.Rows) error {
			var place int64
			var due sql.NullInt64
			var uuid sql.RawBytes
			if err := rows.Scan(&place, &due, &uuid); err != nil {
				return err
			}
			l := engine.Look{Holds: true, First: store.Key{DueAt: timer.Never}}
			if due.Valid {
				l.First.DueAt = timer.Millis(due.Int64)
				copy(l.First.UUID[:], uuid)
			}
			out[place] = l
			return nil
		}, selectFirstOf[size], args...)
		if err != nil {
			return nil, err
		}
		done += take
	}
	return out, nil
}

// Due implements store.Shards.
func (s *Store) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	if len(q.Shards) == 0 {
		return nil, nil
	}
	cursors := make([]cursorIn, len(q.Shards))
	for i, asked := range q.Shards {
		cursors[i] = cursorIn{asked.Claim, asked.After}
	}
	var looks []engine.Look
	err := s.look(ctx, "read due timers", cursors, &looks, func(c *conn) error {
		room := q.Total
		for i := range looks {
			l := &looks[i]
			limit := min(room, q.PerShard)
			if !l.Holds || l.First.DueAt > q.Horizon || limit == 0 {
				continue
			}
			err := c.dueRows(cursors[i], limit+1, func(row store.DueRow) bool {
				l.Rows = append(l.Rows, row)
				return row.DueAt <= q.Horizon
			})
			if err != nil {
				return err
			}
			room -= min(l.Due(q.Horizon), limit)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return engine.DueAnswers(&q, looks), nil
}

// look reads in one snapshot: first all shards in few statements, and then, in more, rows of some of them.
func (s *Store) look(ctx context.Context, op string, cursors []cursorIn, looks *[]engine.Look, more func(*conn) error) error {
	return s.read(ctx, op, func(c *conn) error {
		return c.snapshot(func() (err error) {
			if *looks, err = c.firsts(cursors); err != nil {
				return err
			}
			return more(c)
		})
	})
}

// dueRows reads rows in key order until take returns false, at most limit.
func (c *conn) dueRows(at cursorIn, limit int, take func(store.DueRow) bool) error {
	row := store.DueRow{Ref: store.Ref{Shard: at.claim.Shard}}
	var attempts, target intColumn
	columns := []any{
		(*uuidColumn)(&row.Ref.UUID), (*intColumn)(&row.Revision), (*intColumn)(&row.Generation), &attempts,
		(*intColumn)(&row.DueAt), (*intColumn)(&row.UpdatedAt), &target,
	}
	return c.each(func(rows *sql.Rows) error {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		row.Attempt, row.Target = timer.Attempt(attempts)+1, timer.Target(target)
		if !take(row) {
			return errStop
		}
		return nil
	}, selectDue, at.claim.Shard, at.after.DueAt, at.after.UUID[:], limit)
}
