package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// crowdHosts is the number of hosts to which the backlog of the phase fairness is delivered.
	crowdHosts = 45
	// crowdShards is the number of shards of the namespace with the backlog.
	crowdShards = 1024
)

// fairness measures the lateness of the timers of a small namespace: alone, and while another namespace has a backlog.
func (r *run) fairness(ctx context.Context, f *figures) (err error) {
	addresses, err := r.openHosts(ctx, crowdHosts, 0)
	if err != nil {
		return err
	}
	defer func() {
		_, closing := r.openHosts(context.WithoutCancel(ctx), 0, 0)
		err = errors.Join(err, closing)
	}()
	for i := range addresses {
		addresses[i] += FirePath
	}
	crowd := r.Namespace + "-crowd"
	if err := r.namespace(ctx, crowd, crowdShards, `{}`); err != nil {
		return err
	}
	alone, err := r.small(ctx, "alone", nil)
	if err != nil {
		return err
	}
	beside, err := r.small(ctx, "beside", func(name string, due time.Time) *set {
		return newSet(crowd, r.id+"-crowd"+name+"-", addresses, SmallPayload, r.Plan.Crowd, func(int) time.Time { return due })
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("small namespace at %.0f/s", r.Plan.SmallRate)
	f.add("alone_p50", what+": p50", Milliseconds, alone.Lateness.P50)
	f.add("alone_p99", what+": p99", Milliseconds, alone.Lateness.P99)
	what = fmt.Sprintf("the same while another namespace has %s due", thousands(r.Plan.Crowd))
	f.add("beside_p50", what+": p50", Milliseconds, beside.Lateness.P50)
	f.add("beside_p99", what+": p99", Milliseconds, beside.Lateness.P99)
	f.add("beside_max", what+": max", Milliseconds, beside.Lateness.Max)
	f.add("above", "fairness: p99 with the backlog minus p99 alone", Milliseconds, beside.Lateness.P99-alone.Lateness.P99)
	f.add("crowd_rate", "fairness: fires/s of the backlog", PerSecond, float64(beside.Strays)/r.Plan.SmallSpan.Seconds())
	f.add("early", "fairness: early callbacks", Count, float64(alone.Early+beside.Early))
	f.add("duplicates", "fairness: duplicate callbacks", Count, float64(alone.Duplicates+beside.Duplicates))
	return nil
}

// small fires timers of a small namespace at a steady rate, starting at the due time of the backlog that crowd
// describes, and returns the report on the timers of the small namespace. crowd is nil if there is no backlog.
func (r *run) small(ctx context.Context, name string, crowd func(name string, due time.Time) *set) (Report, error) {
	var others *set
	also := func(name string, due time.Time) error {
		if others != nil { // from an earlier try
			if err := r.remove(ctx, r.phase, others); err != nil {
				return err
			}
		}
		others = crowd(name, due)
		r.armed = append(r.armed, others)
		_, err := r.inBatches(ctx, others, "create the timers of a backlog")
		return err
	}
	more := r.Plan.Crowd
	if crowd == nil {
		also, more = nothing, 0
	}
	count := max(1, int(r.Plan.SmallRate*r.Plan.SmallSpan.Seconds()))
	due, s, err := r.armOver(ctx, "fairness-"+name, r.Namespace, []string{r.Callback}, count, more,
		func(due time.Time, n int) time.Time {
			return due.Add(time.Duration(float64(n) / r.Plan.SmallRate * float64(time.Second)))
		}, also)
	if err != nil {
		return Report{}, err
	}
	return r.fireWith(ctx, s, others, due)
}
