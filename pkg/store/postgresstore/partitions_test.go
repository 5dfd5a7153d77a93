package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// lastOf32 is the schema before the one that has fewer partitions.
const lastOf32 = 19

// wide is a block with shards in all partitions.
var wide = shard.Block{Count: 1024}

// old creates a database whose timers have 32 partitions and contain the timer of p.
func old(t *testing.T, address string, p store.Put) (inside string) {
	t.Helper()
	inside = newDatabase(t, address)
	migrateTo(t, inside, lastOf32)
	execute(t, inside, fmt.Sprintf(`INSERT INTO timers (shard_id, due_at, timer_uuid, revision, generation, execute_at, created_at, updated_at,
		callback_timeout_ms, attempts, starts, last_status, status, namespace, timer_id, deliver, callback_url, retry_policy, last_error, payload)
		VALUES (%d, '%[2]s', '%[3]s', %[4]d, %[4]d, '%[2]s', '%[2]s', '%[2]s', 30000, 0, 0, 0, 'scheduled', 'default', '%[5]s', '',
		'http://h/', '4 0s 30s 2 1h0m0s', '', '1')`,
		p.Ref.Shard, p.Spec.ExecuteAt.Time().Format("2006-01-02 15:04:05.000Z"), p.Ref.UUID, p.Revision, p.ID))
	if _, _, err := Migrate(t.Context(), Options{URL: inside}); err != nil {
		t.Fatal(err)
	}
	wantPartitions(t, inside, 32)
	return inside
}

func wantPartitions(t *testing.T, inside string, want int) {
	t.Helper()
	if got := count(t, inside, countPartitions); got != want {
		t.Errorf("timers has %d partitions, want %d", got, want)
	}
}

// spread returns creates of n timers in all partitions.
func spread(prefix string, n int) (ops []store.Op) {
	for i := range n {
		p := putOf(fmt.Sprint(prefix, i), now)
		p.Ref.Shard = wide.Place(p.ID)
		ops = append(ops, p)
	}
	return ops
}

// parametersOf are the storage parameters and the definitions of the indexes of the partitions, without their names.
const parametersOf = `SELECT count(DISTINCT (c.reloptions, (SELECT array_agg(
		regexp_replace(pg_get_indexdef(x.indexrelid), '(INDEX \S+ ON \S+)', '') ORDER BY pg_get_indexdef(x.indexrelid)) FROM pg_index x
		WHERE x.indrelid = c.oid AND x.indisvalid)))
	FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'timers'::regclass`

func TestANewDatabaseHasFewPartitions(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		wantPartitions(t, inside, timerPartitions)
		before, after, err := MergePartitions(t.Context(), Options{URL: inside})
		if err != nil || before != timerPartitions || after != timerPartitions {
			t.Errorf("merge: %d, %d, %v", before, after, err)
		}
		// An empty database of the schema before is changed by the migration.
		empty := newDatabase(t, address)
		migrateTo(t, empty, lastOf32)
		if _, _, err := MergePartitions(t.Context(), Options{URL: empty}); err == nil {
			t.Error("partitions are merged before the migration")
		}
		if _, _, err := Migrate(t.Context(), Options{URL: empty}); err != nil {
			t.Fatal(err)
		}
		wantPartitions(t, empty, timerPartitions)
	})
}

// TestMergePartitions interrupts a merge after some groups, while other processes create, finish and delete timers, and repeats it.
// Each operation must find its rows.
func TestMergePartitions(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		first := putOf("first", now)
		inside := old(t, address, first)
		s := openStore(t, inside)
		kept := spread("kept-", 2000)
		if _, err := s.Write(t.Context(), now, kept); err != nil {
			t.Fatal(err)
		}

		var stop atomic.Bool
		var rounds atomic.Int64
		var writers sync.WaitGroup
		ctx := t.Context()
		for writer := range 3 {
			writers.Go(func() {
				for i := 0; !stop.Load(); i++ {
					if err := useTimers(ctx, s, fmt.Sprintf("writer-%d-%d-", writer, i)); err != nil {
						t.Errorf("writer %d, round %d: %v", writer, i, err)
						return
					}
					rounds.Add(1)
				}
			})
		}
		defer func() { stop.Store(true); writers.Wait() }()

		// A transaction that reads the partition of the fourth group stops the merge there.
		reader, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close(t.Context())
		if _, err := reader.Exec(t.Context(), "BEGIN; LOCK TABLE ONLY timers_03 IN ACCESS SHARE MODE"); err != nil {
			t.Fatal(err)
		}
		brief := Options{URL: with(t, inside, func(u *url.URL) { u.RawQuery += "&lock_timeout=50ms" })}
		interrupted, interrupt := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, _, err := MergePartitions(interrupted, brief)
			done <- err
		}()
		for count(t, inside, countPartitions) != 32-3*3 {
			if t.Failed() {
				break
			}
		}
		interrupt()
		if err := <-done; err == nil {
			t.Error("the merge that was interrupted returns no error")
		}
		wantPartitions(t, inside, 32-3*3)
		if _, err := reader.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}

		// Two merges at the same time.
		var merges sync.WaitGroup
		for range 2 {
			merges.Go(func() {
				if _, after, err := MergePartitions(ctx, Options{URL: inside}); err != nil || after != timerPartitions {
					t.Errorf("merge: %d partitions, %v", after, err)
				}
			})
		}
		merges.Wait()
		wantPartitions(t, inside, timerPartitions)
		if n := count(t, inside, parametersOf); n != 1 {
			t.Errorf("the partitions have %d different parameters or indexes", n)
		}
		if likeNew := count(t, migrated(t, address), indexesOf); count(t, inside, indexesOf) != likeNew {
			t.Errorf("%d indexes, a new database has %d", count(t, inside, indexesOf), likeNew)
		}
		// The writers continue with the new partitions.
		for before := rounds.Load(); rounds.Load() < before+3 && !t.Failed(); {
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		stop.Store(true)
		writers.Wait()

		if n := count(t, inside, "SELECT count(*) FROM timers"); n != len(kept)+1 {
			t.Errorf("%d timers, want %d", n, len(kept)+1)
		}
		for _, op := range append(kept, first) {
			p, _ := op.(store.Put)
			if got, err := s.Get(t.Context(), now, p.Ref); err != nil || got.Revision != p.Revision {
				t.Fatalf("timer %s: %+v, %v", p.ID, got, err)
			}
		}
	})
}

// indexesOf counts the indexes of the partitions that are attached to an index of timers.
const indexesOf = `SELECT count(*) FROM pg_index x JOIN pg_inherits i ON i.inhrelid = x.indexrelid
	WHERE x.indrelid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'timers'::regclass)`

// useTimers creates timers and ends them in several ways. It returns an error if an operation does not find its timer.
func useTimers(ctx context.Context, s *Store, prefix string) error {
	ops := spread(prefix, 30)
	written, err := s.Write(ctx, now, ops)
	if err != nil {
		return err
	}
	var again []store.Op
	var retries, ends []store.Finish
	var removals []store.Op
	for i, op := range ops {
		if written[i].Err != nil {
			return written[i].Err
		}
		p, _ := op.(store.Put)
		retry, end := finishOf(p, store.FinishRetry), finishOf(p, store.FinishDone)
		end.Record.Attempt, end.DueAt = 2, retry.NextAt
		retries = append(retries, retry)
		if i%3 == 0 {
			removals = append(removals, store.Delete{Ref: p.Ref})
		} else {
			ends = append(ends, end)
		}
		p.OnConflict = store.Fail
		again = append(again, p)
	}
	if written, err = s.Write(ctx, now, again); err != nil {
		return err
	}
	for i := range written {
		if !errors.Is(written[i].Err, store.ErrExists) {
			return fmt.Errorf("a create of a timer that exists: %w", written[i].Err)
		}
	}
	for _, items := range [][]store.Finish{retries, ends} {
		errs, err := s.Finish(ctx, now, items)
		if err = errors.Join(append(errs, err)...); err != nil {
			return fmt.Errorf("finish: %w", err)
		}
	}
	if written, err = s.Write(ctx, now, removals); err != nil {
		return err
	}
	for i := range written {
		if written[i].Err != nil {
			return fmt.Errorf("delete: %w", written[i].Err)
		}
	}
	return nil
}

// TestAWriteThatWaitedForAMergeSeesTheTimers: writes that begin during a merge wait for it, and find the rows that it has copied.
func TestAWriteThatWaitedForAMergeSeesTheTimers(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		p := putOf("a", now)
		for what, write := range map[string]func(ctx context.Context, s *Store, p store.Put) error{
			"delete": func(ctx context.Context, s *Store, p store.Put) error {
				w, err := one(s.Write(ctx, now, []store.Op{store.Delete{Ref: p.Ref}}))
				return errors.Join(err, w.Err)
			},
			"retry": func(ctx context.Context, s *Store, p store.Put) error {
				errs, err := s.Finish(ctx, now, []store.Finish{finishOf(p, store.FinishRetry)})
				return errors.Join(append(errs, err)...)
			},
		} {
			t.Run(what, func(t *testing.T) {
				inside := old(t, address, p)
				s := openStore(t, inside)
				// The connection has prepared its statements. Preparing them would wait for the lock, before there is a transaction.
				if err := write(t.Context(), s, putOf("missing", now)); !errors.Is(err, store.ErrNotFound) {
					t.Fatalf("a timer that does not exist: %v", err)
				}
				c, err := pgx.Connect(t.Context(), inside)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close(t.Context())
				tx, err := c.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), "LOCK TABLE ONLY timers IN ACCESS EXCLUSIVE MODE"); err != nil {
					t.Fatal(err)
				}
				ctx, done := t.Context(), make(chan error, 1)
				go func() { done <- write(ctx, s, p) }()
				waitForLock(t, c)
				if rows, _, err := mergeLocked(t.Context(), tx, remainderOf(t, c, p.Ref.Shard)); err != nil || rows != 1 {
					t.Fatalf("the merge copied %d rows, %v", rows, err)
				}
				if err := tx.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// remainderOf returns the new partition of a shard.
func remainderOf(t *testing.T, c *pgx.Conn, id shard.ID) (remainder int) {
	t.Helper()
	for remainder = range timerPartitions {
		var there bool
		if err := c.QueryRow(t.Context(), "SELECT satisfies_hash_partition('timers'::regclass, $1, $2, $3::bigint)",
			timerPartitions, remainder, int64(id)).Scan(&there); err != nil {
			t.Fatal(err)
		}
		if there {
			return remainder
		}
	}
	t.Fatalf("shard %d is in no partition", id)
	return 0
}
