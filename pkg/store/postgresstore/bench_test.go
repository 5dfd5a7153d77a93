//go:build unix

package postgresstore_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/internal/store/storebench"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Each benchmark reports rows/s by the wall clock, and the CPU time per row of this process and, if the server runs on
// this machine, of the server. On a busy machine CPU times are more precise. b.N counts rows. BenchmarkPlainInsert is
// the baseline: a program that inserts its timers one by one.
const (
	benchNow       = timer.Millis(1_800_000_000_000)
	benchShards    = 1024
	benchPending   = 100_000
	benchPayload   = 200
	benchWriters   = 2 // concurrent callers, like those of ingest
	plainWriters   = 16
	benchRetention = 24 * time.Hour
)

// perRow reports the time and the CPU time of b.N rows.
func perRow(b *testing.B, db *database, run func()) {
	b.Helper()
	before, serverBefore := cpu(b), db.cpu(b)
	b.ResetTimer()
	run()
	b.StopTimer()
	used, server := cpu(b)-before, db.cpu(b)-serverBefore
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/1000, "µs-cpu/row")
	if server > 0 {
		b.ReportMetric(float64(server.Nanoseconds())/float64(b.N)/1000, "µs-server/row")
	}
}

// cpu returns the CPU time of all processes of the server; 0 if they do not run on this machine.
func (db *database) cpu(b *testing.B) time.Duration {
	b.Helper()
	c, err := pgx.Connect(b.Context(), db.url)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	var pid int
	if err := c.QueryRow(b.Context(), "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		b.Fatal(err)
	}
	postmaster, _ := processStat(fmt.Sprintf("/proc/%d/stat", pid))
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || postmaster == 0 {
		return 0
	}
	_, total := processStat(fmt.Sprintf("/proc/%d/stat", postmaster))
	for _, file := range files {
		if parent, used := processStat(file); parent == postmaster {
			total += used
		}
	}
	return total
}

// processStat reads a process's parent, and the CPU time of it and its ended children.
func processStat(file string) (parent int, used time.Duration) {
	const tick = 10 * time.Millisecond
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, field := range fields[11:15] {
		n, _ := strconv.Atoi(field)
		used += time.Duration(n) * tick
	}
	parent, _ = strconv.Atoi(fields[1])
	return parent, used
}

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var revisions = timer.NewRevisions(timer.SystemClock, rand.Uint64)

// puts returns n creates of new timers, due over an hour and spread over the shards.
func puts(n, shards int) []store.Op {
	block := shard.Block{Base: 0, Count: shards}
	body := fmt.Appendf(nil, `{"text":%q}`, make([]byte, benchPayload/4))
	ops := make([]store.Op, n)
	for i := range ops {
		id := fmt.Sprintf("order-%d", rand.Uint64())
		ops[i] = store.Put{
			Ref:       store.Ref{Shard: block.Place(id), UUID: timer.UUIDOf("default", id)},
			Namespace: "default",
			ID:        id,
			Revision:  revisions.Next(),
			Spec: timer.Spec{
				ExecuteAt:       benchNow + timer.Millis(rand.Int64N(3_600_000)),
				CallbackURL:     "http://127.0.0.1:9000/orders/reminders",
				CallbackTimeout: timer.DefaultCallbackTimeout,
				Retry:           timer.DefaultRetryPolicy(),
				Payload:         body,
			},
		}
	}
	return ops
}

func fill(tb testing.TB, s store.Store, n, shards int) []store.Put {
	tb.Helper()
	all := make([]store.Put, 0, n)
	for len(all) < n {
		ops := puts(min(5000, n-len(all)), shards)
		if _, err := s.Write(tb.Context(), benchNow, ops); err != nil {
			tb.Fatal(err)
		}
		for _, op := range ops {
			if put, ok := op.(store.Put); ok {
				all = append(all, put)
			}
		}
	}
	return all
}

// eachServer runs a benchmark on every server, in a database with pending timers.
func eachServer(b *testing.B, pending, shards int, run func(b *testing.B, db *database, s *postgresstore.Store, all []store.Put)) {
	b.Helper()
	for _, server := range servers(b) {
		b.Run(server.name, func(b *testing.B) {
			db := server.database(b)
			s, err := postgresstore.Open(b.Context(), postgresstore.Options{URL: db.url})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { s.Close() })
			all := fill(b, s, pending, shards)
			db.execute(b, "VACUUM ANALYZE timers", "CHECKPOINT")
			run(b, db, s, all)
		})
	}
}

// batches calls run for each batch of [0, n), from several goroutines.
func batches(b *testing.B, n, size, writers int, run func(from, to int) error) {
	b.Helper()
	var next atomic.Int64
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for {
				from := int(next.Add(int64(size))) - size
				if from >= n {
					return
				}
				if err := run(from, min(from+size, n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

func BenchmarkPut(b *testing.B) {
	eachServer(b, benchPending, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		for _, c := range []struct{ batch, writers int }{{1, plainWriters}, {100, benchWriters}, {500, benchWriters}} {
			b.Run(fmt.Sprintf("batch=%d", c.batch), func(b *testing.B) {
				ops := puts(b.N, benchShards)
				perRow(b, db, func() {
					batches(b, b.N, c.batch, c.writers, func(from, to int) error {
						_, err := s.Write(b.Context(), benchNow, ops[from:to])
						return err
					})
				})
			})
		}
	})
}

// BenchmarkPlainInsert inserts the same rows into a plain table with a primary key, one per statement, from 16
// connections.
func BenchmarkPlainInsert(b *testing.B) {
	for _, server := range servers(b) {
		b.Run(server.name, func(b *testing.B) {
			db := server.emptyDatabase(b)
			db.execute(b, `CREATE TABLE plain (id uuid PRIMARY KEY, namespace text, name text, due_at timestamptz, url text, payload bytea)`,
				"CREATE INDEX ON plain (due_at)")
			config, err := pgxpool.ParseConfig(db.url)
			if err != nil {
				b.Fatal(err)
			}
			config.MaxConns = plainWriters
			pool, err := pgxpool.NewWithConfig(b.Context(), config)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(pool.Close)
			ops := puts(b.N, benchShards)
			perRow(b, db, func() {
				batches(b, b.N, 1, plainWriters, func(from, _ int) error {
					p, _ := ops[from].(store.Put)
					_, err := pool.Exec(b.Context(), "INSERT INTO plain VALUES ($1, $2, $3, $4, $5, $6)",
						[16]byte(p.Ref.UUID), p.Namespace, p.ID, p.Spec.ExecuteAt.Time(), p.Spec.CallbackURL, p.Spec.Payload)
					return err
				})
			})
		})
	}
}

// BenchmarkFinishDone finishes timers in the order in which they are due, as the dispatcher does.
func BenchmarkFinishDone(b *testing.B) {
	eachServer(b, benchPending, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		for _, size := range []int{100, 500} {
			b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
				all := fill(b, s, b.N, benchShards)
				slices.SortFunc(all, func(a, b store.Put) int { return cmp.Compare(a.Spec.ExecuteAt, b.Spec.ExecuteAt) })
				items := finishes(all, store.FinishDone)
				perRow(b, db, func() {
					batches(b, b.N, size, benchWriters, func(from, to int) error {
						return firstError(s.Finish(b.Context(), benchNow, items[from:to]))
					})
				})
			})
		}
	})
}

// BenchmarkFinishRetry moves timers, with their rows locked.
func BenchmarkFinishRetry(b *testing.B) {
	eachServer(b, benchPending, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		all := fill(b, s, b.N, benchShards)
		items := finishes(all, store.FinishRetry)
		perRow(b, db, func() {
			batches(b, b.N, 500, benchWriters, func(from, to int) error {
				return firstError(s.Finish(b.Context(), benchNow, items[from:to]))
			})
		})
	})
}

func finishes(all []store.Put, kind store.FinishKind) []store.Finish {
	finished := timer.SystemClock() // so that history is in a day's partition
	items := make([]store.Finish, len(all))
	for i, p := range all {
		items[i] = store.Finish{
			Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Kind: kind,
			If:   store.Guard{Generation: timer.Generation(p.Revision)},
			Next: revisions.Next(), NextAt: p.Spec.ExecuteAt + 30_000,
			Record: store.Record{
				Attempt: 1, StartedAt: finished - 1, FinishedAt: finished, StatusCode: 200, KeepFor: benchRetention,
			},
		}
	}
	return items
}

func firstError(errs []error, err error) error {
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return err
}

func BenchmarkCurrent(b *testing.B) {
	eachServer(b, benchPending, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, all []store.Put) {
		checks := make([]store.Check, b.N)
		for i := range checks {
			p := all[rand.IntN(len(all))]
			checks[i] = store.Check{Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Revision: p.Revision}
		}
		perRow(b, db, func() {
			batches(b, b.N, 64, benchWriters, func(from, to int) error {
				_, err := s.Current(b.Context(), checks[from:to])
				return err
			})
		})
	})
}

// BenchmarkDue polls 1,024 shards. b.N counts polls.
func BenchmarkDue(b *testing.B) {
	for _, pending := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			eachServer(b, pending, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, all []store.Put) {
				q := claimAll(b, s)
				slices.SortFunc(all, func(a, b store.Put) int { return cmp.Compare(a.Spec.ExecuteAt, b.Spec.ExecuteAt) })
				for _, due := range []int{0, 1000, 10_000} {
					b.Run(fmt.Sprintf("due=%d", due), func(b *testing.B) {
						q.Horizon = all[due].Spec.ExecuteAt - 1
						rows := 0
						for b.Loop() {
							answer, err := s.Due(b.Context(), q)
							if err != nil {
								b.Fatal(err)
							}
							for _, d := range answer {
								rows += len(d.Rows)
							}
						}
						b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/poll")
						b.ReportMetric(float64(rows)/float64(b.N), "rows/poll")
					})
				}
			})
		})
	}
}

func claimAll(tb testing.TB, s store.Store) store.DueQuery {
	tb.Helper()
	ids := shard.Block{Count: benchShards}.In(0, 1)
	claimed, err := s.Claim(tb.Context(), benchNow, store.Owner{Incarnation: timer.UUID{1}, Node: "bench"}, ids)
	if err != nil {
		tb.Fatal(err)
	}
	q := store.DueQuery{PerShard: 1000, Total: 10_000}
	for _, c := range claimed {
		q.Shards = append(q.Shards, store.DueAfter{Claim: c.Claim, After: c.Watermark})
	}
	return q
}

// BenchmarkAdvance advances all watermarks. b.N counts statements.
func BenchmarkAdvance(b *testing.B) {
	eachServer(b, 0, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		q := claimAll(b, s)
		items := make([]store.Advance, len(q.Shards))
		at := benchNow
		for b.Loop() {
			at++
			for i := range items {
				items[i] = store.Advance{Claim: q.Shards[i].Claim, Watermark: store.Key{DueAt: at}}
			}
			if err := firstError(s.Advance(b.Context(), benchNow, items)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	eachServer(b, benchPending, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		for b.Loop() {
			if _, err := s.Count(b.Context(), benchNow); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLists runs storebench.Lists with TIMERBUS_BENCH_ROWS timers.
func BenchmarkLists(b *testing.B) {
	eachServer(b, 0, benchShards, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		storebench.Fill(b, s, storebench.Rows(b))
		db.executeWithin(b, 10*time.Minute, "VACUUM ANALYZE", "CHECKPOINT")
		storebench.Lists(b, s)
	})
}
