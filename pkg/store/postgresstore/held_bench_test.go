//go:build unix

package postgresstore_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/internal/store/storebench"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// BenchmarkHeldSnapshot simulates 20 minutes of a scheduler's work: in each of 1,200 seconds, timers fire and every
// watermark advances. With held=true, a REPEATABLE READ transaction stays open, so that no dead row version is removed.
// It reports how long a session's queries about its 64 shards take: the median, p99, and the minimum, which other load
// on the machine affects least. sweep is Overdue from the first key, floor is Overdue from a minute ago.
func BenchmarkHeldSnapshot(b *testing.B) {
	for _, server := range servers(b) {
		for _, held := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/held=%t", server.name, held), func(b *testing.B) { heldSnapshot(b, server.database(b), held) })
		}
	}
}

const (
	heldSessions  = 4
	heldShards    = 64 * heldSessions
	heldSeconds   = 1200
	heldPerSecond = 167 // 200,000 timers
	heldPending   = 20_000
)

func heldSnapshot(b *testing.B, db *database, held bool) {
	b.Helper()
	s, err := postgresstore.Open(b.Context(), postgresstore.Options{URL: db.url})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	h := &heldRun{store: s, claims: make([][]store.Claim, heldSessions)}
	for i := range h.claims {
		claimed, err := s.Claim(b.Context(), benchNow, store.Owner{Incarnation: timer.UUID{1}, Node: "bench"},
			shard.Block{Count: heldShards}.In(shard.Partition(i), heldSessions))
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range claimed {
			h.claims[i] = append(h.claims[i], c.Claim)
		}
	}
	h.write(b, heldPending, 2*time.Hour)
	db.execute(b, "VACUUM ANALYZE", "CHECKPOINT")
	if held {
		other, err := pgx.Connect(b.Context(), db.url)
		if err != nil {
			b.Fatal(err)
		}
		defer other.Close(b.Context())
		if _, err := other.Exec(b.Context(), "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT"); err != nil {
			b.Fatal(err)
		}
	}
	for _, seconds := range []int{0, heldSeconds / 4, heldSeconds / 2, heldSeconds} {
		for h.seconds < seconds {
			h.second(b)
		}
		for _, ask := range []struct {
			what string
			ask  func(b *testing.B, claims []store.Claim)
		}{{"advance", h.advance}, {"due", h.due}, {"sweep", h.sweep}, {"floor", h.floor}} {
			b.Run(fmt.Sprintf("fired=%d/%s", seconds*heldPerSecond, ask.what), func(b *testing.B) {
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					ask.ask(b, h.claims[len(took)%heldSessions])
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[0].Microseconds())/1000, "ms-min")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
			})
		}
	}
}

type heldRun struct {
	store   *postgresstore.Store
	claims  [][]store.Claim
	seconds int
}

func (h *heldRun) now() timer.Millis { return benchNow.Add(time.Duration(h.seconds) * time.Second) }

// write creates timers that are due from now + ahead on, one per millisecond.
func (h *heldRun) write(b *testing.B, n int, ahead time.Duration) (all []store.Put) {
	b.Helper()
	for len(all) < n {
		ops := storebench.Puts(min(5000, n-len(all)), heldShards)
		for i := range ops {
			put, _ := ops[i].(store.Put)
			put.Spec.ExecuteAt = h.now().Add(ahead) + timer.Millis(len(all))
			ops[i] = put
			all = append(all, put)
		}
		if _, err := h.store.Write(b.Context(), h.now(), ops); err != nil {
			b.Fatal(err)
		}
	}
	return all
}

// second fires timers and advances all watermarks.
func (h *heldRun) second(b *testing.B) {
	b.Helper()
	fired := h.write(b, heldPerSecond, 0)
	h.seconds++
	if err := storebench.FirstError(h.store.Finish(b.Context(), h.now(), storebench.Outcomes(fired, store.FinishDone))); err != nil {
		b.Fatal(err)
	}
	for _, claims := range h.claims {
		h.advance(b, claims)
	}
}

func (h *heldRun) advance(b *testing.B, claims []store.Claim) {
	b.Helper()
	items := make([]store.Advance, len(claims))
	for i, c := range claims {
		items[i] = store.Advance{Claim: c, Watermark: store.MaxKeyAt(h.now())}
	}
	if err := storebench.FirstError(h.store.Advance(b.Context(), h.now(), items)); err != nil {
		b.Fatal(err)
	}
}

func (h *heldRun) due(b *testing.B, claims []store.Claim) {
	b.Helper()
	q := store.DueQuery{Horizon: h.now().Add(30 * time.Second), PerShard: 1000, Total: 10_000}
	for _, c := range claims {
		q.Shards = append(q.Shards, store.DueAfter{Claim: c, After: store.MaxKeyAt(h.now())})
	}
	answer, err := h.store.Due(b.Context(), q)
	if err != nil {
		b.Fatal(err)
	}
	for i := range answer {
		if answer[i].Err != nil || len(answer[i].Rows) > 0 {
			b.Fatalf("due answers %+v", answer[i])
		}
	}
}

func (h *heldRun) sweep(b *testing.B, claims []store.Claim) {
	b.Helper()
	h.overdue(b, claims, store.MinKey())
}

func (h *heldRun) floor(b *testing.B, claims []store.Claim) {
	b.Helper()
	h.overdue(b, claims, store.MaxKeyAt(h.now().Add(-time.Minute)))
}

func (h *heldRun) overdue(b *testing.B, claims []store.Claim, from store.Key) {
	b.Helper()
	q := store.OverdueQuery{Before: h.now(), Limit: 1000}
	for _, c := range claims {
		q.Shards = append(q.Shards, store.OverdueRange{Claim: c, From: from, Upto: store.MaxKeyAt(h.now())})
	}
	answer, err := h.store.Overdue(b.Context(), q)
	if err != nil {
		b.Fatal(err)
	}
	for i := range answer {
		if answer[i].Err != nil || len(answer[i].Rows) > 0 {
			b.Fatalf("overdue answers %+v", answer[i])
		}
	}
}
