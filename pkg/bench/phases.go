package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// phase is one thing that is measured.
type phase struct {
	name, about string
	run         func(r *run, ctx context.Context, f *figures) error
	// seldom phases run only where they are named.
	seldom bool
	// topic: the phase needs the bus's address.
	topic bool
}

// phases are all there are, in the order in which they run: what they leave behind is what the next ones
// find, so the same 100,000 timers wait during idle, lateness and backlog.
func phases() []phase {
	return []phase{
		{name: "create", about: "creates/s over HTTP, one timer a request", run: (*run).create},
		{name: "topic", about: "commands/s through the topic", run: (*run).commands, topic: true},
		{name: "batch", about: "creates/s over HTTP in batches", run: (*run).batch},
		{name: "idle", about: "what the service uses with nothing to do", run: (*run).idle},
		{name: "lateness", about: "how late timers come at a steady rate", run: (*run).lateness},
		{name: "backlog", about: "fires/s when many timers are due at once", run: (*run).backlog},
		{name: "busy", about: "how late they come with creates beside", run: (*run).busy},
		{name: "large", about: "creates/s with a 1.5 KB payload", run: (*run).large},
		{name: "million", about: "idle again, with 1,000,000 pending", run: (*run).million, seldom: true},
	}
}

// Phases describes all phases, a line for each: its name and what it measures.
func Phases() [][2]string {
	var all [][2]string
	for _, p := range phases() {
		all = append(all, [2]string{p.name, p.about})
	}
	return all
}

// Options say what is measured and with what.
type Options struct {
	Target *Target
	// NATS is where the service's bus is reached, such as nats://127.0.0.1:4222; empty: the phase topic
	// is left out unless it is named.
	NATS string
	// Prefix is that of the cluster's topics. Default "timerbus".
	Prefix string
	// Namespace is made if it is missing, with Shards shards. Defaults: "bench", 16.
	Namespace string
	Shards    int
	// Receiver is where a Receiver is told and asked, a base URL; Callback is the same receiver as the
	// service reaches it. Default of Callback: Receiver.
	Receiver, Callback string
	// Local: that receiver runs in this process, so its processor time cannot be told from the
	// generator's.
	Local bool
	// Phases are those to run; empty for all but the seldom ones.
	Phases []string
	Plan   Plan
	// Meter reads the service. Default: Exposition of the Target.
	Meter Meter
	// Keep leaves the timers that are still pending where they are.
	Keep bool
	// Watch is told what goes on; nil: nobody is.
	Watch *Progress
}

// Progress is what goes on, for whoever looks. It is safe for one writer and any readers.
type Progress struct {
	step atomic.Pointer[Step]
	done atomic.Int64
	// Began, if not nil, is called when a step begins.
	Began func(Step)
}

// Step is a part of a phase.
type Step struct {
	Phase, What string
	// Total is how many Done are the end; 0 if it is not known.
	Total int
}

// Now tells the present step and how much of it is done.
func (p *Progress) Now() (Step, int) {
	s := p.step.Load()
	if s == nil {
		return Step{}, 0
	}
	return *s, int(p.done.Load())
}

func (p *Progress) begin(s Step) {
	p.done.Store(0)
	p.step.Store(&s)
	if p.Began != nil {
		p.Began(s)
	}
}

// run is one pass through the phases.
type run struct {
	Options

	receiver receiverAt
	// id keeps the timers of this run apart from those of others.
	id string
	// sets are those whose timers wait for a distant time; pending is how many they are.
	sets    []*set
	pending int
	// distant is when the first of them is due.
	distant time.Time
	// batchRate is how many creates a second batches were last seen to reach.
	batchRate float64
	phase     string
}

// Run measures. It stops at the first failure, and in any case takes back the timers that are still
// pending, unless it is told to keep them.
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

func prepare(o Options) (*run, []phase, error) {
	if o.Target == nil {
		return nil, nil, errors.New("bench: Target is required")
	}
	if o.Prefix == "" {
		o.Prefix = "timerbus"
	}
	if o.Namespace == "" {
		o.Namespace = "bench"
	}
	if o.Shards == 0 {
		o.Shards = 16
	}
	if o.Callback == "" {
		o.Callback = o.Receiver
	}
	if o.Meter == nil {
		o.Meter = Exposition{o.Target}
	}
	if o.Watch == nil {
		o.Watch = &Progress{}
	}
	chosen, err := choose(o.Phases, o.NATS != "")
	if err != nil {
		return nil, nil, err
	}
	at, err := newReceiverAt(o.Receiver)
	if err != nil {
		return nil, nil, err
	}
	callback, err := newReceiverAt(o.Callback)
	if err != nil {
		return nil, nil, err
	}
	o.Callback = callback.base.JoinPath(firePath).String()
	return &run{
		Options: o, receiver: at,
		id:      strconv.FormatInt(time.Now().UnixMilli()%(36*36*36*36*36), 36) + strconv.FormatInt(rand.Int64N(36*36), 36),
		distant: time.Now().Add(30 * 24 * time.Hour),
	}, chosen, nil
}

func choose(named []string, topic bool) ([]phase, error) {
	all := phases()
	for _, name := range named {
		if !slices.ContainsFunc(all, func(p phase) bool { return p.name == name }) {
			var names []string
			for _, p := range all {
				names = append(names, p.name)
			}
			return nil, fmt.Errorf("phase %q is not accepted: want some of %s", name, strings.Join(names, ", "))
		}
	}
	var chosen []phase
	for _, p := range all {
		switch {
		case slices.Contains(named, p.name):
			if p.topic && !topic {
				return nil, fmt.Errorf("phase %s needs the bus's address", p.name)
			}
			chosen = append(chosen, p)
		case len(named) == 0 && !p.seldom && (!p.topic || topic):
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// open makes the namespace, and finds out early whether service, receiver and meter are there.
func (r *run) open(ctx context.Context) error {
	r.Watch.begin(Step{Phase: "start", What: "make the namespace"})
	body := fmt.Appendf(nil, `{"name":%q,"numShards":%d}`, r.Namespace, r.Shards)
	if _, err := exchange(ctx, "POST", r.Target.base.JoinPath("/api/v1/namespaces/create").String(), r.Target.token, body); err != nil {
		return fmt.Errorf("make namespace %s: %w", r.Namespace, err)
	}
	if _, err := r.Meter.Read(ctx); err != nil {
		return err
	}
	return r.receiver.expect(ctx, "nothing-", 0)
}

// clean deletes what is still pending.
func (r *run) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	const each = 500
	for _, s := range r.sets {
		requests := (s.count + each - 1) / each
		r.Watch.begin(Step{Phase: "end", What: "delete pending timers", Total: requests})
		l := load{
			target: r.Target, path: "/api/v1/timers/batch-delete", connections: 4, requests: requests, done: &r.Watch.done,
			body: func(to []byte, i int) []byte {
				return s.appendDeletes(to, r.Namespace, i*each, min((i+1)*each, s.count))
			},
		}
		if _, err := l.run(ctx); err != nil {
			return fmt.Errorf("delete the timers %s… of namespace %s: %w", s.prefix, r.Namespace, err)
		}
	}
	return nil
}

// newSet describes timers of this phase.
func (r *run) newSet(name string, payload, count int, at func(n int) time.Time) *set {
	return newSet(r.Namespace, r.id+"-"+name+"-", r.Callback, payload, count, at)
}

// pendingSet describes timers that wait for a distant time.
func (r *run) pendingSet(name string, payload, count int) *set {
	first := r.distant.Add(time.Duration(r.pending) * time.Millisecond)
	s := r.newSet(name, payload, count, func(n int) time.Time { return first.Add(time.Duration(n) * time.Millisecond) })
	r.sets = append(r.sets, s)
	r.pending += count
	return s
}

// measured is the processor time that something takes, with the service's memory at its end.
type measured struct {
	cost
	memory int64
	report Report
}

// spend begins to measure; the returned function ends it.
func (r *run) spend(ctx context.Context) (func() (measured, error), error) {
	read := func() (Usage, Report, time.Duration, error) {
		usage, err := r.Meter.Read(ctx)
		if err != nil {
			return Usage{}, Report{}, 0, err
		}
		report, err := r.receiver.report(ctx, false)
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

// rest waits.
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

// CheckPhases names the first phase that cannot be run.
func (o *Options) CheckPhases() error {
	_, err := choose(o.Phases, o.NATS != "")
	return err
}
