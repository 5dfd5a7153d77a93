package sim

import (
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// flowTimers is the first number of the timers in flowNamespace.
const flowTimers = 9000

// flows adds a namespace with limits of flows to some lives. Lives with little room for more timers have none.
func (r *dice) flows(p *Plan) {
	if p.Seed%kinds == 0 || p.Seed%kinds == slowCommits || p.has(func(o *Op) bool { return o.Verb == MakeNamespace }) || !r.chance(15) {
		return
	}
	rate := func() timer.FlowRate {
		rate := timer.FlowRate{Count: 2 + r.IntN(5), Per: r.between(time.Second, 4*time.Second), Burst: 1}
		if r.chance(40) {
			rate.Burst = 1 + r.IntN(rate.Count)
		}
		return rate
	}
	p.Flows = []timer.FlowLimit{
		{Pattern: "rate-*", Rate: rate()},
		{Pattern: "conc-*", Concurrency: 1 + r.IntN(3)},
		{Pattern: "*", Rate: rate(), Concurrency: 1 + r.IntN(4)},
	}
	keys := []string{"rate-1", "rate-2", "conc-1", "conc-2", "both"}
	for t := flowTimers; t < flowTimers+30; {
		at, key := r.between(0, p.Length*3/4), keys[r.IntN(len(keys))]
		for range 1 + r.IntN(12) { // a burst
			o := Op{
				At: at + r.between(0, 300*time.Millisecond), Timer: t, Verb: Create, Node: r.IntN(ingests), Flow: key,
				Soon: r.between(-time.Second, 3*time.Second), Topic: r.chance(10),
			}
			if r.chance(30) {
				o.Script = r.script()
			} else if r.chance(70) {
				o.Script = [][]Step{{{Answer: AnswerDone, After: r.between(0, 3*time.Second)}}}
			}
			p.Ops = append(p.Ops, o)
			// A command of the topic may be applied later than a request that was sent after it.
			if r.chance(15) && !o.Topic {
				o.Verb, o.At, o.Topic, o.Script = []Verb{Create, Update, Delete}[r.IntN(3)], o.At+r.between(0, 10*time.Second), false, nil
				if o.Verb != Delete && r.chance(50) {
					o.Flow = keys[r.IntN(len(keys))]
				}
				p.Ops = append(p.Ops, o)
			}
			t++
		}
	}
	p.sortOps()
}

// flowSettings adds the limits of flows to the settings of a namespace.
func flowSettings(p *Plan, s store.Settings) store.Settings {
	text, err := timer.NewFlowLimits(p.Flows)
	must(err)
	s.Flows = text
	return s
}

// flowCalls are the calls of one flow, guarded by oracle.mu.
type flowCalls struct {
	begun   []time.Duration
	running int
}

// beginFlow implements I21 and returns the function that ends the call. Every call counts, also one that is answered 401.
//
// By true time, calls of two dispatchers may be as much nearer to each other as their clocks differ: the nodes do not know the
// errors of their clocks.
func (o *oracle) beginFlow(request *dispatcher.Request) (end func()) {
	key := request.Timer.FlowKey
	limit, limited := flowSettings(o.world.plan, store.Settings{}).Flows.Match(key)
	if key == "" || !limited {
		return func() {}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f := o.flows[key]
	if f == nil {
		f = &flowCalls{}
		o.flows[key] = f
	}
	now := o.world.since()
	f.begun = append(f.begun, now)
	f.running++
	o.counts.Flows++
	if limit.Rate.Count > 0 {
		per, bound := limit.Rate.Per-o.world.clocksApart(), limit.Rate.Count+limit.Rate.Burst-1
		in := 0
		for _, at := range slices.Backward(f.begun) {
			if now-at >= per {
				break
			}
			in++
		}
		if in > bound {
			o.broken("flow rate", "%d calls of flow %s in %v, want at most %d in %v", in, key, per, bound, limit.Rate.Per)
		}
	}
	if limit.Concurrency > 0 && f.running > limit.Concurrency {
		o.broken("flow concurrency", "%d calls of flow %s at the same time, want at most %d", f.running, key, limit.Concurrency)
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		f.running--
	}
}

// clocksApart returns by how much the clocks of the dispatchers differ.
func (w *World) clocksApart() (apart time.Duration) {
	var least, most time.Duration
	first := true
	for _, n := range w.nodes {
		if !n.role.delivers() {
			continue
		}
		if first {
			least, most, first = n.offset, n.offset, false
		}
		least, most = min(least, n.offset), max(most, n.offset)
	}
	return most - least
}
