//go:build unix

package postgresstore_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/internal/store/storebench"
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
func (db *database) perRow(b *testing.B, run func()) {
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

// eachServer runs a benchmark on every server, in a database with pending timers.
func eachServer(b *testing.B, pending int, run func(b *testing.B, db *database, s *postgresstore.Store, all []store.Put)) {
	b.Helper()
	for _, server := range servers(b) {
		b.Run(server.name, func(b *testing.B) {
			db := server.database(b)
			s, err := postgresstore.Open(b.Context(), postgresstore.Options{URL: db.url})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { s.Close() })
			all := storebench.Create(b, s, pending)
			db.execute(b, "VACUUM ANALYZE timers", "CHECKPOINT")
			run(b, db, s, all)
		})
	}
}

func BenchmarkPut(b *testing.B) {
	eachServer(b, benchPending, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		storebench.Writes(b, s, db.perRow)
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
			ops := storebench.Puts(b.N, benchShards)
			db.perRow(b, func() {
				storebench.Batches(b, b.N, 1, plainWriters, func(from, _ int) error {
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
	eachServer(b, benchPending, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		storebench.Finishes(b, s, db.perRow, store.FinishDone)
	})
}

// BenchmarkFinishRetry moves timers, with their rows locked.
func BenchmarkFinishRetry(b *testing.B) {
	eachServer(b, benchPending, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		storebench.Finishes(b, s, db.perRow, store.FinishRetry)
	})
}

func BenchmarkCurrent(b *testing.B) {
	eachServer(b, benchPending, func(b *testing.B, db *database, s *postgresstore.Store, all []store.Put) {
		storebench.Checks(b, s, db.perRow, all)
	})
}

// BenchmarkDue polls 1,024 shards. b.N counts polls.
func BenchmarkDue(b *testing.B) {
	for _, pending := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("pending=%d", pending), func(b *testing.B) {
			eachServer(b, pending, func(b *testing.B, _ *database, s *postgresstore.Store, all []store.Put) {
				storebench.Polls(b, s, all)
			})
		})
	}
}

// BenchmarkAdvance advances all watermarks. b.N counts statements.
func BenchmarkAdvance(b *testing.B) {
	eachServer(b, 0, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		q := storebench.ClaimAll(b, s)
		items := make([]store.Advance, len(q.Shards))
		at := benchNow
		for b.Loop() {
			at++
			for i := range items {
				items[i] = store.Advance{Claim: q.Shards[i].Claim, Watermark: store.Key{DueAt: at}}
			}
			if err := storebench.FirstError(s.Advance(b.Context(), benchNow, items)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	eachServer(b, benchPending, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		for b.Loop() {
			if _, err := s.Count(b.Context(), benchNow); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLists runs storebench.Lists with TIMERBUS_BENCH_ROWS timers.
func BenchmarkLists(b *testing.B) {
	eachServer(b, 0, func(b *testing.B, db *database, s *postgresstore.Store, _ []store.Put) {
		storebench.Fill(b, s, storebench.Rows(b))
		db.executeWithin(b, 10*time.Minute, "VACUUM ANALYZE", "CHECKPOINT")
		storebench.Lists(b, s)
	})
}
