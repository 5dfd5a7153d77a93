package storebench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	payload   = 200 // bytes
	retention = 24 * time.Hour
	// manyWriters are the concurrent callers of single rows, and writers those of batches, like those of ingest.
	manyWriters, writers = 16, 2
)

// Measure runs b.N rows of a benchmark and reports their time.
type Measure func(b *testing.B, run func())

// Elapsed is the simplest Measure: rows/s by the wall clock.
func Elapsed(b *testing.B, run func()) {
	b.ResetTimer()
	run()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

var revisions = timer.NewRevisions(timer.SystemClock, rand.Uint64)

// Puts returns n creates of new timers, due over an hour and spread over the shards from 0 on.
func Puts(n, shards int) []store.Op {
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
				ExecuteAt:       now + timer.Millis(rand.Int64N(3_600_000)),
				CallbackURL:     "http://127.0.0.1:9000/orders/reminders",
				CallbackTimeout: timer.DefaultCallbackTimeout,
				Retry:           timer.DefaultRetryPolicy(),
				Payload:         body,
			},
		}
	}
	return ops
}

// Create writes n new timers and returns them in the order in which they are due.
func Create(tb testing.TB, s store.Store, n int) []store.Put {
	tb.Helper()
	all := make([]store.Put, 0, n)
	for len(all) < n {
		ops := Puts(min(5000, n-len(all)), shards)
		if _, err := s.Write(tb.Context(), now, ops); err != nil {
			tb.Fatal(err)
		}
		for _, op := range ops {
			if put, ok := op.(store.Put); ok {
				all = append(all, put)
			}
		}
	}
	slices.SortFunc(all, func(a, b store.Put) int { return cmp.Compare(a.Spec.ExecuteAt, b.Spec.ExecuteAt) })
	return all
}

// Batches calls run for each batch of [0, n), from several goroutines.
func Batches(b *testing.B, n, size, writers int, run func(from, to int) error) {
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

// Writes measures creates, single and in batches.
func Writes(b *testing.B, s store.Store, measure Measure) {
	for _, c := range []struct{ batch, writers int }{{1, manyWriters}, {100, writers}, {500, writers}} {
		b.Run(fmt.Sprintf("batch=%d", c.batch), func(b *testing.B) {
			ops := Puts(b.N, shards)
			measure(b, func() {
				Batches(b, b.N, c.batch, c.writers, func(from, to int) error {
					_, err := s.Write(b.Context(), now, ops[from:to])
					return err
				})
			})
		})
	}
}

// Finishes measures outcomes of a kind, in batches, in the order in which the timers are due.
func Finishes(b *testing.B, s store.Store, measure Measure, kind store.FinishKind) {
	for _, size := range []int{100, 500} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			items := Outcomes(Create(b, s, b.N), kind)
			measure(b, func() {
				Batches(b, b.N, size, writers, func(from, to int) error {
					return FirstError(s.Finish(b.Context(), now, items[from:to]))
				})
			})
		})
	}
}

// Outcomes returns an outcome of a kind for each timer.
func Outcomes(all []store.Put, kind store.FinishKind) []store.Finish {
	finished := timer.SystemClock() // so that history is in a day's partition
	items := make([]store.Finish, len(all))
	for i, p := range all {
		items[i] = store.Finish{
			Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Kind: kind,
			If:   store.Guard{Generation: timer.Generation(p.Revision)},
			Next: revisions.Next(), NextAt: p.Spec.ExecuteAt + 30_000,
			Record: store.Record{
				Attempt: 1, StartedAt: finished - 1, FinishedAt: finished, StatusCode: 200, KeepFor: retention,
			},
		}
	}
	return items
}

// FirstError returns the first error of a batch.
func FirstError(errs []error, err error) error {
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return err
}

// Checks measures row checks in batches of 64.
func Checks(b *testing.B, s store.Store, measure Measure, all []store.Put) {
	checks := make([]store.Check, b.N)
	for i := range checks {
		p := all[rand.IntN(len(all))]
		checks[i] = store.Check{Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Revision: p.Revision}
	}
	measure(b, func() {
		Batches(b, b.N, 64, writers, func(from, to int) error {
			_, err := s.Current(b.Context(), checks[from:to])
			return err
		})
	})
}

// Polls measures polls of all shards that find 0, 1,000 and 10,000 due rows. all has the store's timers in the order in which
// they are due. b.N counts polls.
func Polls(b *testing.B, s store.Store, all []store.Put) {
	q := ClaimAll(b, s)
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
}

// ClaimAll claims all shards and returns a poll of them.
func ClaimAll(tb testing.TB, s store.Store) store.DueQuery {
	tb.Helper()
	claimed, err := s.Claim(tb.Context(), now, store.Owner{Incarnation: timer.UUID{1}, Node: "bench"}, shard.Block{Count: shards}.In(0, 1))
	if err != nil {
		tb.Fatal(err)
	}
	q := store.DueQuery{PerShard: 1000, Total: 10_000}
	for _, c := range claimed {
		q.Shards = append(q.Shards, store.DueAfter{Claim: c.Claim, After: c.Watermark})
	}
	return q
}
