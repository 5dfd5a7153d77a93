package postgresstore

import (
	"cmp"
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Few rows have outbox entries, and each table has a partial index of them. The CASE conditions hide from the planner that
// this index has the rows to unmark: it would scan the whole index for a batch.
var (
	parkedMarks = statement{"parked_marks", "SELECT t.marked_at, " + timerColumns + ` FROM timers t
WHERE t.marked_at IS NOT NULL AND t.marked_at < $2 AND t.shard_id = ANY($1::bigint[]) ORDER BY t.marked_at LIMIT $3`}

	deadMarks = statement{"dead_marks", "SELECT h.marked_at, " + endColumns + ` FROM timer_history h
WHERE h.marked_at IS NOT NULL AND h.marked_at < $2 AND h.shard_id = ANY($1::bigint[]) ORDER BY h.marked_at LIMIT $3`}

	unmarkParked = statement{"unmark_parked", `UPDATE timers t SET marked_at = NULL
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[]) AS a(shard_id, timer_uuid, revision)
WHERE ` + byUUID + ` AND t.revision = a.revision AND CASE WHEN t.marked_at IS NULL THEN false ELSE true END`}

	unmarkDead = statement{"unmark_dead", `UPDATE timer_history h SET marked_at = NULL
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::integer[]) AS a(shard_id, timer_uuid, generation, attempt)
WHERE ` + byAttempt + `
	AND CASE WHEN h.marked_at IS NULL THEN false ELSE true END`}
)

// Outbox implements store.Shards.
func (s *Store) Outbox(ctx context.Context, shards []shard.ID, before timer.Millis, limit int) ([]store.OutboxEntry, error) {
	if len(shards) == 0 {
		return nil, nil
	}
	args := [][]byte{int8s(len(shards), func(i int) int64 { return int64(shards[i]) }), instantValue(before), int8Value(int64(limit))}
	var out []store.OutboxEntry
	err := s.read(ctx, "read outbox entries", func(c *conn) error {
		out = nil
		var scan scanner
		read := func(r *record) {
			var n store.OutboxEntry
			n.MarkedAt, _ = r.instant()
			n.Timer, n.ID.Ref.Shard = scan.timer(r)
			n.ID.Ref.UUID = n.Timer.UUID
			n.ID.Status = n.Timer.Status
			n.ID.Generation = n.Timer.Generation
			n.ID.Attempt = n.Timer.Attempts
			n.ID.Revision = n.Timer.Revision
			out = append(out, n)
		}
		return c.exchange(ctx,
			call{statement: parkedMarks, args: args, row: read},
			call{statement: deadMarks, args: args, row: read})
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(out, func(a, b store.OutboxEntry) int { return cmp.Compare(a.MarkedAt, b.MarkedAt) })
	return out[:min(limit, len(out))], nil
}

// RemoveFromOutbox implements store.Shards.
func (s *Store) RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error {
	if len(ids) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(ids), func(a, b store.OutboxID) int { return byRef(a.Ref, b.Ref) })
	var parked, dead []store.OutboxID
	for _, m := range sorted {
		if m.Status == timer.StatusParked {
			parked = append(parked, m)
		} else {
			dead = append(dead, m)
		}
	}
	var calls []call
	if n := len(parked); n > 0 {
		ref := func(i int) store.Ref { return parked[i].Ref }
		calls = append(calls, call{statement: unmarkParked, args: [][]byte{
			refShards(n, ref), refUUIDs(n, ref), int8s(n, func(i int) int64 { return int64(parked[i].Revision) }),
		}})
	}
	if n := len(dead); n > 0 {
		ref := func(i int) store.Ref { return dead[i].Ref }
		calls = append(calls, call{statement: unmarkDead, args: [][]byte{
			refShards(n, ref), refUUIDs(n, ref),
			int8s(n, func(i int) int64 { return int64(dead[i].Generation) }),
			int4s(n, func(i int) int32 { return int32(dead[i].Attempt) }),
		}})
	}
	return s.write(ctx, "remove outbox entries", snapshot, func(t *transaction) error { return t.commit(ctx, calls...) })
}
