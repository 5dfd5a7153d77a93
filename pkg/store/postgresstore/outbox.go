package postgresstore

import (
	"context"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Few rows have outbox entries, and each table has a partial index of them. The CASE conditions hide from the planner
// that this index has the rows to unmark: it would scan the whole index for a batch.
var (
	unmarkParked = statement{"unmark_parked", `UPDATE timers t SET marked_at = NULL
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[]) AS a(shard_id, timer_uuid, revision)
WHERE ` + byUUID + ` AND t.revision = a.revision AND CASE WHEN t.marked_at IS NULL THEN false ELSE true END`}

	unmarkDead = statement{"unmark_dead", `UPDATE timer_history h SET marked_at = NULL
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::integer[]) AS a(shard_id, timer_uuid, generation, attempt)
WHERE ` + byAttempt + `
	AND CASE WHEN h.marked_at IS NULL THEN false ELSE true END`}
)

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
