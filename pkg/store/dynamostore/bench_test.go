package dynamostore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// These benchmarks measure cost, not time: requests and capacity units per timer, as the service counts them, together
// with the lower bound for any design that has an ordered index and a history. docs/dynamodb.md has the results and the
// cost. b.N counts timers. DynamoDB Local counts units as AWS does, except that it counts no unit for a Query that
// finds nothing, for which AWS charges one. Its speed is not representative. benchmark/cost measures the running
// service, under load and idle; `make bench-dynamodb` runs both.

// The list price on demand in us-east-1, in dollars per million units.
const (
	dollarsPerMillionWrites = 0.625
	dollarsPerMillionReads  = 0.125
)

const (
	benchShards = 16
	benchBatch  = 100
)

// bill is the cost per timer.
type bill struct{ requests, reads, writes float64 }

// writeOperations are the operations whose units are write units.
var writeOperations = map[string]bool{"PutItem": true, "UpdateItem": true, "DeleteItem": true, "TransactWriteItems": true}

func (w *watcher) bill() bill {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := bill{reads: w.empty}
	for operation, units := range w.total {
		sum.requests += float64(w.requests[operation])
		if writeOperations[operation] {
			sum.writes += units
		} else {
			sum.reads += units
		}
	}
	return sum
}

// measure reports the cost of run, divided by n, and the lower bound.
func measure(b *testing.B, w *watcher, n float64, each string, least bill, run func()) {
	b.Helper()
	before := w.bill()
	b.ResetTimer()
	run()
	b.StopTimer()
	after := w.bill()
	took := bill{(after.requests - before.requests) / n, (after.reads - before.reads) / n, (after.writes - before.writes) / n}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(took.requests, "requests/"+each)
	b.ReportMetric(least.requests, "least-requests/"+each)
	if took.reads+least.reads > 0 {
		b.ReportMetric(took.reads, "RRU/"+each)
		b.ReportMetric(least.reads, "least-RRU/"+each)
	}
	if took.writes+least.writes > 0 {
		b.ReportMetric(took.writes, "WRU/"+each)
		b.ReportMetric(least.writes, "least-WRU/"+each)
	}
	b.ReportMetric(took.reads*dollarsPerMillionReads+took.writes*dollarsPerMillionWrites, "$/M-"+each+"s")
}

func benched(b *testing.B) (*dynamostore.Store, *watcher) {
	b.Helper()
	o := theServer(b).database(b)
	w := newWatcher()
	o.Observer = w
	return open(b, o), w
}

// timersOf returns n creates over the shards, due at the present time.
func timersOf(n int) []store.Op {
	ops := make([]store.Op, n)
	for i := range ops {
		ops[i] = putIn(shard.ID(i%benchShards), fmt.Sprintf("order-%d", rand.Uint64()), present)
	}
	return ops
}

func inBatches(n int, do func(from, upto int)) {
	for from := 0; from < n; from += benchBatch {
		do(from, min(n, from+benchBatch))
	}
}

func BenchmarkCreate(b *testing.B) {
	s, w := benched(b)
	ops := timersOf(b.N)
	// One write of the row and one of the index entry, each up to 1 KB.
	measure(b, w, float64(b.N), "timer", bill{requests: 1, writes: 2}, func() {
		inBatches(b.N, func(from, upto int) { made(b, s, ops[from:upto]...) })
	})
}

// BenchmarkCreateKept creates timers with onConflict keep, which also reads whether the timer exists or existed.
func BenchmarkCreateKept(b *testing.B) {
	s, w := benched(b)
	ops := timersOf(b.N)
	for i := range ops {
		if put, ok := ops[i].(store.Put); ok {
			put.OnConflict = store.Keep
			ops[i] = put
		}
	}
	// In addition to the create, one read of history.
	measure(b, w, float64(b.N), "timer", bill{requests: 2, reads: 1, writes: 2}, func() {
		inBatches(b.N, func(from, upto int) { made(b, s, ops[from:upto]...) })
	})
}

// BenchmarkReschedule updates executeAt of pending timers.
func BenchmarkReschedule(b *testing.B) {
	s, w := benched(b)
	var updates []store.Op
	inBatches(b.N, func(from, upto int) {
		for i, t := range made(b, s, timersOf(upto-from)...) {
			updates = append(updates, store.Update{
				Ref: store.Ref{Shard: shard.ID(i % benchShards), UUID: t.UUID}, Revision: revisions.Next(),
				Patch: timer.Patch{ExecuteAt: new(present + 60_000)},
			})
		}
	})
	// The row is written, its index entry moves, and the patch needs to read the row.
	measure(b, w, float64(b.N), "timer", bill{requests: 2, reads: 1, writes: 3}, func() {
		inBatches(b.N, func(from, upto int) { made(b, s, updates[from:upto]...) })
	})
}

// BenchmarkFire polls and checks rows.
func BenchmarkFire(b *testing.B) {
	s, w := benched(b)
	inBatches(b.N, func(from, upto int) { made(b, s, timersOf(upto-from)...) })
	claims := claimed(b, s, count(benchShards)...)
	// The row check reads every row, one unit for up to 4 KB; an entry of the index is about 250 bytes.
	least := bill{requests: 1.0/benchBatch + 1.0/1000, reads: 1 + 250.0/4096}
	measure(b, w, float64(b.N), "timer", least, func() {
		q := dueIn(claims)
		for left := b.N; left > 0; {
			answer, err := s.Due(b.Context(), q)
			if err != nil {
				b.Fatal(err)
			}
			var checks []store.Check
			for i := range answer {
				for _, r := range answer[i].Rows {
					checks = append(checks, store.Check{Ref: r.Ref, DueAt: r.DueAt, Revision: r.Revision})
					q.Shards[i].After = r.Key()
				}
			}
			if len(checks) == 0 {
				b.Fatalf("%d timers are not due", left)
			}
			left -= len(checks)
			inBatches(len(checks), func(from, upto int) {
				if _, err := s.Current(b.Context(), checks[from:upto]); err != nil {
					b.Fatal(err)
				}
			})
		}
	})
}

// BenchmarkFinish measures a success, a retry and a lease.
func BenchmarkFinish(b *testing.B) {
	for _, c := range []struct {
		name  string
		kind  store.FinishKind
		least bill
	}{
		// The row and its index entry are deleted, and an item of history is written. The transaction doubles the cost.
		{"done", store.FinishDone, bill{requests: 1, writes: 3}},
		// The row is written, its index entry moves (one delete, one insert), and an item of history is written.
		{"retry", store.FinishRetry, bill{requests: 1, writes: 4}},
		// The row is written and its index entry moves.
		{"leased", store.FinishLeased, bill{requests: 1, writes: 3}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, w := benched(b)
			var items []store.Finish
			inBatches(b.N, func(from, upto int) {
				for i, t := range made(b, s, timersOf(upto-from)...) {
					items = append(items, finishOf(shard.ID(i%benchShards), &t, c.kind))
				}
			})
			measure(b, w, float64(b.N), "timer", c.least, func() {
				inBatches(b.N, func(from, upto int) {
					errs, err := s.Finish(b.Context(), present, items[from:upto])
					if err != nil {
						b.Fatal(err)
					}
					for _, err := range errs {
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		})
	}
}
