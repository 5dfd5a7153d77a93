package storebench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	now       = timer.Millis(1_800_000_000_000)
	namespace = "bench"
	// A session polls the shards of its partition, which are 64.
	shards, partitions = 1024, 16
	// span is the period in which timers are due.
	span = 30 * 24 * time.Hour
	// overdue is how many timers are due at the beginning, so that polls return rows.
	overdue = 1000
	// parkedEvery, retryingEvery, endedEvery and deadEvery: one of so many timers is in that state.
	parkedEvery, retryingEvery, endedEvery, deadEvery = 1000, 100, 25, 2500

	pollEvery  = 30 * time.Millisecond // 16 sessions, each every half second
	countEvery = 15 * time.Second      // as the service does
	pageLimit  = 100
)

// Fill creates timers in every state, and history, in an empty store.
func Fill(b *testing.B, s store.Store, rows int) {
	ns, err := s.CreateNamespace(b.Context(), store.Namespace{
		Name: namespace, Shards: shard.Block{Count: shards}, Settings: store.DefaultSettings(),
	})
	if err != nil {
		b.Fatal(err)
	}
	l := &lists{store: s, ns: ns}
	l.fill(b, rows)
}

// Lists measures a store that Fill has filled: polls (Due) and pages (List) while 8 clients list in one way, and in all
// ways together.
func Lists(b *testing.B, s store.Store) {
	ns, err := s.GetNamespace(b.Context(), namespace)
	if err != nil {
		b.Fatal(err)
	}
	l := &lists{store: s, ns: ns}
	l.claim(b)
	l.measure(b, "alone", nil)
	for _, k := range kinds() {
		l.measure(b, k.name, []kind{k})
	}
	l.measure(b, "all", kinds())
}

// lists is one measurement.
type lists struct {
	store store.Store
	ns    store.Namespace
	polls []store.DueQuery
}

// kind is a kind of list query.
type kind struct {
	name  string
	query store.ListQuery
}

func kinds() []kind {
	at := now.Add
	return []kind{
		{"parked", store.ListQuery{Status: timer.StatusParked}},
		{"retrying", store.ListQuery{Status: timer.StatusRetrying}},
		{"due-in-an-hour", store.ListQuery{DueFrom: at(240 * time.Hour), DueBefore: at(241 * time.Hour)}},
		{"due-in-half-the-time", store.ListQuery{DueBefore: at(span / 2)}},
		{"scheduled", store.ListQuery{Status: timer.StatusScheduled}},
		{"correlation", store.ListQuery{CorrelationID: "correlation-7"}},
		{"dead", store.ListQuery{Status: timer.StatusDead}},
		{"everything", store.ListQuery{}},
	}
}

func (l *lists) fill(b *testing.B, rows int) {
	b.Helper()
	const batch, writers = 2000, 4
	var group sync.WaitGroup
	next := make(chan int)
	for range writers {
		group.Go(func() {
			for from := range next {
				if err := l.write(b.Context(), from, min(from+batch, rows)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for from := 0; from < rows && !b.Failed(); from += batch {
		next <- from
	}
	close(next)
	group.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// write creates the timers [from, upto) and brings some of them into other states.
func (l *lists) write(ctx context.Context, from, upto int) error {
	ops := make([]store.Op, 0, upto-from)
	var ends []store.Finish
	for i := from; i < upto; i++ {
		p := l.put(i)
		ops = append(ops, p)
		for kind, every := range map[store.FinishKind]int{
			store.FinishParked: parkedEvery, store.FinishRetry: retryingEvery, store.FinishDead: deadEvery,
		} {
			if i%every == int(kind) {
				ends = append(ends, l.finish(&p, kind))
			}
		}
		if i%endedEvery == 0 {
			p = l.put(-i - 1)
			ops = append(ops, p)
			ends = append(ends, l.finish(&p, store.FinishDone))
		}
	}
	if _, err := l.store.Write(ctx, now, ops); err != nil {
		return err
	}
	_, err := l.store.Finish(ctx, now, ends)
	return err
}

func (l *lists) put(i int) store.Put {
	id := fmt.Sprintf("order-%d", i)
	p := store.Put{
		Ref:       store.Ref{Shard: l.ns.Shards.Place(id), UUID: timer.UUIDOf(l.ns.Name, id)},
		Namespace: l.ns.Name, ID: id, Revision: timer.Revision(rand.Int64()),
		Spec: timer.Spec{
			ExecuteAt:   now + timer.Millis(rand.Int64N(span.Milliseconds())),
			CallbackURL: "http://127.0.0.1:9000/orders/reminders", CallbackTimeout: timer.DefaultCallbackTimeout,
			Retry: timer.DefaultRetryPolicy(), Payload: fmt.Appendf(nil, `{"text":"%0190d"}`, i),
		},
	}
	if i >= 0 && i < overdue {
		p.Spec.ExecuteAt = now
	}
	if i%5 == 0 {
		p.Spec.CorrelationID = fmt.Sprintf("correlation-%d", i/5%1000)
	}
	return p
}

func (l *lists) finish(p *store.Put, kind store.FinishKind) store.Finish {
	finished := timer.SystemClock() // PostgreSQL has partitions of history for the present time
	return store.Finish{
		Ref: p.Ref, DueAt: p.Spec.ExecuteAt, Kind: kind,
		If:   store.Guard{Generation: timer.Generation(p.Revision)},
		Next: p.Revision + 1, NextAt: p.Spec.ExecuteAt,
		Record: store.Record{
			Attempt: 1, StartedAt: finished, FinishedAt: finished, StatusCode: 500, KeepFor: 24 * time.Hour,
		},
	}
}

func (l *lists) claim(b *testing.B) {
	b.Helper()
	for p := range partitions {
		claimed, err := l.store.Claim(b.Context(), now, store.Owner{Incarnation: timer.UUID{1}},
			l.ns.Shards.In(shard.Partition(p), partitions))
		if err != nil {
			b.Fatal(err)
		}
		q := store.DueQuery{Horizon: now + 2000, PerShard: 1000, Total: 10_000}
		for _, c := range claimed {
			q.Shards = append(q.Shards, store.DueAfter{Claim: c.Claim, After: c.Watermark})
		}
		l.polls = append(l.polls, q)
	}
}

// measure polls while 8 clients list and gauges are read, and reports the durations.
func (l *lists) measure(b *testing.B, name string, listed []kind) {
	b.Helper()
	b.Run(name, func(b *testing.B) {
		const clients, length = 8, 15 * time.Second
		ctx, cancel := context.WithTimeout(b.Context(), length)
		defer cancel()
		var group sync.WaitGroup
		pages := make([]samples, len(kinds()))
		var mu sync.Mutex
		for client := range clients {
			if len(listed) == 0 {
				break
			}
			group.Go(func() {
				for i := client; ctx.Err() == nil; i++ {
					which := i % len(listed)
					mine, err := l.walk(ctx, listed[which].query)
					if err != nil && ctx.Err() == nil {
						b.Error(err)
					}
					mu.Lock()
					pages[which] = append(pages[which], mine...)
					mu.Unlock()
				}
			})
		}
		var counts samples
		if census, ok := store.As[store.Census](l.store); ok {
			group.Go(func() {
				every(ctx, countEvery, func() {
					began := time.Now()
					if _, err := census.Count(ctx, now); err != nil && ctx.Err() == nil {
						b.Error(err)
					}
					counts = append(counts, time.Since(began))
				})
			})
		}
		var polls samples
		turn := 0
		every(ctx, pollEvery, func() {
			began := time.Now()
			// Without ctx, so that a poll that is still running at the end counts with its whole duration.
			if _, err := l.store.Due(b.Context(), l.polls[turn%partitions]); err != nil {
				b.Error(err)
			}
			polls = append(polls, time.Since(began))
			turn++
		})
		group.Wait()
		polls.report(b, "due")
		counts.report(b, "count")
		var all samples
		for _, of := range pages {
			all = append(all, of...)
		}
		if len(all) > 0 {
			all.report(b, "page")
			b.ReportMetric(float64(len(all))/length.Seconds(), "pages/s")
		}
		b.ReportMetric(0, "ns/op")
	})
}

// walk lists from the beginning, page by page, for at most a second, so that one client with a long list does not
// dominate the results.
func (l *lists) walk(ctx context.Context, q store.ListQuery) (samples, error) {
	q.Namespace, q.Limit = l.ns, pageLimit
	var took samples
	for began := time.Now(); time.Since(began) < time.Second; {
		asked := time.Now()
		page, err := l.store.List(ctx, now, q)
		if err != nil {
			return took, err
		}
		took = append(took, time.Since(asked))
		if q.After = page.Next; len(page.Next) == 0 {
			break
		}
	}
	return took, nil
}

// every calls do at regular intervals until ctx ends. It omits intervals that it has missed.
func every(ctx context.Context, step time.Duration, do func()) {
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	for {
		do()
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
	}
}

type samples []time.Duration

func (s samples) report(b *testing.B, what string) {
	b.Helper()
	if len(s) == 0 {
		return
	}
	slices.Sort(s)
	for name, part := range map[string]float64{"p50": 0.50, "p99": 0.99, "max": 1} {
		at := s[min(len(s)-1, int(part*float64(len(s))))]
		b.ReportMetric(float64(at.Microseconds())/1000, what+"-"+name+"-ms")
	}
}

// Rows returns the number of timers of a benchmark: TIMERBUS_BENCH_ROWS, or 100,000.
func Rows(b *testing.B) int {
	b.Helper()
	text := os.Getenv("TIMERBUS_BENCH_ROWS")
	if text == "" {
		return 100_000
	}
	rows, err := strconv.Atoi(text)
	if err != nil || rows < 1 {
		b.Fatalf("TIMERBUS_BENCH_ROWS=%q: want a number of timers", text)
	}
	return rows
}
