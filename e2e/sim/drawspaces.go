package sim

import (
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// The first numbers of the timers in limitedNamespace and removedNamespace, and of the clients without a timer.
const (
	limitedTimers, quotaClient, purger = 6000, 6900, 6901
	removedTimers, remover             = 7000, 7900
)

// spaces adds a namespace with quotas to some lives and one that is deleted to others, with faults of the ingests that
// change them if the life has faults. Lives with little room for more timers have neither.
func (r *dice) spaces(p *Plan) {
	if p.Seed%kinds == 0 || p.has(func(o *Op) bool { return o.Verb == MakeNamespace }) {
		return
	}
	limited, removed := r.chance(12), r.chance(12)
	if limited {
		r.limited(p)
	}
	if removed {
		r.removed(p)
	}
	if limited || removed {
		p.sortOps()
	}
}

// quota draws quotas that some creates exceed.
func (r *dice) quota() store.Quota {
	var q store.Quota
	if r.chance(70) {
		q.MaxPending = 1 + r.IntN(5)
	}
	if r.chance(40) {
		q.CreatesPerSecond = 1 + r.IntN(3)
	}
	if r.chance(40) {
		q.MaxPayload = 10 + r.IntN(40)
	}
	return q
}

func (r *dice) limited(p *Plan) {
	for i, at := 0, time.Duration(0); i < 3 && at < p.Length; i++ {
		p.Ops = append(p.Ops, Op{At: at, Timer: quotaClient, Verb: SetQuota, Node: r.IntN(ingests), Quota: r.quota(), Limited: true})
		at += r.between(time.Second, p.Length)
	}
	for t := limitedTimers; t < limitedTimers+20; {
		at := r.between(0, p.Length*3/4)
		for range 1 + r.IntN(6) { // a burst
			o := Op{
				At: at + r.between(0, 300*time.Millisecond), Timer: t, Verb: Create, Node: r.IntN(ingests), Limited: true,
				Soon: r.between(-time.Second, 25*time.Second), Topic: r.chance(10), Event: r.chance(15), Pad: r.IntN(2) * r.IntN(50),
			}
			if !o.Event && r.chance(50) {
				o.Script = r.script()
			}
			p.Ops = append(p.Ops, o)
			if r.chance(15) {
				o.Verb, o.At, o.Topic, o.Script = []Verb{Create, Update, Delete}[r.IntN(3)], o.At+r.between(0, 10*time.Second), false, nil
				p.Ops = append(p.Ops, o)
			}
			t++
		}
	}
	for range r.IntN(4) {
		p.Ops = append(p.Ops, Op{
			At: r.between(5*time.Second, p.Length), Timer: purger, Verb: Purge, Node: r.IntN(ingests), Limited: true,
			Status: []timer.Status{timer.StatusDead, timer.StatusDone}[r.IntN(2)],
		})
	}
}

func (r *dice) removed(p *Plan) {
	const waiting = 61 * time.Second
	at := r.between(time.Second, p.Length/3)
	p.Ops = append(p.Ops, Op{At: at, Timer: remover, Verb: RemoveNamespace, Node: r.IntN(ingests), Removed: true})
	again := r.chance(80)
	if again {
		p.Ops = append(p.Ops, Op{At: at, Timer: remover, Verb: MakeNamespace, Node: r.IntN(ingests), Removed: true})
	}
	create := func(from, until time.Duration, verb Verb) {
		o := Op{
			At: r.between(from, until), Timer: removedTimers + r.IntN(10), Verb: verb, Node: r.IntN(ingests), Removed: true,
			Soon: r.between(0, 10*time.Second), Event: r.chance(15),
		}
		if r.chance(50) {
			o.Soon = r.between(20*time.Second, 3*time.Minute)
		}
		if !o.Event && verb != Delete && r.chance(50) {
			o.Script = r.script()
		}
		p.Ops = append(p.Ops, o)
	}
	for range 8 {
		create(0, at, Create)
	}
	for range 6 {
		create(at, at+waiting, []Verb{Create, Create, Create, Update, Delete}[r.IntN(5)])
	}
	for range 8 {
		create(at+waiting, at+waiting+time.Minute, Create)
	}
	p.Length = max(p.Length, at+waiting+time.Minute)
	if p.Seed%kinds == 4 || p.Seed%kinds == slowCommits || !r.chance(70) {
		return
	}
	methods := []string{"UpdateNamespace", "DeleteNamespace", "DeleteNamespace", "Forget", "List", "GetNamespace", "CreateNamespace", "ListNamespaces"}
	for range 1 + r.IntN(3) {
		f := Fault{
			Kind: []FaultKind{CrashAtCall, CrashAtCall, StoreUnknown, StoreHangs, StoreLate, StoreFails}[r.IntN(6)], Node: r.IntN(ingests),
			Method: methods[r.IntN(len(methods))], Nth: 1 + r.IntN(4), Count: 1, For: r.between(500*time.Millisecond, 8*time.Second),
		}
		if f.Kind == CrashAtCall {
			f.Count = r.IntN(2)
		}
		if r.chance(25) {
			f = Fault{Kind: Crash, Node: r.IntN(ingests), At: at + r.between(0, waiting), For: r.between(100*time.Millisecond, 8*time.Second)}
		}
		p.Faults = append(p.Faults, f)
	}
}
