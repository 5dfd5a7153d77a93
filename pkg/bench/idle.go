package bench

import (
	"context"
	"fmt"
)

// idle watches the service while nothing is due and nobody asks anything.
func (r *run) idle(ctx context.Context, f *figures) error {
	return r.watchIdle(ctx, f, r.Plan.Pending)
}

// million does so with many more timers pending.
func (r *run) million(ctx context.Context, f *figures) error {
	return r.watchIdle(ctx, f, r.Plan.Million)
}

func (r *run) watchIdle(ctx context.Context, f *figures, pending int) error {
	if err := r.fill(ctx, pending); err != nil {
		return err
	}
	r.Watch.begin(Step{Phase: r.phase, What: "let it come to rest"})
	if err := rest(ctx, r.Plan.Rest); err != nil {
		return err
	}
	r.Watch.begin(Step{Phase: r.phase, What: "watch it idle"})
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
	what := fmt.Sprintf("idle, %s pending", thousands(r.pending))
	f.add("cpu", what+": CPU", Percent, 100*(after.CPU-before.CPU).Seconds()/r.Plan.Watch.Seconds())
	f.add("memory", what+": memory", Mebibytes, mebibytes(after.Memory))
	return nil
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
