package sim

import (
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/timer"
)

// schedules adds a namespace with schedules to some lives, like flows.
func (r *dice) schedules(p *Plan) {
	if p.Seed%kinds == 0 || p.Seed%kinds == slowCommits || p.backlog() || !r.chance(20) || p.has(func(o *Op) bool { return o.Verb == MakeNamespace }) {
		return
	}
	count := 1 + r.IntN(5)
	for n := range count {
		p.Ops = append(p.Ops, r.scheduleLife(n, p.Length)...)
	}
	if r.chance(30) {
		r.filters(p)
	}
	p.sortOps()
	if p.Seed%kinds == 4 {
		return
	}
	if r.chance(25) {
		r.outage(p)
	}
	if r.chance(60) {
		r.ingestFaults(p, []string{"Write", "Write", "Write", "WriteAt", "WriteAt", "Get"}, 25)
	}
}

// ingestFaults adds faults of calls of ingests, one of the first most calls of each of the methods.
func (r *dice) ingestFaults(p *Plan, methods []string, most int) {
	for range 1 + r.IntN(4) {
		f := Fault{
			Kind: []FaultKind{CrashAtCall, CrashAtCall, CrashAtCall, StoreUnknown, StoreHangs, StoreLate, StoreFails}[r.IntN(7)],
			Node: r.IntN(ingests), Method: methods[r.IntN(len(methods))], Nth: 1 + r.IntN(most), Count: 1,
			For: r.between(100*time.Millisecond, 8*time.Second),
		}
		if f.Kind == CrashAtCall {
			f.Count = r.IntN(2)
		}
		p.Faults = append(p.Faults, f)
	}
}

// scheduleLife draws the operations on one schedule: all by HTTP or all on the command topic.
func (r *dice) scheduleLife(n int, length time.Duration) []Op {
	at, topic := r.between(0, length/2), r.chance(50)
	next := func(verb Verb) Op {
		return Op{At: at, Timer: scheduleTimers + n, Verb: verb, Node: r.IntN(ingests), Topic: topic}
	}
	first := next(MakeSchedule)
	first.Recur = r.recur()
	ops := []Op{first}
	verbs := []Verb{
		ChangeSchedule, ChangeSchedule, ChangeSchedule, HoldSchedule, FreeSchedule, TriggerSchedule, FillSchedule, FillSchedule, DropSchedule,
	}
	for r.chance(65) && len(ops) < 8 {
		at = min(at+r.between(0, 15*time.Second), length-time.Second)
		if r.chance(20) {
			at = ops[len(ops)-1].At // several commands in a batch
		}
		o := next(verbs[r.IntN(len(verbs))])
		switch o.Verb { //nolint:exhaustive // no other verb has fields.
		case ChangeSchedule:
			o.Recur = Recur{Every: first.Recur.Every}
			if r.chance(60) {
				o.Recur.Every = r.between(time.Second, 6*time.Second)
			}
			o.Pending = r.chance(50)
		case DropSchedule:
			o.Pending = r.chance(70)
		case FillSchedule:
			// The range must not be in the future by the clock of the ingest.
			o.Soon = -r.between(2*clockBound, 10*time.Second)
			o.Back = r.between(time.Second, 20*time.Second)
		}
		if o.Pending { // often some are running
			for i := range ops[0].Recur.Answers {
				ops[0].Recur.Answers[i].After = r.between(time.Second, 9*time.Second)
			}
		}
		ops = append(ops, o)
	}
	at = max(at, length-time.Second)
	return append(ops, next(FreeSchedule))
}

// filters adds operations on all schedules. The last one resumes those that are paused.
func (r *dice) filters(p *Plan) {
	at := r.between(0, p.Length/2)
	next := func(verb Verb, status timer.Status) {
		p.Ops = append(p.Ops, Op{At: at, Timer: scheduleFilters, Verb: verb, Node: r.IntN(ingests), Status: status})
		at = min(at+r.between(time.Second, 15*time.Second), p.Length-time.Second)
	}
	for range 1 + r.IntN(2) {
		next(HoldSchedules, []timer.Status{"", "active"}[r.IntN(2)])
		if r.chance(20) {
			next(DropSchedules, "paused")
		}
		next(FreeSchedules, []timer.Status{"", "paused"}[r.IntN(2)])
	}
	if r.chance(30) {
		next(DropSchedules, []timer.Status{"active", "active", "paused"}[r.IntN(3)])
	}
	next(FreeSchedules, "")
}

// outage cuts all dispatchers, or all schedulers and dispatchers, off from the store, often for longer than the catch-up window.
func (r *dice) outage(p *Plan) {
	f := Fault{Kind: StoreCut, At: r.between(0, p.Length/2), Count: r.IntN(2), For: r.between(8*time.Second, 45*time.Second)}
	f.For = min(f.For, p.Length-f.At)
	from := ingests + r.IntN(2)*p.Schedulers
	for f.Node = from; f.Node < ingests+p.Schedulers+dispatchers; f.Node++ {
		p.Faults = append(p.Faults, f)
	}
}

func (r *dice) recur() Recur {
	c := Recur{
		Every: r.between(time.Second, 6*time.Second), Overlap: []string{"allow", "allow", "skip", "queue", "cancelOther"}[r.IntN(5)],
		CatchUp: []string{"all", "all", "last", "none"}[r.IntN(4)],
	}
	if c.CatchUp == "all" {
		c.CatchUpWindow = r.between(schedule.OnTime, 30*time.Second)
	}
	if r.chance(30) {
		c.Window = r.between(time.Millisecond, 3*time.Second)
	}
	if r.chance(30) {
		c.Count = 1 + r.IntN(8)
	}
	if r.chance(20) {
		c.PauseOnDead = 1 + r.IntN(3)
	}
	kinds := []Answer{AnswerDone, AnswerDone, AnswerDone, AnswerOK, AnswerError, AnswerGone, AnswerGone}
	if r.chance(20) {
		kinds = append(kinds, AnswerAgain, AnswerStop)
	}
	for range 1 + r.IntN(4) {
		c.Answers = append(c.Answers, r.step(kinds[r.IntN(len(kinds))]))
	}
	return c
}
