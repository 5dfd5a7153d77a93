package bench

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// idle measures the service while no timer is due and no request arrives.
func (r *run) idle(ctx context.Context, f *figures) error {
	return r.watchIdle(ctx, f, r.Plan.Pending)
}

// million measures the same with many more pending timers.
func (r *run) million(ctx context.Context, f *figures) error {
	return r.watchIdle(ctx, f, r.Plan.Million)
}

// tenants measures the same with Plan.Million timers, spread evenly over many namespaces. It first deletes the pending
// timers of earlier phases: they are in one namespace, so that there would be more timers than Plan.Million, or fewer
// in the many namespaces.
func (r *run) tenants(ctx context.Context, f *figures) error {
	if err := r.removePending(ctx, r.phase); err != nil {
		return err
	}
	r.Watch.begin(Step{Phase: r.phase, What: "create namespaces", Total: r.Plan.Tenants})
	name := func(n int) string { return r.Namespace + "-" + r.id + "-" + strconv.Itoa(n) }
	l := load{
		target: r.Target, path: namespacePath, connections: r.Plan.BatchConnections, requests: r.Plan.Tenants,
		body: func(to []byte, i int) []byte { return appendNamespace(to, name(i), r.Shards, `{}`) }, done: &r.Watch.done,
	}
	made, err := l.run(ctx)
	if err != nil {
		return err
	}
	s := r.pendingSet("tenants", SmallPayload, r.Plan.Million)
	s.of = func(n int) string { return name(n * r.Plan.Tenants / s.count) }
	if _, err := r.inBatches(ctx, s, "create timers in the namespaces"); err != nil {
		return err
	}
	f.add("made", "creates of namespaces over HTTP", PerSecond, made.rate(1))
	return r.watchResting(ctx, f, r.Plan.Settle, fmt.Sprintf("idle, %s namespaces of %d shards, ", thousands(r.Plan.Tenants), r.Shards))
}

func (r *run) watchIdle(ctx context.Context, f *figures, pending int) error {
	if err := r.fill(ctx, pending); err != nil {
		return err
	}
	return r.watchResting(ctx, f, r.Plan.Rest, "idle, ")
}

// watchResting measures the service after a pause.
func (r *run) watchResting(ctx context.Context, f *figures, pause time.Duration, what string) error {
	r.Watch.begin(Step{Phase: r.phase, What: "wait until the service is idle"})
	if err := rest(ctx, pause); err != nil {
		return err
	}
	r.Watch.begin(Step{Phase: r.phase, What: "measure the idle service"})
	before, err := r.Meter.Read(ctx)
	if err != nil {
		return err
	}
	if err := rest(ctx, r.Plan.Watch); err != nil {
		return err
	}
	after, err := r.Meter.Read(ctx)
	if err != nil {
		return err
	}
	what += thousands(r.pending) + " pending"
	f.add("cpu", what+": CPU", Percent, 100*(after.CPU-before.CPU).Seconds()/r.Plan.Watch.Seconds())
	f.add("memory", what+": memory", Mebibytes, mebibytes(after.Memory))
	return nil
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
