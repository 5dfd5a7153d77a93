package postgresstore

import (
	"context"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// A poll is one statement. It reads the first row after each cursor if the claim is the shard's newest, and reads
// further rows only of shards where that row is due: a poll of idle shards costs one index probe per shard. The answer
// has two parts: for each shard whose claim is the newest, the key of its first row; then the rows, in the order of the
// query's shards. Rows of the first part have no revision.
const (
	// firstOf is one index probe: the first row after a cursor. The index does not contain parked rows.
	firstOf = `FROM timers t WHERE t.shard_id = a.shard_id AND (t.due_at, t.timer_uuid) > (a.after_due, a.after_uuid)
		AND t.status <> 'parked' ORDER BY t.due_at, t.timer_uuid LIMIT 1`

	rowColumns = "t.due_at, t.timer_uuid, t.revision, t.generation, t.attempts, t.updated_at, t.target"
	behind     = "t.shard_id = f.shard_id AND (t.due_at, t.timer_uuid) > (f.after_due, f.after_uuid) AND t.status <> 'parked'"
	inOrder    = "ORDER BY t.due_at, t.timer_uuid LIMIT"
)

// firsts returns the first part of the statement. Its WITH clause is also used by the second part. It keeps the order
// of the query. more are further parameters of each shard, and names are their names.
func firsts(more, names string) string {
	return `WITH firsts AS MATERIALIZED (
	SELECT a.place, a.shard_id, a.after_due, a.after_uuid` + names + `, f.due_at, f.timer_uuid
	FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::timestamptz[], $5::uuid[]` + more + `)
		WITH ORDINALITY AS a(shard_id, version, owner, after_due, after_uuid` + names + `, place)
	JOIN claims c ON ` + fence + `
	LEFT JOIN LATERAL (SELECT t.due_at, t.timer_uuid ` + firstOf + `) f ON true
	ORDER BY a.place
)
SELECT place, due_at, timer_uuid, NULL::bigint AS revision, NULL::bigint AS generation,
	NULL::integer AS attempts, NULL::timestamptz AS updated_at, NULL::bigint AS target FROM firsts
UNION ALL
`
}

// dueTimers: $6 is the horizon, $7 the rows per shard plus one, $8 the rows in all plus some more. The rows of a shard
// are followed by the first one after the horizon.
var dueTimers = statement{"due_timers", firsts("", "") + `(SELECT f.place, r.* FROM firsts f CROSS JOIN LATERAL (
	(SELECT ` + rowColumns + " FROM timers t WHERE " + behind + " AND t.due_at <= $6::timestamptz " + inOrder + ` $7::bigint)
	UNION ALL
	(SELECT ` + rowColumns + " FROM timers t WHERE " + behind + " AND t.due_at > $6 " + inOrder + ` 1)
) r WHERE f.due_at <= $6 LIMIT $8::bigint)`}

// Due implements store.Shards.
func (s *Store) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	n := len(q.Shards)
	if n == 0 {
		return nil, nil
	}
	after := func(i int) store.Key { return q.Shards[i].After }
	args := append(claimArgs(n, func(i int) store.Claim { return q.Shards[i].Claim }),
		keyDues(n, after), keyUUIDs(n, after), instantValue(q.Horizon),
		int8Value(int64(q.PerShard)+1),
		// Up to two rows of each shard are read but not returned. So with this limit, a row that the limit cuts off has
		// no room in the answer.
		int8Value(int64(q.Total)+2*int64(n)+1))
	var looks []engine.Look
	err := s.read(ctx, "read due timers", func(c *conn) error {
		looks = make([]engine.Look, n)
		return c.exchange(ctx, lookCall(dueTimers, args, looks, func(i int) shard.ID { return q.Shards[i].Claim.Shard }))
	})
	if err != nil {
		return nil, err
	}
	return engine.DueAnswers(&q, looks), nil
}

// lookCall reads the first part of the answer into First, and the second part into Rows.
func lookCall(what statement, args [][]byte, looks []engine.Look, shardAt func(i int) shard.ID) call {
	return call{statement: what, args: args, row: func(r *record) {
		place := r.int8() - 1
		if place < 0 || place >= int64(len(looks)) {
			r.failf("the server answers for shard %d of %d", place, len(looks))
			return
		}
		l := &looks[place]
		var row store.DueRow
		row.Ref.Shard = shardAt(int(place))
		row.DueAt = r.due()
		row.Ref.UUID = r.uuid()
		row.Revision = timer.Revision(r.int8())
		row.Generation = timer.Generation(r.int8())
		row.Attempt = timer.Attempt(r.int4()) + 1
		row.UpdatedAt, _ = r.instant()
		row.Target = timer.Target(r.int8())
		if row.Revision != 0 {
			l.Rows = append(l.Rows, row)
		} else {
			l.Holds, l.First = true, row.Key()
		}
	}}
}
