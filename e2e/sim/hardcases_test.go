package sim_test

import (
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/sim"
)

// The ingests and the dispatchers of a hard case; nodes 2 and 3 are its schedulers.
const (
	ingest, otherIngest = 0, 1
	first, second       = 4, 5
)

const s, ms = time.Second, time.Millisecond

// hardCase is a life in which a model checker found a violation in similar designs.
type hardCase struct {
	name    string
	offsets []time.Duration
	ops     []sim.Op
	faults  []sim.Fault
	change  func(*sim.Configs)
	// deliveries is the minimum number of deliveries, so that the case cannot pass without any; parked is how many
	// timers end as parked.
	deliveries, parked int
	// within, if not 0, is the maximum lateness of each delivery.
	within time.Duration
	// paid makes empty shards idle immediately.
	paid bool
}

func (c *hardCase) play(t *testing.T) {
	t.Helper()
	plan := c.plan()
	r := sim.Run(t, &plan, sim.Options{Change: c.change, Trace: true})
	tooLate := c.within > 0 && r.Slowest > c.within
	if len(r.Violations) > 0 || r.Deliveries < c.deliveries || r.Parked != c.parked || tooLate {
		for _, line := range r.Trace {
			t.Log(line)
		}
		t.Errorf("%d deliveries, want at least %d; %d parked, want %d; the latest by %v; violations: %v",
			r.Deliveries, c.deliveries, r.Parked, c.parked, r.Slowest, r.Violations)
	}
}

func (c *hardCase) plan() sim.Plan {
	plan := sim.Plan{Schedulers: 2, Offsets: c.offsets, Ops: c.ops, Faults: c.faults, Length: 40 * s, Paid: c.paid}
	if plan.Offsets == nil {
		plan.Offsets = make([]time.Duration, 6)
	}
	for i := range plan.Ops {
		plan.Ops[i].ID = i
	}
	return plan
}

func TestHardCases(t *testing.T) {
	for _, c := range hardCases() {
		t.Run(c.name, c.play)
	}
}

// create returns an operation that is due soon after at; steps is the script of one generation.
func create(timer int, at, soon time.Duration, steps ...sim.Step) sim.Op {
	return sim.Op{At: at, Timer: timer, Verb: sim.Create, Soon: soon, Script: [][]sim.Step{steps}}
}

func update(timer int, at, soon time.Duration, steps ...sim.Step) sim.Op {
	o := create(timer, at, soon, steps...)
	o.Verb = sim.Update
	return o
}

func (c *hardCase) all(n int, op func(i int) sim.Op) {
	for i := range n {
		c.ops = append(c.ops, op(i))
	}
}

func slow(after time.Duration) sim.Step { return sim.Step{Answer: sim.AnswerDone, After: after} }

// everywhere repeats a fault for every partition.
func everywhere(f sim.Fault) []sim.Fault {
	faults := make([]sim.Fault, 4)
	for i := range faults {
		faults[i] = f
		faults[i].Partition = i
	}
	return faults
}

func hardCases() []hardCase {
	cases := []hardCase{
		{
			name:       "a retry's hint that arrives late does not fire before its backoff",
			ops:        []sim.Op{create(1, s, s, sim.Step{Answer: sim.AnswerError}, sim.Step{Answer: sim.AnswerError})},
			faults:     []sim.Fault{{Kind: sim.HintsDelayed, For: 30 * s, Delay: 8 * s}},
			deliveries: 3,
		},
		{
			name: "a timer moved earlier than the read cursor with its hint lost",
			ops: []sim.Op{
				create(1, s, 29*s),
				create(2, s, 19500*ms), create(3, s, 19500*ms), create(4, s, 19500*ms), create(5, s, 19500*ms),
				create(6, s, 19500*ms), create(7, s, 19500*ms), create(8, s, 19500*ms), create(9, s, 19500*ms),
				update(1, 19*s, 500*ms),
			},
			faults:     []sim.Fault{{Kind: sim.HintsLost, At: 18900 * ms, For: 5 * s}},
			deliveries: 9,
		},
		{
			name:    "two ingest nodes with skewed clocks updating one timer",
			offsets: []time.Duration{125 * ms, -125 * ms, 0, 0, 125 * ms, -125 * ms},
			ops: []sim.Op{
				create(1, s, 2*s), on(otherIngest, update(1, 1010*ms, s)), on(ingest, update(1, 1020*ms, 900*ms)),
				on(otherIngest, update(1, 1500*ms, 100*ms)), on(ingest, update(1, 1550*ms, 50*ms)),
				on(otherIngest, update(1, 1590*ms, 5*ms)), on(ingest, update(1, 1600*ms, 2*s)),
			},
			deliveries: 1,
		},
		{name: "a callback slower than a sweep", ops: []sim.Op{create(1, s, s, slow(9*s))}, deliveries: 1},
		{
			name:       "a hand-over with a callback running",
			ops:        []sim.Op{create(1, s, s, slow(9*s)), create(2, s, s, slow(9*s))},
			faults:     append(everywhere(sim.Fault{Kind: sim.Revoke, At: 4 * s}), everywhere(sim.Fault{Kind: sim.Lose, At: 7 * s})...),
			deliveries: 2,
		},
		{
			name: "a namespace made after the partition was opened",
			ops: []sim.Op{
				{At: 10 * s, Verb: sim.MakeNamespace, Timer: 99},
				late(create(1, 11*s, s)), late(create(2, 11*s, 2*s)), late(on(otherIngest, create(3, 11*s, 100*ms))),
			},
			deliveries: 3,
		},
		{
			name:       "a namespace made with every hint lost",
			ops:        []sim.Op{{At: s, Verb: sim.MakeNamespace, Timer: 99}, late(create(1, 2*s, s)), late(create(2, 2*s, 2*s))},
			faults:     []sim.Fault{{Kind: sim.HintsLost, For: 39 * s}},
			deliveries: 2,
		},
		{
			name: "a slow commit across a claim",
			ops:  []sim.Op{create(1, 2*s, 500*ms), create(2, 2*s, 500*ms)},
			faults: append(everywhere(sim.Fault{Kind: sim.Lose, At: 4 * s}),
				sim.Fault{Kind: sim.StoreHangs, Node: ingest, Method: "Write", Nth: 1, Count: 2, For: 4 * s}),
			deliveries: 2,
		},
		{
			name:       "two dispatchers holding one attempt, where one leases and the other fails last",
			ops:        []sim.Op{create(1, s, s, sim.Step{Answer: sim.AnswerError, After: 4 * s})},
			faults:     []sim.Fault{{Kind: sim.Redeliver, At: 3 * s}, {Kind: sim.Redeliver, At: 3500 * ms}},
			deliveries: 2,
		},
		{
			name:       "a renewal whose answer is unknown",
			ops:        []sim.Op{create(1, s, s, slow(9*s))},
			faults:     eachDispatcher(sim.Fault{Kind: sim.StoreUnknown, Method: "Finish", Nth: 2, Count: 1}),
			deliveries: 1,
		},
		{
			name:       "a lease whose answer is unknown",
			ops:        []sim.Op{create(1, s, s, slow(9*s), sim.Step{Answer: sim.AnswerError})},
			faults:     eachDispatcher(sim.Fault{Kind: sim.StoreUnknown, Method: "Finish", Nth: 1, Count: 1}),
			deliveries: 1,
		},
		{
			name:       "a crash between Finish and the acknowledgement",
			ops:        []sim.Op{create(1, s, s), create(2, s, s), create(3, s, s, sim.Step{Answer: sim.AnswerError})},
			faults:     eachDispatcher(sim.Fault{Kind: sim.CrashAtCall, Method: "Finish", Nth: 1, Count: 1, For: s}),
			deliveries: 4,
		},
		{
			name: "a hand-over with W < P during which a timer is replaced at the same due time",
			ops: []sim.Op{
				create(1, s, 4*s), create(2, s, 4*s), create(3, s, 5*s), create(1, 4990*ms, 10*ms), create(2, 5001*ms, -ms),
			},
			faults:     append(everywhere(sim.Fault{Kind: sim.Revoke, At: 5005 * ms}), sim.Fault{Kind: sim.HintsLost, At: 4950 * ms, For: 3 * s}),
			deliveries: 3,
		},
		{
			name: "an owner that is revoked before it publishes anything",
			ops:  []sim.Op{create(1, s, 4*s), create(2, s, 4500*ms), create(3, s, 6*s)},
			faults: append(append(everywhere(sim.Fault{Kind: sim.Revoke, At: 5001 * ms}),
				everywhere(sim.Fault{Kind: sim.Revoke, At: 5002 * ms})...), everywhere(sim.Fault{Kind: sim.Lose, At: 5003 * ms})...),
			deliveries: 3,
		},
		{
			name: "a command topic made anew under a running ingest",
			ops: []sim.Op{
				command(create(1, s, 20*s)), command(update(1, 2*s, 20*s)), command(create(2, 2*s, 20*s)),
				command(update(1, 6*s, 20*s)), command(update(2, 6*s, 3*s)), command(create(3, 6*s, s)),
			},
			faults:     []sim.Fault{{Kind: sim.Recreate, At: 4 * s}},
			deliveries: 3,
		},
		{
			// Found by a seed: the event found no row, and the bus dropped its repetition as a duplicate.
			name:       "a hint that comes before its row",
			ops:        []sim.Op{create(1, s, s)},
			faults:     []sim.Fault{{Kind: sim.StoreLate, Node: ingest, Method: "Write", Nth: 1, Count: 1, For: 4 * s}},
			deliveries: 1, within: 10 * s,
		},
		{
			name:       "a timer that kills its dispatcher",
			ops:        []sim.Op{create(1, s, s, killing(sim.AnswerKill, 0)...)},
			deliveries: 5, parked: 1,
		},
		{
			name:       "a timer that kills its dispatcher after the lease",
			ops:        []sim.Op{create(1, s, s, killing(sim.AnswerLeasedKill, 4*s)...)},
			deliveries: 5, parked: 1,
		},
	}
	return append(cases, crowded(), lostQueue(), crashedQueue(), lostTail(), swallowed(), innocents(), inAnIdleShard(), committedLate())
}

// committedLate commits a row before R, seconds after its due time, and after sweeps have found nothing. Its shard is
// active, because the other timer fired seconds before.
func committedLate() hardCase {
	c := inAnIdleShard()
	c.name, c.paid, c.within = "a row committed before R after the sweeps of its time", false, 12*s
	return c
}

// TestI4_ASweepBeginsAMarginBeforeTheLastOne: without the margin, the row waits for a full sweep.
func TestI4_ASweepBeginsAMarginBeforeTheLastOne(t *testing.T) {
	c := committedLate()
	plan := c.plan()
	r := sim.Run(t, &plan, sim.Options{Change: func(c *sim.Configs) { c.Scheduler.SweepMargin = ms }})
	if !slices.ContainsFunc(r.Violations, func(v sim.Violation) bool { return v.Rule == "late" }) {
		t.Errorf("want a violation of the rule late: %v; the latest delivery by %v", r.Violations, r.Slowest)
	}
}

// inAnIdleShard commits a row before R when its shard is idle: its hint came long before it, and its event found no
// row. If idle shards were polled from R, like active ones, no poll would find the row.
func inAnIdleShard() hardCase {
	return hardCase{
		name: "a row before R in an idle shard",
		// Both timers are in one shard, and a poll reads the first one.
		ops:        []sim.Op{create(1, s, 8*s), create(2, 6*s, 500*ms)},
		faults:     []sim.Fault{{Kind: sim.StoreLate, Node: ingest, Method: "Write", Nth: 2, Count: 1, For: 8 * s}},
		deliveries: 2, within: 30*s + 4*s, paid: true,
	}
}

// crowded reaches the bound of states in flight while timers beyond R become overdue.
func crowded() hardCase {
	c := hardCase{
		name:   "the outstanding bound reached while timers beyond R become overdue",
		change: func(c *sim.Configs) { c.Scheduler.MaxInFlight, c.Scheduler.MaxArmed = 2, 16 },
		// No hints, so that polls must find all of them.
		faults:     []sim.Fault{{Kind: sim.HintsLost, For: 39 * s}},
		deliveries: 40,
	}
	c.all(40, func(i int) sim.Op { return create(i, s, time.Duration(i%4)*100*ms, slow(3*s)) })
	return c
}

// lostQueue loses the due queue while it is full.
func lostQueue() hardCase {
	c := crowded()
	c.name = "a lost queue with outstanding full"
	c.faults = append(c.faults, sim.Fault{Kind: sim.LoseQueue, At: 4500 * ms}, sim.Fault{Kind: sim.LoseQueue, At: 9 * s})
	return c
}

// crashedQueue crashes the due queue's server twice while the bound of states in flight is reached.
func crashedQueue() hardCase {
	c := crowded()
	c.name = "a crashed queue with outstanding full"
	c.faults = append(c.faults, sim.Fault{Kind: sim.CrashQueue, At: 4500 * ms, Nth: 6, Count: 1},
		sim.Fault{Kind: sim.CrashQueue, At: 9 * s, Nth: 20, Count: 1})
	return c
}

// lostTail loses the last events of the plan, so that no new event moves the queue's end past their positions.
func lostTail() hardCase {
	c := hardCase{name: "the last events lost in a crash of the queue", deliveries: 20, within: 35 * s}
	c.all(20, func(i int) sim.Op { return create(i, s, s+time.Duration(i)*10*ms, slow(3*s)) })
	c.faults = []sim.Fault{{Kind: sim.CrashQueue, At: 2300 * ms, Nth: 8, Count: 1}}
	return c
}

// swallowed loses events while the bus still remembers their IDs.
func swallowed() hardCase {
	c := hardCase{name: "Msg-Id windows swallowing a republication", deliveries: 10}
	c.all(10, func(i int) sim.Op { return create(i, s, s, slow(3*s)) })
	c.faults = append(everywhere(sim.Fault{Kind: sim.Lose, At: 2100 * ms}), sim.Fault{Kind: sim.LoseQueue, At: 2050 * ms},
		sim.Fault{Kind: sim.Crash, Node: first, At: 2040 * ms, For: s},
		sim.Fault{Kind: sim.Crash, Node: second, At: 2040 * ms, For: s})
	return c
}

// innocents are due together with a poison timer, some of them with long callbacks.
func innocents() hardCase {
	c := hardCase{name: "innocents beside a poison timer", deliveries: 20, parked: 1}
	c.ops = []sim.Op{create(99, s, s, killing(sim.AnswerKill, 0)...)}
	c.all(15, func(i int) sim.Op { return create(i, s, time.Duration(900+i*10)*ms, slow(time.Duration(i)*500*ms)) })
	return c
}

func killing(a sim.Answer, after time.Duration) []sim.Step {
	steps := make([]sim.Step, 4)
	for i := range steps {
		steps[i] = sim.Step{Answer: a, After: after}
	}
	return steps
}

func on(node int, o sim.Op) sim.Op { o.Node = node; return o }

func late(o sim.Op) sim.Op { o.Late = true; return o }

func command(o sim.Op) sim.Op { o.Topic = true; return o }

func eachDispatcher(f sim.Fault) []sim.Fault {
	f.Node = first
	g := f
	g.Node = second
	return []sim.Fault{f, g}
}
