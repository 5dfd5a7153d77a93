package postgresstore

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestHeldSnapshot counts the pages that polls, sweeps and advances read. They must not grow with the number of advances
// while a transaction keeps every dead version of a watermark.
func TestHeldSnapshot(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		var items []store.Advance
		due, overdue := store.DueQuery{Horizon: now, PerShard: 10, Total: 10}, store.OverdueQuery{Before: now, Limit: 10}
		for _, c := range claimShardsOf(t, s, shard.Block{Count: 16}) {
			items = append(items, store.Advance{Claim: c.Claim})
			due.Shards = append(due.Shards, store.DueAfter{Claim: c.Claim, After: store.MinKey()})
			overdue.Shards = append(overdue.Shards, store.OverdueRange{Claim: c.Claim, From: store.MinKey(), Upto: store.MaxKeyAt(now)})
		}
		advance := func(at int) {
			for i := range items {
				items[i].Watermark = store.Key{DueAt: now + timer.Millis(at)}
			}
			answers, err := s.Advance(t.Context(), now, items)
			for _, answer := range answers {
				if err == nil {
					err = answer
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		statements := map[statement][][]byte{}
		claims := claimArgs(len(items), func(i int) store.Claim { return items[i].Claim })
		key := func(int) store.Key { return store.MaxKeyAt(now) }
		minimum := func(int) store.Key { return store.MinKey() }
		n := len(items)
		statements[lockClaims] = claims
		statements[advanceShards] = append(claims[:3:3], keyDues(n, key), keyUUIDs(n, key))
		statements[dueTimers] = append(claims[:3:3], keyDues(n, minimum), keyUUIDs(n, minimum), instantValue(now), int8Value(11), int8Value(50))
		statements[overdueTimers] = append(claims[:3:3], keyDues(n, minimum), keyUUIDs(n, minimum), keyDues(n, key), keyUUIDs(n, key),
			instantValue(now), int8Value(11))

		holder, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close(t.Context())
		if _, err := holder.Exec(t.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT"); err != nil {
			t.Fatal(err)
		}
		advance(1)
		before := map[string]int{}
		for what, args := range statements {
			before[what.name] = pagesRead(t, s, what, args)
		}
		const advances = 300
		for i := range advances {
			advance(i + 2)
		}
		for what, args := range statements {
			after := pagesRead(t, s, what, args)
			t.Logf("%s: %d pages at first, %d after %d advances", what.name, before[what.name], after, advances)
			if after > 2*before[what.name] {
				t.Errorf("%s reads %d pages after %d advances, and %d at first", what.name, after, advances, before[what.name])
			}
		}
	})
}

// pagesRead runs a statement and returns how many pages it read.
func pagesRead(t *testing.T, s *Store, what statement, args [][]byte) int {
	t.Helper()
	pooled, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer pooled.Release()
	result := pooled.Conn().PgConn().ExecParams(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+what.sql, args, nil, binaryFormat(), nil).Read()
	if result.Err != nil {
		t.Fatalf("explain %s: %v", what.name, result.Err)
	}
	var explained []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(result.Rows[0][0], &explained); err != nil || len(explained) != 1 {
		t.Fatalf("explain %s: %s, %v", what.name, result.Rows[0][0], err)
	}
	return explained[0].Plan.Hit + explained[0].Plan.Read
}
