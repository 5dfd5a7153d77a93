package mysqlstore

import (
	"fmt"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// handlerReads returns how many rows and index entries the only connection of a store has read.
func handlerReads(t *testing.T, s *Store) (n int) {
	t.Helper()
	rows, err := s.main.QueryContext(t.Context(), "SHOW SESSION STATUS LIKE 'Handler_read%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var reads int
		if err := rows.Scan(&name, &reads); err != nil {
			t.Fatal(err)
		}
		n += reads
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPollsReadFewRows: what a poll reads depends on the polled shards and the rows that it returns, not on the pending rows.
func TestPollsReadFewRows(t *testing.T) {
	t.Parallel()
	const shards, each = 64, 100
	eachServer(t, func(t *testing.T, address string) {
		s := openStore(t, migrated(t, address))
		s.main.SetMaxOpenConns(1)
		for _, distance := range []int{1, 1000} {
			var q store.DueQuery
			var ids []shard.ID
			for i := range shards {
				ids = append(ids, shard.ID(1_000_000*distance+i*distance))
				var ops []store.Op
				for j := range each {
					p := putOf(fmt.Sprintf("%d-%d-%d", distance, i, j))
					p.Ref.Shard = ids[i]
					if i > 0 {
						p.Spec.ExecuteAt += timer.Millis(j)
					}
					ops = append(ops, p)
				}
				if err := write(t.Context(), s, ops...); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.main.ExecContext(t.Context(), "ANALYZE TABLE timers"); err != nil {
				t.Fatal(err)
			}
			claimed, err := s.Claim(t.Context(), now, store.Owner{Incarnation: timer.UUID{1}, Node: "test"}, ids)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range claimed {
				q.Shards = append(q.Shards, store.DueAfter{Claim: c.Claim, After: c.Watermark})
			}
			poll := func(horizon timer.Millis, limit, want, most int) (rows []store.DueRow) {
				t.Helper()
				q.Horizon, q.PerShard, q.Total = horizon, limit, 10_000
				before := handlerReads(t, s)
				found, err := s.Due(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range found {
					rows = append(rows, f.Rows...)
				}
				if reads := handlerReads(t, s) - before; len(rows) != want || reads > most {
					t.Errorf("distance %d: a poll of %d shards returned %d rows and read %d, want %d and at most %d",
						distance, len(q.Shards), len(rows), reads, want, most)
				}
				return rows
			}
			const perShard = 8 // index entries of the claims and of the first rows, and the session's counters
			poll(now, 1000, 0, perShard*shards)
			poll(now+1000, 1000, each+shards-1, perShard*shards+3*(each+shards))
			// In the middle of the rows of the first shard, which have the same due_at.
			q.Shards = q.Shards[:1]
			first := poll(now+1000, each/2, each/2, 2*each)
			q.Shards[0].After = store.Key{DueAt: first[each/2-1].DueAt, UUID: first[each/2-1].Ref.UUID}
			poll(now+1000, 10, 10, perShard*10)
		}
	})
}
