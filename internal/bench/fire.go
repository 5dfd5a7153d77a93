package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// backlog measures how fast timers fire that are due at one instant.
func (r *run) backlog(ctx context.Context, f *figures) error {
	b, err := r.fireAtOnce(ctx, "backlog", r.Namespace, []string{r.Callback})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%s due at once, %s pending", thousands(b.count), thousands(r.pending))
	f.add("rate", "fires with HTTP callback, "+what, PerSecond, float64(b.count)/b.report.Last.Sub(b.due).Seconds())
	f.add("outcomes", "until the last outcome is written", Seconds, b.settled.Sub(b.due).Seconds())
	f.add("outcome_rate", "fires until their outcomes are written", PerSecond, b.rate)
	f.add("reads", "rows read per fire", Count, b.reads)
	f.add("first", "first callback after the due time", Milliseconds, milliseconds(b.report.First.Sub(b.due)))
	r.addCounts(f, b.caught)
	f.add("memory", "memory after the burst", Mebibytes, mebibytes(b.memory))
	f.addCost("fires of a backlog", b.cost, b.count)
	return nil
}

// burst is the result of firing a set of timers that were due at one instant.
type burst struct {
	caught

	due   time.Time
	count int
	// rate is timers fired per second, until the last outcome was written. reads is the number of rows read per timer.
	rate, reads float64
}

// fireAtOnce creates a backlog of timers that are due at one instant, and waits until they have fired.
func (r *run) fireAtOnce(ctx context.Context, name, namespace string, callbacks []string) (burst, error) {
	atOnce := func(due time.Time, _ int) time.Time { return due }
	due, s, err := r.armOver(ctx, name, namespace, callbacks, r.Plan.Backlog, 0, atOnce, nothing)
	if err != nil {
		return burst{}, err
	}
	c, err := r.fire(ctx, s, due, nil)
	if err != nil {
		return burst{}, err
	}
	count := float64(s.count)
	return burst{caught: c, due: due, count: s.count, rate: count / c.settled.Sub(due).Seconds(), reads: c.rows / count}, nil
}

// lateness measures the lateness of timers at a steady rate.
func (r *run) lateness(ctx context.Context, f *figures) error {
	return r.steady(ctx, f, fmt.Sprintf("lateness at %.0f/s", r.Plan.Rate), nil)
}

// busy measures the same while timers are created at a steady rate.
func (r *run) busy(ctx context.Context, f *figures) error {
	s := r.pendingSet("beside", SmallPayload, int(r.Plan.Beside*r.Plan.Span.Seconds()))
	l := &load{
		target: r.Target, path: createPath, connections: r.Plan.Connections, requests: s.count, rate: r.Plan.Beside,
		body: s.appendCreate, done: new(atomic.Int64), // Progress shows the callbacks, not the creates
	}
	what := fmt.Sprintf("lateness at %.0f/s during %.0f creates/s", r.Plan.Rate, r.Plan.Beside)
	return r.steady(ctx, f, what, l)
}

func (r *run) steady(ctx context.Context, f *figures, what string, beside *load) error {
	count := int(r.Plan.Rate * r.Plan.Span.Seconds())
	due, s, err := r.arm(ctx, r.phase, count, func(due time.Time, n int) time.Time {
		return due.Add(time.Duration(float64(n) / r.Plan.Rate * float64(time.Second)))
	})
	if err != nil {
		return err
	}
	c, err := r.fire(ctx, s, due, beside)
	if err != nil {
		return err
	}
	late := c.report.Lateness
	f.add("p50", what+": p50", Milliseconds, late.P50)
	f.add("p99", what+": p99", Milliseconds, late.P99)
	f.add("p999", what+": p99.9", Milliseconds, late.P999)
	f.add("max", what+": max", Milliseconds, late.Max)
	r.addCounts(f, c)
	if beside != nil {
		f.add("beside_rate", "concurrent creates", PerSecond, c.beside.rate(1))
		f.add("beside_p50", "concurrent creates: p50", Milliseconds, milliseconds(c.beside.latencies.quantile(.5)))
		f.add("beside_p99", "concurrent creates: p99", Milliseconds, milliseconds(c.beside.latencies.quantile(.99)))
	}
	f.addCost(what, c.cost, s.count)
	return nil
}

func (r *run) addCounts(f *figures, c caught) {
	f.add("early", r.phase+": early callbacks", Count, float64(c.report.Early))
	f.add("duplicates", r.phase+": duplicate callbacks", Count, float64(c.report.Duplicates))
}

// armTries is the number of tries of armOver. Each allows twice as much time as the one before.
const armTries = 3

// arm creates timers that become due about when it returns. It allows enough time to create them all before the first
// one is due, because otherwise the figures would include the creation. If that was not enough, it waits until they
// have fired and tries again.
func (r *run) arm(ctx context.Context, name string, count int, at func(due time.Time, n int) time.Time) (time.Time, *set, error) {
	return r.armOver(ctx, name, r.Namespace, []string{r.Callback}, count, 0, at, nothing)
}

func nothing(string, time.Time) error { return nil }

// armOver does the same for timers of any namespace and several hosts. also may create other timers with the same due
// time.
func (r *run) armOver(
	ctx context.Context, name, namespace string, callbacks []string, count, others int,
	at func(due time.Time, n int) time.Time, also func(name string, due time.Time) error,
) (time.Time, *set, error) {
	if err := r.fill(ctx, r.Plan.Pending); err != nil {
		return time.Time{}, nil, err
	}
	rate := r.batchRate
	if rate == 0 {
		rate = 2000 // no batch was measured yet; an estimate that is too low costs a few seconds
	}
	creating := 1.5 * float64(count+others) / rate
	for try := range armTries {
		due := time.Now().Add(time.Duration(creating*float64(time.Second)) + r.Plan.Margin)
		name := fmt.Sprintf("%s%d", name, try)
		s := newSet(namespace, r.id+"-"+name+"-", callbacks, SmallPayload, count, func(n int) time.Time { return at(due, n) })
		if err := r.receiver.Expect(ctx, s.prefix, count); err != nil {
			return time.Time{}, nil, err
		}
		r.armed = []*set{s}
		if err := also(name, due); err != nil {
			return time.Time{}, nil, err
		}
		if _, err := r.inBatches(ctx, s, "create the timers"); err != nil {
			return time.Time{}, nil, err
		}
		if time.Now().Before(due) {
			return due, s, nil
		}
		r.Watch.begin(Step{Phase: r.phase, What: "creates took too long, wait until the timers have fired and try again", Total: count})
		if err := r.await(ctx, s); err != nil {
			return time.Time{}, nil, err
		}
		creating *= 2
	}
	return time.Time{}, nil, fmt.Errorf("%d timers could not be created before they were due, in %d tries: use fewer timers, "+
		"or a less busy machine", count, armTries)
}

// caught is the result of firing a set.
type caught struct {
	measured

	report  Report
	beside  loaded
	settled time.Time // when the last outcome was written
	rows    float64   // rows that the service read for these fires
}

// fire waits for the due time, and then until all callbacks of the set have arrived and their outcomes are written. The
// load beside, if not nil, starts at the first due time.
func (r *run) fire(ctx context.Context, s *set, due time.Time, beside *load) (c caught, err error) {
	r.Watch.begin(Step{Phase: r.phase, What: "wait for the due time"})
	began, err := r.fires(ctx)
	if err != nil {
		return caught{}, err
	}
	if err := rest(ctx, time.Until(due)-50*time.Millisecond); err != nil {
		return caught{}, err
	}
	end, err := r.spend(ctx)
	if err != nil {
		return caught{}, err
	}
	if err := rest(ctx, time.Until(due)); err != nil {
		return caught{}, err
	}
	r.Watch.begin(Step{Phase: r.phase, What: "timers fire", Total: s.count})
	var besideErr error
	var other sync.WaitGroup
	defer other.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if beside != nil {
		other.Go(func() { c.beside, besideErr = beside.run(ctx) })
	}
	if err := r.await(ctx, s); err != nil {
		return caught{}, err
	}
	ended, err := r.settle(ctx, began.done+float64(s.count))
	if err != nil {
		return caught{}, err
	}
	c.settled, c.rows = time.Now(), ended.rows-began.rows
	other.Wait()
	if besideErr != nil {
		return caught{}, besideErr
	}
	if c.measured, err = end(); err != nil {
		return caught{}, err
	}
	c.report, err = r.receiver.Report(ctx, true)
	return c, err
}

// fireWith waits until a set is due and the receiver has received all its timers, and returns the receiver's full
// report. It then deletes the remaining timers of others, which were due at the same time, and waits until no delivery
// is in flight. others is nil if there are none.
func (r *run) fireWith(ctx context.Context, s, others *set, due time.Time) (Report, error) {
	r.Watch.begin(Step{Phase: r.phase, What: "wait for the due time"})
	if err := rest(ctx, time.Until(due)); err != nil {
		return Report{}, err
	}
	r.Watch.begin(Step{Phase: r.phase, What: "timers fire", Total: s.count})
	if err := r.await(ctx, s); err != nil {
		return Report{}, err
	}
	report, err := r.receiver.Report(ctx, true)
	if err != nil {
		return Report{}, err
	}
	if others != nil {
		if err := r.remove(ctx, r.phase, others); err != nil {
			return Report{}, err
		}
		r.armed = nil
	}
	return report, r.calm(ctx)
}

// pollEvery is how often the receiver's report is read. It does not limit the precision of the figures, because the
// receiver records the times of the callbacks.
const pollEvery = 100 * time.Millisecond

// await waits until the receiver has received every timer.
func (r *run) await(ctx context.Context, s *set) error {
	last := s.at(s.count - 1)
	seen, moved := -1, time.Now()
	for {
		report, err := r.receiver.Report(ctx, false)
		if err != nil {
			return err
		}
		r.Watch.done.Store(int64(report.Received))
		if report.Received >= s.count {
			r.armed = slices.DeleteFunc(r.armed, func(o *set) bool { return o == s })
			return nil
		}
		now := time.Now()
		if report.Received != seen {
			seen, moved = report.Received, now
		}
		if now.Sub(moved) > r.Plan.Patience && now.Sub(last) > r.Plan.Patience {
			return fmt.Errorf("%d of %d callbacks arrived at %s, none of them in the last %v",
				report.Received, s.count, r.Callback, r.Plan.Patience)
		}
		if err := rest(ctx, pollEvery); err != nil {
			return err
		}
	}
}

// firing is the state of deliveries according to the service's metrics.
type firing struct{ done, inFlight, rows float64 }

func (r *run) fires(ctx context.Context) (firing, error) {
	page, err := r.Target.get(ctx, "/metrics")
	if err != nil {
		return firing{}, err
	}
	return firing{
		done:     metric(page, "timerbus_dispatcher_fires_total"),
		inFlight: metric(page, "timerbus_dispatcher_in_flight"),
		rows:     metric(page, "timerbus_dispatcher_rows_read_total"),
	}, nil
}

// settleEvery is the precision of the time of the last outcome.
const settleEvery = 10 * time.Millisecond

// settle waits until the outcomes of this many attempts are written, and returns the last state that it read.
func (r *run) settle(ctx context.Context, attempts float64) (firing, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Plan.Patience, errors.New("all callbacks arrived, but not all outcomes were written"))
	defer cancel()
	for {
		f, err := r.fires(ctx)
		switch {
		case context.Cause(ctx) != nil:
			return firing{}, context.Cause(ctx)
		case err != nil:
			return firing{}, err
		case f.done >= attempts && f.inFlight == 0:
			return f, nil
		}
		if err := rest(ctx, settleEvery); err != nil {
			return firing{}, err
		}
	}
}
