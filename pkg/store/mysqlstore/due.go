package mysqlstore

import (
	"context"
	"database/sql"
	"slices"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// A poll reads in one snapshot: the claims; the earliest due time of every shard, in one statement that skips from shard to
// shard in the index; and then the rows of the shards that may have due ones. An index range with a literal lower bound is the
// only form in which both servers begin to read at the cursor, so each of these shards is a part of a UNION.

// span is a part of one shard: at most limit rows after a key, up to another.
type span struct {
	claim       store.Claim
	after, upto store.Key
	limit       int
}

// unionShards is the number of shards that one statement reads.
const unionShards = 20

// fewShards is the number of shards up to which the earliest due times are not read first.
const fewShards = unionShards

// firsts returns the earliest due time of each shard of spans whose claim is the newest: Never if it has no row, or the earliest
// possible time if it was not read.
func (c *conn) firsts(ctx context.Context, spans []span) (map[shard.ID]timer.Millis, error) {
	owned := map[shard.ID]store.Claim{}
	for some := range slices.Chunk(spans, maxRows) {
		args := make([]any, len(some))
		for i := range some {
			args[i] = int64(some[i].claim.Shard)
		}
		err := c.each(ctx, func(rows *sql.Rows) error {
			var id int64
			var claim store.Claim
			err := rows.Scan(&id, &claim.Version, (*uuidColumn)(&claim.Owner))
			claim.Shard = shard.ID(id)
			owned[claim.Shard] = claim
			return err
		}, "SELECT shard_id, version, owner FROM shards WHERE owner IS NOT NULL AND shard_id IN ("+repeat("?", len(some))+")", args...)
		if err != nil {
			return nil, err
		}
	}
	firsts := make(map[shard.ID]timer.Millis, len(spans))
	least, most := shard.ID(0), shard.ID(0)
	for i := range spans {
		claim := spans[i].claim
		if newest, claimed := owned[claim.Shard]; !claimed || newest != claim {
			continue
		}
		if len(firsts) == 0 {
			least, most = claim.Shard, claim.Shard
		}
		least, most = min(least, claim.Shard), max(most, claim.Shard)
		firsts[claim.Shard] = timer.Never
	}
	if len(firsts) <= fewShards {
		for id := range firsts {
			firsts[id] = store.MinKey().DueAt
		}
		return firsts, nil
	}
	read := func(condition string, args ...any) error {
		return c.each(ctx, func(rows *sql.Rows) error {
			var id, first sql.NullInt64
			err := rows.Scan(&id, &first)
			if _, asked := firsts[shard.ID(id.Int64)]; asked && first.Valid {
				firsts[shard.ID(id.Int64)] = timer.Millis(first.Int64)
			}
			return err
		}, "SELECT shard_id, MIN(poll_at) FROM timers FORCE INDEX (timers_due) WHERE shard_id "+condition+" GROUP BY shard_id", args...)
	}
	if int(most-least) < 4*len(firsts) {
		return firsts, read("BETWEEN ? AND ?", int64(least), int64(most))
	}
	ids := make([]any, 0, len(firsts))
	for id := range firsts {
		ids = append(ids, int64(id))
	}
	for some := range slices.Chunk(ids, maxRows) {
		if err := read("IN ("+repeat("?", len(some))+")", some...); err != nil {
			return nil, err
		}
	}
	return firsts, nil
}

const selectSpan = `(SELECT ? AS place, poll_at, uuid, revision, generation, attempts, updated_at, target
FROM timers FORCE INDEX (timers_due) WHERE shard_id = ? AND (poll_at > ? OR poll_at = ? AND uuid > ?)
	AND (poll_at < ? OR poll_at = ? AND uuid <= ?) ORDER BY poll_at, uuid LIMIT ?)`

// rows reads spans, each in the order of its keys.
func (c *conn) rows(ctx context.Context, spans []span, take func(place int, row store.DueRow)) error {
	return c.union(ctx, selectSpan, len(spans), func(place int) []any {
		s := &spans[place]
		return []any{
			int64(s.claim.Shard), int64(s.after.DueAt), int64(s.after.DueAt), s.after.UUID[:],
			int64(s.upto.DueAt), int64(s.upto.DueAt), s.upto.UUID[:], s.limit,
		}
	}, func(rows *sql.Rows) error {
		var place, attempts, target int64
		var row store.DueRow
		err := rows.Scan(&place, &row.DueAt, (*uuidColumn)(&row.Ref.UUID), &row.Revision, &row.Generation, &attempts,
			&row.UpdatedAt, &target)
		if err == nil {
			row.Ref.Shard, row.Attempt, row.Target = spans[place].claim.Shard, timer.Attempt(attempts)+1, timer.Target(target)
			take(int(place), row)
		}
		return err
	})
}

// Due implements store.Shards.
func (s *Store) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	if len(q.Shards) == 0 {
		return nil, nil
	}
	asked := make([]span, len(q.Shards))
	for i, after := range q.Shards {
		asked[i] = span{claim: after.Claim, after: after.After}
	}
	looks := make([]engine.Look, len(asked))
	err := s.snapshot(ctx, "read due timers", func(c *conn) error {
		firsts, err := c.firsts(ctx, asked)
		if err != nil {
			return err
		}
		var due []int
		for i := range asked {
			first, holds := firsts[asked[i].claim.Shard]
			looks[i] = engine.Look{Holds: holds, First: store.Key{DueAt: first}}
			if holds && first <= max(q.Horizon, asked[i].after.DueAt) {
				due = append(due, i)
			}
		}
		room := q.Total
		for some := range slices.Chunk(due, unionShards) {
			// Two spans of each shard: the due rows, and the first row after the horizon.
			spans := make([]span, 0, 2*len(some))
			for _, i := range some {
				first, next := asked[i], asked[i]
				first.upto, first.limit = store.MaxKeyAt(q.Horizon), min(room, q.PerShard)+1
				next.upto, next.limit = store.MaxKeyAt(timer.Never), 1
				if first.upto.After(next.after) {
					next.after = first.upto
				}
				spans = append(spans, first, next)
				looks[i].First.DueAt = timer.Never
			}
			err := c.rows(ctx, spans, func(place int, row store.DueRow) {
				look := &looks[some[place/2]]
				look.Rows = append(look.Rows, row)
			})
			if err != nil {
				return err
			}
			for _, i := range some {
				room -= min(looks[i].Due(q.Horizon), room, q.PerShard)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return engine.DueAnswers(&q, looks), nil
}

// Overdue implements store.Shards. It reads as Due does.
func (s *Store) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	if len(q.Shards) == 0 {
		return nil, nil
	}
	asked := make([]span, len(q.Shards))
	last := store.MaxKeyAt(q.Before - 1)
	for i, r := range q.Shards {
		asked[i] = span{claim: r.Claim, after: r.From, upto: r.Upto}
		if r.Upto.After(last) {
			asked[i].upto = last
		}
	}
	looks := make([]engine.Look, len(asked))
	err := s.snapshot(ctx, "read overdue timers", func(c *conn) error {
		firsts, err := c.firsts(ctx, asked)
		if err != nil {
			return err
		}
		var overdue []int
		for i := range asked {
			first, holds := firsts[asked[i].claim.Shard]
			looks[i] = engine.Look{Holds: holds, First: store.Key{DueAt: timer.Never}}
			if holds && first <= asked[i].upto.DueAt {
				overdue = append(overdue, i)
			}
		}
		room := q.Limit
		for some := range slices.Chunk(overdue, unionShards) {
			spans := make([]span, len(some))
			for n, i := range some {
				spans[n] = asked[i]
				spans[n].limit = room + 1
			}
			err := c.rows(ctx, spans, func(place int, row store.DueRow) {
				look := &looks[some[place]]
				look.Rows = append(look.Rows, row)
			})
			if err != nil {
				return err
			}
			for _, i := range some {
				room -= min(room, len(looks[i].Rows))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return engine.OverdueAnswers(&q, looks), nil
}
