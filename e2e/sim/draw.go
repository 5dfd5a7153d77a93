package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

const (
	ingests     = 2
	dispatchers = 2
	// partitions of the bus, and shards of the one namespace.
	partitions = 4
	// clockBound is the largest difference between the clocks of two nodes.
	clockBound = 250 * time.Millisecond
	// longest bounds the time of clients and faults.
	longest = 90 * time.Second
	// crowdTimers, quietTimers and bulkTimers are the first numbers of the timers that plans add.
	crowdTimers, quietTimers, bulkTimers = 1000, 5000, 10_000
	// slowCommits is the kind of lives, modulo kinds, whose writes are slow.
	slowCommits = 2
	// kinds is the number of kinds of lives, which alternate. In every second round of them the store charges per
	// shard.
	kinds = 8
)

// Draw returns the plan of a seed. Every fourth life has no faults, or nearly none, to test promises that faults would
// excuse. Rare events have separate random sources.
func Draw(seed uint64) Plan {
	r := &dice{rand.New(rand.NewPCG(seed, 0x7465726d))}
	p := Plan{Seed: seed, Schedulers: 2 + r.IntN(2), Length: r.between(longest/3, longest), Paid: seed/kinds%2 == 1}
	for range ingests + p.Schedulers + dispatchers {
		p.Offsets = append(p.Offsets, r.between(-clockBound/2, clockBound/2))
	}
	for timer := range 3 + r.IntN(12) {
		p.Ops = append(p.Ops, r.life(timer, p.Length)...)
	}
	if seed%16 == 1 || seed%32 == 12 {
		r.poison(p.Ops)
	}
	if seed%kinds == slowCommits {
		r.lastMoments(&p)
	}
	rare := &dice{rand.New(rand.NewPCG(seed, 0x72617265))}
	if rare.chance(5) {
		rare.makeNamespace(&p)
	}
	policies := &dice{rand.New(rand.NewPCG(seed, 0x706f6c69))}
	policies.policies(&p)
	clocks := &dice{rand.New(rand.NewPCG(seed, 0x636c6f63))}
	suspended := seed%64 == 36
	var suspensions []Fault
	if suspended {
		suspensions = clocks.suspendIngest(&p)
	}
	p.sortOps()
	switch seed % kinds {
	case 0:
		// Crowded: nothing fails, but events wait.
		p.Narrow = 1 + r.IntN(2)
		r.crowd(&p)
		if seed%32 >= 16 && !slices.ContainsFunc(p.Ops, func(o Op) bool { return o.Verb == MakeNamespace }) {
			bulk := &dice{rand.New(rand.NewPCG(seed, 0x62756c6b))}
			bulk.backlog(&p)
		}
	case 4:
		// Nothing fails, or the store's answers to ingest are lost.
		for range r.IntN(4) {
			p.Faults = append(p.Faults, Fault{
				Kind: StoreUnknown, Node: r.IntN(ingests), Method: "Write", Nth: 1 + r.IntN(8), Count: 1 + r.IntN(2),
			})
		}
	case slowCommits:
		// The writes end after the due time of the timers that they change.
		for range 3 + r.IntN(6) {
			p.Faults = append(p.Faults, Fault{
				Kind: StoreHangs, Node: r.IntN(ingests), Method: "Write", Nth: 1 + r.IntN(15), Count: 2,
				For: r.between(500*time.Millisecond, 5*time.Second),
			})
		}
	default:
		for range 1 + r.IntN(16) {
			p.Faults = append(p.Faults, r.fault(&p))
		}
		if rare.chance(5) {
			rare.recreate(&p)
		}
	}
	cuts := &dice{rand.New(rand.NewPCG(seed, 0x63757473))}
	cuts.cutOff(&p)
	if suspended {
		p.Faults = suspensions
	} else {
		clocks.clocks(&p)
	}
	releases := &dice{rand.New(rand.NewPCG(seed, 0x72656c65))}
	releases.releases(&p)
	options := &dice{rand.New(rand.NewPCG(seed, 0x6f707469))}
	options.options(&p)
	tokens := &dice{rand.New(rand.NewPCG(seed, 0x746f6b65))}
	tokens.tokens(&p)
	spaces := &dice{rand.New(rand.NewPCG(seed, 0x71756f74))}
	spaces.spaces(&p)
	pauses := &dice{rand.New(rand.NewPCG(seed, 0x70617573))}
	pauses.pauses(&p)
	flows := &dice{rand.New(rand.NewPCG(seed, 0x666c6f77))}
	flows.flows(&p)
	schedules := &dice{rand.New(rand.NewPCG(seed, 0x73636865))}
	schedules.schedules(&p)
	locals := &dice{rand.New(rand.NewPCG(seed, 0x6c6f6361))}
	locals.locals(&p)
	if results := (&dice{rand.New(rand.NewPCG(seed, 0x7265736c))}); results.chance(25) {
		p.Results = []store.Results{store.ResultsFailures, store.ResultsOff}[results.IntN(2)]
	}
	if local := (&dice{rand.New(rand.NewPCG(seed, 0x6c6f636b))}); local.chance(25) {
		p.Local = true
		p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool { // the queue of the bus has no messages
			return f.Kind == Redeliver || f.Kind == LoseQueue || f.Kind == CrashQueue
		})
	}
	slices.SortStableFunc(p.Faults, func(a, b Fault) int { return int(a.At - b.At) })
	return p
}

// sortOps orders the operations by time, and numbers them.
func (p *Plan) sortOps() {
	slices.SortStableFunc(p.Ops, func(a, b Op) int { return int(a.At - b.At) })
	for i := range p.Ops {
		p.Ops[i].ID = i
	}
}

type dice struct{ *rand.Rand }

func (r *dice) between(from, to time.Duration) time.Duration {
	return (from + time.Duration(r.Int64N(int64(to-from)))).Truncate(time.Millisecond)
}

func (r *dice) chance(percent int) bool { return r.IntN(100) < percent }

// life draws the operations of clients on one timer.
func (r *dice) life(timer int, length time.Duration) []Op {
	at := r.between(0, length*3/4)
	topic := r.chance(25)
	op := func(verb Verb) Op {
		o := Op{
			At: at, Timer: timer, Verb: verb, Topic: topic, Node: r.IntN(ingests),
			Soon: r.between(-2*time.Second, 30*time.Second), Event: r.chance(15),
		}
		if r.chance(30) {
			o.Soon = r.between(0, 3*time.Second)
		}
		if verb != Delete && !o.Event {
			o.Script = r.script()
		}
		return o
	}
	ops := []Op{op(Create)}
	for r.chance(45) && len(ops) < 5 {
		last := &ops[len(ops)-1]
		switch due := last.At + last.Soon; {
		case r.chance(40):
			at += r.between(0, 2*time.Second)
		case due > at && r.chance(60):
			// Shortly before its due time, when the service must decide whether the change was in time.
			at = max(at, due-r.between(0, 3*time.Second))
		default:
			at += r.between(0, 20*time.Second)
		}
		verbs := []Verb{Create, Update, Update, Delete}
		ops = append(ops, op(verbs[r.IntN(len(verbs))]))
	}
	return ops
}

// script draws the answers of the receiver.
func (r *dice) script() [][]Step {
	var script [][]Step
	for {
		var steps []Step
		for len(steps) < 5 && r.chance(30) {
			failures := []Answer{
				AnswerNotOK, AnswerMalformed, AnswerError, AnswerBusy, AnswerRedirect, AnswerHang, AnswerRefuse,
			}
			steps = append(steps, r.step(failures[r.IntN(len(failures))]))
		}
		if r.chance(20) {
			again := []Answer{AnswerAgain, AnswerNotAgain}
			script = append(script, append(steps, r.step(again[r.IntN(2)])))
			if len(script) < 3 {
				continue
			}
			return script
		}
		last := []Answer{AnswerDone, AnswerDone, AnswerOK, AnswerText, AnswerGone, AnswerBad}
		return append(script, append(steps, r.step(last[r.IntN(len(last))])))
	}
}

func (r *dice) step(a Answer) Step {
	s := Step{Answer: a, After: r.between(0, 200*time.Millisecond), Next: r.between(-time.Second, 10*time.Second)}
	if r.chance(15) {
		s.After = r.between(time.Second, 9*time.Second)
	}
	return s
}

// fault draws one fault.
func (r *dice) fault(p *Plan) Fault {
	kinds := []FaultKind{
		StoreFails, StoreUnknown, StoreUnknown, StoreUnknown, StoreHangs, StoreLate, StoreLate, BusFails, BusUnknown,
		BusUnknown, HintsLost, HintsLost, HintsTwice, HintsDelayed, HintsDelayed, Redeliver, Redeliver, LoseQueue,
		CrashQueue, CrashQueue,
		Revoke, Lose, Zombie, Zombie, CutOff, Crash, Crash, CrashAtCall, CrashAtCall, CrashAtCall,
		CrashAtPublish, CrashAtPublish,
	}
	nodes := ingests + p.Schedulers + dispatchers
	f := Fault{
		Kind: kinds[r.IntN(len(kinds))], Node: r.IntN(nodes), At: r.between(0, p.Length),
		For: r.between(100*time.Millisecond, 12*time.Second), Nth: r.call(), Count: 1 + r.IntN(3),
		Partition: r.IntN(partitions), Delay: r.between(10*time.Millisecond, 8*time.Second),
	}
	if f.Kind == CrashAtCall || f.Kind == CrashAtPublish {
		f.Count = r.IntN(2)
	}
	if f.Node < ingests && r.chance(50) {
		writes := []FaultKind{StoreFails, StoreUnknown, StoreHangs, StoreHangs, StoreLate}
		f.Kind, f.Method, f.Nth = writes[r.IntN(len(writes))], "Write", 1+r.IntN(12)
	}
	return f
}

// call draws which call a fault strikes: mostly early ones, which every life makes.
func (r *dice) call() int {
	if r.chance(50) {
		return 1 + r.IntN(20)
	}
	return 1 + r.IntN(200)
}

// cutOff cuts schedulers and dispatchers off from the store. In some lives it is the only fault, and strikes one of
// them; with other faults it strikes a process, a role, or all.
func (r *dice) cutOff(p *Plan) {
	workers := p.Schedulers + dispatchers
	f := Fault{
		Kind: StoreCut, Node: ingests + r.IntN(workers), At: r.between(0, p.Length*3/4), Count: r.IntN(2),
		For: r.between(time.Second, 30*time.Second),
	}
	f.For = min(f.For, p.Length-f.At)
	switch {
	case p.Seed%kinds == 4:
		if r.chance(40) {
			p.Faults = []Fault{f}
		}
	case p.Seed%kinds == 0 || p.Seed%kinds == slowCommits || !r.chance(15):
	case r.chance(50):
		p.Faults = append(p.Faults, f)
	default:
		from, to := ingests, ingests+workers
		switch r.IntN(3) {
		case 0:
			to = from + p.Schedulers
		case 1:
			from += p.Schedulers
		}
		for f.Node = from; f.Node < to; f.Node++ {
			p.Faults = append(p.Faults, f)
		}
	}
}

// backlog adds many timers of one namespace that are due at the same time and keep the dispatchers busy for seconds.
// They are due a second before a timer of another namespace. Timers of an idle namespace are due 1, 2 and 3 s later.
func (r *dice) backlog(p *Plan) {
	p.Narrow = 8
	p.Ops = slices.DeleteFunc(p.Ops, func(o Op) bool { return o.Timer >= crowdTimers })
	const soon = 2 * time.Second
	beside := p.Ops[r.IntN(len(p.Ops))]
	at := min(max(0, beside.At+beside.Soon-soon-time.Second), p.Length/2)
	for i := range 300 + r.IntN(100) {
		p.Ops = append(p.Ops, Op{
			ID: len(p.Ops), At: at, Timer: bulkTimers + i, Verb: Create, Node: r.IntN(ingests), Soon: soon, Bulk: true,
			Script: [][]Step{{{Answer: AnswerDone, After: r.between(100*time.Millisecond, 300*time.Millisecond)}}},
		})
	}
	for i := range 3 {
		due := at + soon + time.Duration(1+i)*time.Second
		o := Op{ID: len(p.Ops), Timer: quietTimers + i, Verb: Create, Node: r.IntN(ingests), Quiet: true}
		o.At = max(0, due-r.between(0, 6*time.Second))
		o.Soon = due - o.At
		p.Ops = append(p.Ops, o)
	}
}

// releases makes processes of two releases run together in some lives: always, or because they are replaced one by one,
// in any order, as in an upgrade, and perhaps replaced again, as in a rollback.
func (r *dice) releases(p *Plan) {
	if !r.chance(20) {
		return
	}
	if p.Seed%kinds == 0 && !p.backlog() {
		p.Narrow, p.HostLimit = 4, 1+r.IntN(2)
	}
	nodes := ingests + p.Schedulers + dispatchers
	other := []Release{Earlier, Earlier, Later}[r.IntN(3)]
	p.Releases = make([]Release, nodes)
	if r.chance(40) {
		for i := range p.Releases {
			p.Releases[i] = []Release{Present, other}[r.IntN(2)]
		}
		return
	}
	before, after := other, Present
	if r.chance(50) {
		before, after = after, before
	}
	for i := range p.Releases {
		p.Releases[i] = before
	}
	at, every := r.between(0, p.Length/2), r.between(0, 4*time.Second)
	replace := func(node int, by Release) {
		p.Faults = append(p.Faults, Fault{Kind: Replace, Node: node, At: min(at, p.Length-time.Millisecond), Release: by})
		at += every
	}
	order := r.Perm(nodes)[:1+r.IntN(nodes)]
	for _, node := range order {
		replace(node, after)
	}
	if r.chance(40) {
		slices.Reverse(order)
		for _, node := range order {
			replace(node, before)
		}
	}
}

// clocks makes the clocks of machines wrong. In some lives these are the only faults, and strike one machine; with
// other faults they strike a machine or all machines of schedulers and dispatchers. Many are shortly before a timer is
// due.
func (r *dice) clocks(p *Plan) {
	nodes := ingests + p.Schedulers + dispatchers
	draw := func() Fault {
		f := Fault{Kind: ClockStep, Node: r.IntN(nodes), At: r.between(0, p.Length*3/4)}
		if o := p.Ops[r.IntN(len(p.Ops))]; r.chance(70) {
			f.At = min(max(0, o.At+o.Soon-r.between(0, time.Second)), p.Length*3/4)
		}
		most := []time.Duration{time.Second, time.Minute, 2 * time.Hour}[r.IntN(3)]
		f.Delay = r.between(-most, most)
		if r.chance(50) {
			f.Kind = ClockJump
			if r.chance(50) {
				f.For = min(r.between(100*time.Millisecond, 20*time.Second), p.Length-f.At)
			}
		}
		return f
	}
	switch {
	case p.Seed%kinds == 4:
		if r.chance(40) {
			node := r.IntN(nodes)
			p.Faults = nil
			for range 1 + r.IntN(4) {
				f := draw()
				f.Node = node
				p.Faults = append(p.Faults, f)
			}
		}
	case p.Seed%kinds == 0 || p.Seed%kinds == slowCommits || !r.chance(15):
	case r.chance(50):
		for range 1 + r.IntN(3) {
			p.Faults = append(p.Faults, draw())
		}
	default:
		f := draw()
		for f.Node = ingests; f.Node < nodes; f.Node++ {
			p.Faults = append(p.Faults, f)
		}
	}
}

// suspendIngest sets the clock of an ingest back while callbacks run. The ingest then changes their timers, which by
// that clock are not due yet.
func (r *dice) suspendIngest(p *Plan) []Fault {
	at, node := r.between(time.Second, p.Length/2), r.IntN(ingests)
	for i := range 8 {
		due := at + r.between(time.Second, 5*time.Second)
		answer := r.step(AnswerDone)
		answer.After = r.between(500*time.Millisecond, 2*time.Second)
		p.Ops = append(p.Ops, Op{
			At: 0, Timer: 4000 + i, Verb: Create, Node: 1 - node, Soon: due, Script: [][]Step{{answer}},
		}, Op{
			At: due + answer.After - r.between(0, 500*time.Millisecond), Timer: 4000 + i, Verb: []Verb{Update, Delete}[r.IntN(2)],
			Node: node, Soon: 5 * time.Second,
		})
	}
	return []Fault{{Kind: ClockJump, Node: node, At: at, For: 8 * time.Second, Delay: -r.between(8*time.Second, time.Hour)}}
}

// poison makes one timer kill every dispatcher that delivers it.
func (r *dice) poison(ops []Op) {
	o := &ops[r.IntN(len(ops))]
	if o.Verb == Delete {
		return
	}
	o.Event = false
	o.Script = [][]Step{make([]Step, maxAttempts)}
	kill := Step{Answer: AnswerKill}
	if r.chance(50) {
		kill = Step{Answer: AnswerLeasedKill, After: 3 * time.Second}
	}
	for i := range o.Script[0] {
		o.Script[0][i] = kill
	}
}

// policies draws the parameters of retries: time limits, Retry-After, and circuits with receivers that are down.
func (r *dice) policies(p *Plan) {
	if p.Seed%kinds != 0 && (r.chance(8) || p.Seed%32 == 20) {
		p.Circuit, p.OpenFor = 2+r.IntN(2), 900*time.Millisecond
		if r.chance(50) {
			p.OpenFor = 3 * time.Second
		}
		at := r.between(0, p.Length/2)
		for i := range 8 {
			steps := make([]Step, 1+r.IntN(maxAttempts))
			for i := range steps {
				steps[i].Answer = AnswerRefuse
			}
			p.Ops = append(p.Ops, Op{
				At: at, Timer: 3000 + i, Verb: Create, Node: r.IntN(ingests), Soon: r.between(time.Second, 4*time.Second),
				Script: [][]Step{steps},
			})
		}
	}
	waits := []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, time.Minute}
	for i := range p.Ops {
		o := &p.Ops[i]
		if p.Circuit == 0 && r.chance(20) {
			o.Limit = r.between(time.Second, 15*time.Second)
		}
		for _, life := range o.Script {
			for j := range life {
				life[j].Wait = waits[r.IntN(len(waits))]
			}
		}
	}
}

// makeNamespace adds the creation of a namespace while the cluster runs. Half of the timers that begin later are in
// this namespace, some of them immediately after its creation.
func (r *dice) makeNamespace(p *Plan) {
	at := r.between(0, p.Length/2)
	late := map[int]bool{}
	for i := range p.Ops {
		o := &p.Ops[i]
		if _, known := late[o.Timer]; !known {
			late[o.Timer] = o.At >= at && r.chance(50)
		}
		o.Late = late[o.Timer]
	}
	p.Ops = append(p.Ops, Op{At: at, Timer: namespaceMaker, Verb: MakeNamespace, Node: r.IntN(ingests)})
}

// recreate creates the command topic again shortly after a command, which may be waiting for the store. Such a command
// is lost with the topic, or it is applied and its answer is lost.
func (r *dice) recreate(p *Plan) {
	var commands []time.Duration
	for _, o := range p.Ops {
		if o.Topic {
			commands = append(commands, o.At)
		}
	}
	if len(commands) == 0 {
		return
	}
	at := commands[r.IntN(len(commands))] + r.between(0, 3*time.Second)
	p.Faults = append(p.Faults, Fault{Kind: Recreate, At: min(at, p.Length-time.Millisecond)})
	for node := range ingests {
		kinds := []FaultKind{StoreFails, StoreUnknown, StoreHangs, StoreLate}
		p.Faults = append(p.Faults, Fault{
			Kind: kinds[r.IntN(len(kinds))], Node: node, Method: "WriteAt", Nth: 1 + r.IntN(2*len(commands)),
			Count: 1 + r.IntN(4), For: r.between(500*time.Millisecond, 5*time.Second),
		})
	}
}

// namespaceMaker is the timer number of operations without a timer.
const namespaceMaker = 999

// lastMoments adds timers that are changed shortly before they are due.
func (r *dice) lastMoments(p *Plan) {
	for i := range 6 {
		at, soon := r.between(0, p.Length/2), r.between(3*time.Second, 10*time.Second)
		before := r.between(clockBound, 2*time.Second)
		o := Op{At: at, Timer: 2000 + i, Verb: Create, Node: r.IntN(ingests), Soon: soon}
		verbs := []Verb{Create, Update, Delete}
		change := Op{
			At: at + soon - before, Timer: o.Timer, Verb: verbs[r.IntN(len(verbs))], Node: r.IntN(ingests),
			Soon: r.between(3*time.Second, 10*time.Second),
		}
		p.Ops = append(p.Ops, o, change)
	}
}

// crowd adds many timers that are due at about the same time, with slow callbacks.
func (r *dice) crowd(p *Plan) {
	at := r.between(0, p.Length/2)
	for i := range 10 + r.IntN(10) {
		p.Ops = append(p.Ops, Op{
			ID: len(p.Ops), At: at, Timer: crowdTimers + i, Verb: Create, Node: r.IntN(ingests), Soon: 3 * time.Second,
			Script: [][]Step{{{Answer: AnswerDone, After: r.between(200*time.Millisecond, 1500*time.Millisecond)}}},
		})
	}
}
