package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// run is one execution of the phases.
type run struct {
	Options

	receiver ReceiverAt
	// id distinguishes the timers of this run from those of other runs.
	id string
	// sets are the sets whose timers are due in 30 days or later; pending is the number of their timers.
	sets    []*set
	pending int
	// armed are the sets that are due soon and have not fired yet.
	armed []*set
	// distant is the due time of the first pending timer.
	distant time.Time
	// batchRate is the most recently measured rate of creates in batches, in timers per second.
	batchRate float64
	phase     string
}

// Run runs the chosen phases. It stops at the first failure. In any case it deletes the timers that are still pending,
// unless Options.Keep is set.
func Run(ctx context.Context, o Options) (_ []Figure, err error) {
	r, chosen, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if !r.Keep {
			err = errors.Join(err, r.clean(context.WithoutCancel(ctx)))
		}
	}()
	var all []Figure
	for _, p := range chosen {
		r.phase = p.name
		f := &figures{phase: p.name}
		if err := p.run(r, ctx, f); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		all = append(all, f.list...)
	}
	return all, nil
}

// open creates the namespace, and checks that service, receiver and meter are reachable.
func (r *run) open(ctx context.Context) error {
	r.Watch.begin(Step{Phase: "start", What: "create the namespace"})
	if err := r.namespace(ctx, r.Namespace, r.Shards, `{}`); err != nil {
		return err
	}
	if _, err := r.Meter.Read(ctx); err != nil {
		return err
	}
	return r.receiver.Expect(ctx, "nothing-", 0)
}

// namespace creates a namespace if it does not exist. settings is a JSON object.
func (r *run) namespace(ctx context.Context, name string, shards int, settings string) error {
	return r.Target.createNamespace(ctx, name, shards, settings)
}

func (t *Target) createNamespace(ctx context.Context, name string, shards int, settings string) error {
	body := appendNamespace(nil, name, shards, settings)
	if _, err := exchange(ctx, "POST", t.base.JoinPath(namespacePath).String(), t.token, body); err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

const namespacePath = "/api/v1/namespaces/create"

// appendNamespace appends the body of a request that creates a namespace.
func appendNamespace(to []byte, name string, shards int, settings string) []byte {
	return fmt.Appendf(to, `{"name":%q,"numShards":%d,"settings":%s}`, name, shards, settings)
}

// clean deletes the timers that have not fired, also those of a run that was cut short.
func (r *run) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	return r.removePending(ctx, "end")
}

// removePending deletes the timers of this run that have not fired yet.
func (r *run) removePending(ctx context.Context, phase string) error {
	for _, s := range slices.Concat(r.armed, r.sets) {
		if err := r.remove(ctx, phase, s); err != nil {
			return err
		}
	}
	r.armed, r.sets, r.pending = nil, nil, 0
	return nil
}

// remove deletes the remaining timers of a set.
func (r *run) remove(ctx context.Context, phase string, s *set) error {
	const each = 500
	requests := (s.count + each - 1) / each
	r.Watch.begin(Step{Phase: phase, What: "delete pending timers", Total: requests})
	l := load{
		target: r.Target, path: "/api/v1/timers/batch-delete", connections: 4, requests: requests, done: &r.Watch.done,
		body: func(to []byte, i int) []byte {
			return s.appendDeletes(to, i*each, min((i+1)*each, s.count))
		},
	}
	if _, err := l.run(ctx); err != nil {
		return fmt.Errorf("delete the timers %s… of namespace %s: %w", s.prefix, s.namespace, err)
	}
	return nil
}

// newSet describes timers of this phase.
func (r *run) newSet(name string, payload, count int, at func(n int) time.Time) *set {
	return newSet(r.Namespace, r.id+"-"+name+"-", []string{r.Callback}, payload, count, at)
}

// pendingSet describes timers that are due in 30 days or later.
func (r *run) pendingSet(name string, payload, count int) *set {
	first := r.distant.Add(time.Duration(r.pending) * time.Millisecond)
	s := r.newSet(name, payload, count, func(n int) time.Time { return first.Add(time.Duration(n) * time.Millisecond) })
	r.sets = append(r.sets, s)
	r.pending += count
	return s
}

// measured is the processor time of an operation, and the service's memory in bytes at its end.
type measured struct {
	cost
	memory int64
	report Report
}

// spend starts a measurement; the returned function ends it.
func (r *run) spend(ctx context.Context) (func() (measured, error), error) {
	read := func() (Usage, Report, time.Duration, error) {
		usage, err := r.Meter.Read(ctx)
		if err != nil {
			return Usage{}, Report{}, 0, err
		}
		report, err := r.receiver.Report(ctx, false)
		return usage, report, ownCPU(), err
	}
	usage, report, own, err := read()
	if err != nil {
		return nil, err
	}
	return func() (measured, error) {
		after, end, ownEnd, err := read()
		return measured{
			cost: cost{
				service: (after.CPU - usage.CPU).Seconds(), generator: (ownEnd - own).Seconds(),
				receiver: end.CPUSeconds - report.CPUSeconds, together: r.Local,
			},
			memory: after.Memory, report: end,
		}, err
	}, nil
}

// rest waits for d or until ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
