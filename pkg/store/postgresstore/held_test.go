package postgresstore

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestHeldSnapshot counts the pages that polls, sweeps and advances read. While a transaction prevents the removal of
// dead row versions, the number of pages must not grow with the number of advances, nor with the number of timers that
// fired before the first key of the read.
func TestHeldSnapshot(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		var items []store.Advance
		for _, c := range claimShardsOf(t, s, block) {
			items = append(items, store.Advance{Claim: c.Claim})
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
		const advances, perAdvance = 100, 20
		last := now + advances*perAdvance
		n := len(items)
		claims := claimArgs(n, func(i int) store.Claim { return items[i].Claim })
		keys := func(k store.Key) [][]byte {
			key := func(int) store.Key { return k }
			return [][]byte{keyDues(n, key), keyUUIDs(n, key)}
		}
		from, upto := keys(store.MaxKeyAt(last)), keys(store.MaxKeyAt(last+1000))
		statements := map[statement][][]byte{
			lockClaims:    claims,
			advanceShards: slices.Concat(claims, from),
			dueTimers:     slices.Concat(claims, from, [][]byte{instantValue(last + 1000), int8Value(10), int8Value(100)}),
			overdueTimers: slices.Concat(claims, from, upto, [][]byte{instantValue(last + 1000), int8Value(10)}),
		}

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
		for i := range advances {
			var ops []store.Op
			var ends []store.Finish
			for j := range perAdvance {
				p := putOf(fmt.Sprint(i, "-", j), now+timer.Millis(i*perAdvance+j))
				ops, ends = append(ops, p), append(ends, finishOf(p, store.FinishDone))
			}
			if _, err := s.Write(t.Context(), now, ops); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Finish(t.Context(), now, ends); err != nil {
				t.Fatal(err)
			}
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
