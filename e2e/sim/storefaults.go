package sim

import (
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/store"
)

// faulty is a process's store with the plan's faults.
type faulty struct {
	store.Store

	life   *life
	faults *faultstore.Faults
	flows  store.Flows
	dead   atomic.Bool
	healed atomic.Bool
}

func newFaulty(inner store.Store, l *life) *faulty {
	f := &faulty{life: l}
	f.faults = faultstore.New(f.plan)
	f.Store = f.faults.Wrap(&witness{Store: inner, life: l})
	flows, _ := store.As[store.Flows](inner)
	f.flows = f.faults.Flows(flows)
	return f
}

// Unwrap is used by store.As.
func (f *faulty) Unwrap() store.Store { return f.Store }

// kill fails all later calls; calls in flight may still be applied.
func (f *faulty) kill() { f.dead.Store(true) }

func (f *faulty) heal() { f.healed.Store(true) }

// plan looks up the fault of a call of the node's present process.
func (f *faulty) plan(method string, _ int) faultstore.Fault {
	n := f.life.node
	w := n.world
	if f.dead.Load() {
		return faultstore.Fault{Kind: faultstore.FailBefore}
	}
	if f.healed.Load() {
		return faultstore.Fault{}
	}
	if cut, ok := f.cut(); ok {
		return cut
	}
	n.mu.Lock()
	n.calls[""]++
	n.calls[method]++
	all, same := n.calls[""], n.calls[method]
	n.mu.Unlock()
	for _, p := range w.plan.Faults {
		if p.Node%len(w.nodes) != n.index || p.Method != "" && p.Method != method {
			continue
		}
		nth := all
		if p.Method != "" {
			nth = same
		}
		if p.Kind == CrashAtCall {
			if nth == p.Nth {
				return f.crashAt(method, nth, p)
			}
			continue
		}
		if nth < p.Nth || nth >= p.Nth+p.Count {
			continue
		}
		var kind faultstore.Kind
		switch p.Kind {
		case StoreFails:
			kind = faultstore.FailBefore
		case StoreUnknown:
			kind = faultstore.FailAfter
		case StoreHangs:
			kind = faultstore.Delay
			w.late.Add(1)
			w.others.Go(func() {
				sleep(w.outlive, p.For+time.Second) // a moment after the call
				w.late.Add(-1)
			})
		case StoreLate:
			kind = faultstore.CommitLate
			w.late.Add(1)
			w.others.Go(func() {
				sleep(w.outlive, p.For)
				f.faults.CommitNext()
				w.late.Add(-1)
			})
		default:
			continue
		}
		w.note("%s  store call %d, %s: %s for %v", n, nth, method, p.Kind, p.For)
		w.recording.struck(p.Kind, n, p.For)
		return faultstore.Fault{Kind: kind, For: p.For}
	}
	return faultstore.Fault{}
}

// cut returns the fault of calls while the node does not reach the store.
func (f *faulty) cut() (faultstore.Fault, bool) {
	n := f.life.node
	now := n.world.since()
	for _, p := range n.world.plan.Faults {
		if p.Kind != StoreCut || p.Node%len(n.world.nodes) != n.index || now < p.At || now >= p.At+p.For {
			continue
		}
		if p.Count == 0 {
			return faultstore.Fault{Kind: faultstore.FailBefore}, true
		}
		return faultstore.Fault{Kind: faultstore.Delay, For: p.At + p.For - now}, true
	}
	return faultstore.Fault{}, false
}

// crashAt kills the process before the call is applied, or after it and before the answer arrives.
func (f *faulty) crashAt(method string, nth int, p Fault) faultstore.Fault {
	n := f.life.node
	w := n.world
	w.note("%s  crashes at store call %d, %s, applied: %v", n, nth, method, p.Count == 1)
	w.revive(n, p.For)
	if p.Count == 0 {
		n.crash()
		return faultstore.Fault{Kind: faultstore.FailBefore}
	}
	w.recording.struck(p.Kind, n, 0) // the answer is lost before the process dies
	w.others.Go(n.crash)
	return faultstore.Fault{Kind: faultstore.FailAfter}
}
