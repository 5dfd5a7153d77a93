//go:build unix

package sqlitestore_test

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/store/storebench"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Each benchmark reports rows/s, and the CPU time per row of this process, which is more precise on a busy machine. b.N
// counts rows.
const (
	benchBatch     = 64
	benchNow       = timer.Millis(1_800_000_000_000)
	benchShards    = 16  // the default namespace's
	benchPolled    = 256 // shards of one poll
	benchPending   = 100_000
	smallBytes     = 200
	largeBytes     = 1500
	benchWriters   = 4 // concurrent callers, like those of ingest and the dispatcher
	benchRetention = time.Hour
)

// perRow reports the time and the CPU time of b.N rows.
func perRow(b *testing.B, run func()) {
	before := cpu(b)
	b.ResetTimer()
	run()
	b.StopTimer()
	used := cpu(b) - before
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
	b.ReportMetric(float64(used.Nanoseconds())/float64(b.N)/1000, "µs-cpu/row")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

var revisions = timer.NewRevisions(timer.SystemClock, rand.Uint64)

// puts returns n creates of new timers, due over an hour and spread over the shards.
func puts(n, payload, shards int) []store.Op {
	block := shard.Block{Base: 0, Count: shards}
	body := fmt.Appendf(nil, `{"text":%q}`, make([]byte, payload/4))
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

func fill(b *testing.B, s store.Store, n, shards int) []store.Put {
	b.Helper()
	all := make([]store.Put, 0, n)
	for len(all) < n {
		ops := puts(min(1000, n-len(all)), smallBytes, shards)
		if _, err := s.Write(b.Context(), benchNow, ops); err != nil {
			b.Fatal(err)
		}
		for _, op := range ops {
			if put, ok := op.(store.Put); ok {
				all = append(all, put)
			}
		}
	}
	return all
}

// batches calls run for each batch of [0, n), from several goroutines.
func batches(b *testing.B, n int, run func(from, to int) error) {
	next := make(chan int)
	failed := make(chan error, benchWriters)
	for range benchWriters {
		go func() {
			var err error
			for from := range next {
				if err == nil {
					err = run(from, min(from+benchBatch, n))
				}
			}
			failed <- err
		}()
	}
	for from := 0; from < n; from += benchBatch {
		next <- from
	}
	close(next)
	for range benchWriters {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
}

func benchPut(b *testing.B, payload int) {
	s := open(b, b.TempDir())
	fill(b, s, benchPending, benchShards)
	ops := puts(b.N, payload, benchShards)
	perRow(b, func() {
		batches(b, b.N, func(from, to int) error {
			_, err := s.Write(b.Context(), benchNow, ops[from:to])
			return err
		})
	})
}

func BenchmarkPutSmall(b *testing.B) { benchPut(b, smallBytes) }
func BenchmarkPutLarge(b *testing.B) { benchPut(b, largeBytes) }

// BenchmarkPutAlone has one caller, so that each batch is a separate commit.
func BenchmarkPutAlone(b *testing.B) {
	s := open(b, b.TempDir())
	fill(b, s, benchPending, benchShards)
	ops := puts(b.N, smallBytes, benchShards)
	perRow(b, func() {
		for from := 0; from < b.N; from += benchBatch {
			if _, err := s.Write(b.Context(), benchNow, ops[from:min(from+benchBatch, b.N)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFinishDone finishes timers in the order in which they are due, as the dispatcher does.
func BenchmarkFinishDone(b *testing.B) {
	s := open(b, b.TempDir())
	fill(b, s, benchPending, benchShards)
	all := fill(b, s, b.N, benchShards)
	slices.SortFunc(all, func(a, b store.Put) int { return cmp.Compare(a.Spec.ExecuteAt, b.Spec.ExecuteAt) })
	items := make([]store.Finish, len(all))
	for i, p := range all {
		items[i] = store.Finish{
			Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Kind: store.FinishDone,
			If: store.Guard{Generation: timer.Generation(p.Revision)},
			Record: store.Record{
				Attempt: 1, StartedAt: benchNow, FinishedAt: benchNow + timer.Millis(i/100), StatusCode: 200, KeepFor: benchRetention,
			},
		}
	}
	perRow(b, func() {
		batches(b, b.N, func(from, to int) error {
			_, err := s.Finish(b.Context(), benchNow, items[from:to])
			return err
		})
	})
}

func BenchmarkCurrent(b *testing.B) {
	s := open(b, b.TempDir())
	all := fill(b, s, benchPending, benchShards)
	checks := make([]store.Check, b.N)
	for i := range checks {
		p := all[rand.IntN(len(all))]
		checks[i] = store.Check{Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Revision: p.Revision}
	}
	perRow(b, func() {
		for from := 0; from < b.N; from += benchBatch {
			if _, err := s.Current(b.Context(), checks[from:min(from+benchBatch, b.N)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// claimAll claims the shards and returns a poll of all of them from MinKey.
func claimAll(b *testing.B, s *sqlitestore.Store) store.DueQuery {
	b.Helper()
	ids := shard.Block{Count: benchPolled}.In(0, 1)
	claimed, err := s.Claim(b.Context(), benchNow, store.Owner{Incarnation: timer.UUID{1}, Node: "bench"}, ids)
	if err != nil {
		b.Fatal(err)
	}
	q := store.DueQuery{PerShard: 1000, Total: 10_000}
	for _, c := range claimed {
		q.Shards = append(q.Shards, store.DueAfter{Claim: c.Claim, After: c.Watermark})
	}
	return q
}

// BenchmarkDueIdle polls 256 shards with nothing due. b.N counts polls.
func BenchmarkDueIdle(b *testing.B) {
	s := open(b, b.TempDir())
	fill(b, s, benchPending, benchPolled)
	q := claimAll(b, s)
	q.Horizon = benchNow - 1
	for b.Loop() {
		if _, err := s.Due(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDueBusy reads 10,000 due rows of 256 shards in one poll.
func BenchmarkDueBusy(b *testing.B) {
	s := open(b, b.TempDir())
	fill(b, s, benchPending, benchPolled)
	q := claimAll(b, s)
	q.Horizon = timer.Never - 1
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
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkCount counts 100,000 pending timers.
func BenchmarkCount(b *testing.B) {
	s := open(b, b.TempDir())
	fill(b, s, benchPending, benchPolled)
	for b.Loop() {
		if _, err := s.Count(b.Context(), benchNow); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLists runs storebench.Lists with TIMERBUS_BENCH_ROWS timers. If TIMERBUS_BENCH_FOLDER is set, it is the data
// folder, and the timers stay there for the next run.
func BenchmarkLists(b *testing.B) {
	folder := os.Getenv("TIMERBUS_BENCH_FOLDER")
	if folder == "" {
		folder = b.TempDir()
	}
	if _, err := os.Stat(filepath.Join(folder, "timerbus.db")); errors.Is(err, fs.ErrNotExist) {
		// With the default cache, a few million timers take half an hour.
		s, err := sqlitestore.Open(b.Context(), sqlitestore.Options{Folder: folder, CacheMiB: 1024, WALMiB: 1024})
		if err != nil {
			b.Fatal(err)
		}
		storebench.Fill(b, s, storebench.Rows(b))
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	storebench.Lists(b, open(b, folder))
}
