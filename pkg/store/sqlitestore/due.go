package sqlitestore

import (
	"context"
	"database/sql"
	"fmt"

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

// first is the result of selectFirst for one shard.
type first struct {
	// holds is set if the claim is the shard's newest.
	holds bool
	// key is the first key after the cursor. Its DueAt is Never if there is none.
	key store.Key
}

// firsts runs selectFirst for all cursors. The caller runs it in the same snapshot as the reads of the rows, so that
// the check of the claims applies to them too.
func (c *conn) firsts(cursors []cursorIn) ([]first, error) {
	out := make([]first, len(cursors))
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
			f := first{holds: true, key: store.Key{DueAt: timer.Never}}
			if due.Valid {
				f.key.DueAt = timer.Millis(due.Int64)
				copy(f.key.UUID[:], uuid)
			}
			out[place] = f
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
	out := make([]store.DueShard, len(q.Shards))
	err := s.read(ctx, "read due timers", func(c *conn) error {
		return c.snapshot(func() error {
			firsts, err := c.firsts(cursors)
			if err != nil {
				return err
			}
			room := q.Total
			for i, f := range firsts {
				if !f.holds {
					out[i].Err = fenced("poll", cursors[i].claim)
					continue
				}
				if out[i], err = c.due(cursors[i], f, q.Horizon, min(room, q.PerShard)); err != nil {
					return err
				}
				room -= len(out[i].Rows)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *conn) due(at cursorIn, f first, horizon timer.Millis, limit int) (store.DueShard, error) {
	if f.key.DueAt > horizon || limit <= 0 {
		return store.DueShard{NextDueAt: f.key.DueAt, Cut: f.key.DueAt <= horizon}, nil
	}
	answer := store.DueShard{NextDueAt: timer.Never}
	// The row after the last one has the time at which the shard is due next.
	err := c.dueRows(at, limit+1, func(row store.DueRow) bool {
		if row.DueAt > horizon || len(answer.Rows) == limit {
			answer.NextDueAt = row.DueAt
			answer.Cut = row.DueAt <= horizon
			return false
		}
		answer.Rows = append(answer.Rows, row)
		return true
	})
	return answer, err
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
