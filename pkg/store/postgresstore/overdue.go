package postgresstore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// overdueTimers: $6 and $7 are the last keys, $8 the time before which rows are due, $9 the rows in all plus one.
var overdueTimers = statement{"overdue_timers", firsts(", $6::timestamptz[], $7::uuid[]", ", upto_due, upto_uuid") + `(
SELECT f.place, r.* FROM firsts f CROSS JOIN LATERAL (
	SELECT ` + rowColumns + " FROM timers t WHERE " + behind + `
		AND t.due_at < $8::timestamptz AND (t.due_at, t.timer_uuid) <= (f.upto_due, f.upto_uuid) ` + inOrder + ` $9::bigint
) r WHERE f.due_at < $8 AND (f.due_at, f.timer_uuid) <= (f.upto_due, f.upto_uuid) LIMIT $9)`}

// Overdue implements store.Shards.
func (s *Store) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	n := len(q.Shards)
	if n == 0 {
		return nil, nil
	}
	from := func(i int) store.Key { return q.Shards[i].From }
	upto := func(i int) store.Key { return q.Shards[i].Upto }
	args := append(claimArgs(n, func(i int) store.Claim { return q.Shards[i].Claim }),
		keyDues(n, from), keyUUIDs(n, from), keyDues(n, upto), keyUUIDs(n, upto),
		instantValue(q.Before), int8Value(int64(q.Limit)+1))
	var looks []engine.Look
	err := s.read(ctx, "read overdue timers", func(c *conn) error {
		looks = make([]engine.Look, n)
		return c.exchange(ctx, lookCall(overdueTimers, args, looks, func(i int) shard.ID { return q.Shards[i].Claim.Shard }))
	})
	if err != nil {
		return nil, err
	}
	return engine.OverdueAnswers(&q, looks), nil
}
