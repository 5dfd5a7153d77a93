package bench

import (
	"context"
	"fmt"
)

const (
	createPath = "/api/v1/timers/create"
	batchPath  = "/api/v1/timers/batch-create"
)

// create measures single creates with a small payload.
func (r *run) create(ctx context.Context, f *figures) error {
	return r.singles(ctx, f, r.pendingSet("create", SmallPayload, r.Plan.Creates), "creates over HTTP")
}

// large measures single creates with a large payload.
func (r *run) large(ctx context.Context, f *figures) error {
	return r.singles(ctx, f, r.pendingSet("large", LargePayload, r.Plan.Large), "creates with a 1.5 KB payload")
}

func (r *run) singles(ctx context.Context, f *figures, s *set, what string) error {
	r.Watch.begin(Step{Phase: r.phase, What: what, Total: s.count})
	end, err := r.spend(ctx)
	if err != nil {
		return err
	}
	l := load{
		target: r.Target, path: createPath, connections: r.Plan.Connections, requests: s.count,
		body: s.appendCreate, done: &r.Watch.done,
	}
	sent, err := l.run(ctx)
	if err != nil {
		return err
	}
	m, err := end()
	if err != nil {
		return err
	}
	f.add("rate", fmt.Sprintf("%s, %d connections", what, r.Plan.Connections), PerSecond, sent.rate(1))
	f.add("p50", what+": p50", Milliseconds, milliseconds(sent.latencies.quantile(.5)))
	f.add("p99", what+": p99", Milliseconds, milliseconds(sent.latencies.quantile(.99)))
	f.addCost(what, m.cost, s.count)
	return nil
}

// batch measures creates in batches. It creates the timers that are missing from Plan.Pending, at least a tenth of
// Plan.Pending.
func (r *run) batch(ctx context.Context, f *figures) error {
	s := r.pendingSet("batch", SmallPayload, max(r.Plan.Pending-r.pending, r.Plan.Pending/10))
	end, err := r.spend(ctx)
	if err != nil {
		return err
	}
	sent, err := r.inBatches(ctx, s, "creates in batches of 100")
	if err != nil {
		return err
	}
	m, err := end()
	if err != nil {
		return err
	}
	f.add("rate", fmt.Sprintf("creates in batches of %d, %d connections", BatchSize, r.Plan.BatchConnections),
		PerSecond, float64(s.count)/sent.took.Seconds())
	f.add("p50", "a batch: p50", Milliseconds, milliseconds(sent.latencies.quantile(.5)))
	f.add("p99", "a batch: p99", Milliseconds, milliseconds(sent.latencies.quantile(.99)))
	f.addCost("creates in batches", m.cost, s.count)
	return nil
}

// inBatches creates a set in batches, as fast as possible.
func (r *run) inBatches(ctx context.Context, s *set, what string) (loaded, error) {
	batches := (s.count + BatchSize - 1) / BatchSize
	r.Watch.begin(Step{Phase: r.phase, What: what, Total: batches})
	l := load{
		target: r.Target, path: batchPath, connections: r.Plan.BatchConnections, requests: batches,
		body: func(to []byte, i int) []byte {
			return s.appendBatch(to, i*BatchSize, min((i+1)*BatchSize, s.count))
		},
		check: allTaken, done: &r.Watch.done,
	}
	sent, err := l.run(ctx)
	if err == nil && s.count > 0 {
		r.batchRate = float64(s.count) / sent.took.Seconds()
	}
	return sent, err
}

// fill creates pending timers until there are count.
func (r *run) fill(ctx context.Context, count int) error {
	missing := count - r.pending
	if missing <= 0 {
		return nil
	}
	_, err := r.inBatches(ctx, r.pendingSet("fill"+r.phase, SmallPayload, missing), "fill up with pending timers")
	return err
}
