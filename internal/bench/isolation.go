package bench

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// isolationHosts is the number of hosts of the phase isolation; hangingHosts of them hang.
const isolationHosts, hangingHosts = 50, 5

// isolation measures the lateness of timers for healthy hosts when all are due at one instant: alone, and together with
// timers for hosts that hang.
func (r *run) isolation(ctx context.Context, f *figures) (err error) {
	addresses, err := r.openHosts(ctx, isolationHosts, r.Plan.Hang)
	if err != nil {
		return err
	}
	defer func() {
		_, closing := r.openHosts(context.WithoutCancel(ctx), 0, 0)
		err = errors.Join(err, closing)
	}()
	healthy, hanging := addresses[hangingHosts:], addresses[:hangingHosts]
	for i := range healthy {
		healthy[i] += FirePath
	}
	for i := range hanging {
		hanging[i] += hangPath
	}
	part := max(1, r.Plan.Backlog/isolationHosts) // timers per host
	alone, err := r.burst(ctx, "alone", healthy, nil, part)
	if err != nil {
		return err
	}
	before, err := r.refusals(ctx)
	if err != nil {
		return err
	}
	beside, err := r.burst(ctx, "beside", healthy, hanging, part)
	if err != nil {
		return err
	}
	after, err := r.refusals(ctx)
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s due at once over %d hosts", thousands(part*len(healthy)), len(healthy))
	f.add("alone_p50", what+": p50", Milliseconds, alone.Lateness.P50)
	f.add("alone_p99", what+": p99", Milliseconds, alone.Lateness.P99)
	what = fmt.Sprintf("the same with %s for %d hosts that hang for %.0f s",
		thousands(part*len(hanging)), len(hanging), r.Plan.Hang.Seconds())
	f.add("beside_p50", what+": p50", Milliseconds, beside.Lateness.P50)
	f.add("beside_p99", what+": p99", Milliseconds, beside.Lateness.P99)
	f.add("ratio", "isolation: p99 with hanging hosts / p99 alone", Count, beside.Lateness.P99/alone.Lateness.P99)
	f.add("refused", "isolation: deliveries postponed", Count, after-before)
	f.add("early", "isolation: early callbacks", Count, float64(alone.Early+beside.Early))
	f.add("duplicates", "isolation: duplicate callbacks", Count, float64(alone.Duplicates+beside.Duplicates))
	return nil
}

// burst fires part timers for each host at the same instant and returns the report on the timers for healthy hosts.
func (r *run) burst(ctx context.Context, name string, healthy, hanging []string, part int) (Report, error) {
	var stuck *set
	due, s, err := r.armOver(ctx, "isolation-"+name, r.Namespace, healthy, part*len(healthy), part*len(hanging),
		func(due time.Time, _ int) time.Time { return due },
		func(name string, due time.Time) error {
			if len(hanging) == 0 {
				return nil
			}
			stuck = newSet(r.Namespace, r.id+"-stuck"+name+"-", hanging, SmallPayload, part*len(hanging),
				func(int) time.Time { return due })
			r.armed = append(r.armed, stuck)
			_, err := r.inBatches(ctx, stuck, "create the timers of hosts that hang")
			return err
		})
	if err != nil {
		return Report{}, err
	}
	return r.fireWith(ctx, s, stuck, due)
}

// refusals returns how many deliveries were postponed because of their hosts.
func (r *run) refusals(ctx context.Context) (float64, error) {
	page, err := r.Target.get(ctx, "/metrics")
	return metric(page, "timerbus_dispatcher_host_refused_total"), err
}

// calm waits until no delivery is in flight.
func (r *run) calm(ctx context.Context) error {
	r.Watch.begin(Step{Phase: r.phase, What: "wait until no delivery is in flight"})
	ctx, cancel := context.WithTimeoutCause(ctx, r.Plan.Patience, errors.New("callbacks are still in flight"))
	defer cancel()
	for {
		f, err := r.fires(ctx)
		switch {
		case context.Cause(ctx) != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case f.inFlight == 0:
			return nil
		}
		if err := rest(ctx, pollEvery); err != nil {
			return err
		}
	}
}
