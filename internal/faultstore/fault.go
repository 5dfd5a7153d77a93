package faultstore

import "time"

// Kind is the effect of a fault on one call. If the answer is lost, a write returns store.ErrOutcomeUnknown, and a read
// returns store.ErrUnavailable, because it changes nothing.
type Kind int

const (
	// None forwards the call. It is the zero Fault.
	None Kind = iota
	// FailBefore returns store.ErrUnavailable. Nothing is applied.
	FailBefore
	// FailAfter applies the call and loses the answer.
	FailAfter
	// FailPartly applies the first half of a batch, rounded down, and loses the answer. Calls that are not batches of
	// independent items are not applied.
	FailPartly
	// Delay waits for For and then forwards the call. If the context ends first, nothing is applied, but a write
	// returns store.ErrOutcomeUnknown.
	Delay
	// Freeze waits until Until is closed and then forwards the call. If the context ends first, nothing is applied, but
	// a write returns store.ErrOutcomeUnknown.
	Freeze
	// CommitLate loses the answer and applies the call later, when Faults.CommitNext is called. It simulates a
	// statement that waited in a queue of the network or of the database.
	CommitLate
)

// Fault is the fault of one call.
type Fault struct {
	Kind Kind
	// For is the duration of a Delay.
	For time.Duration
	// Until ends a Freeze when it is closed. If it is nil, the Freeze ends with the context.
	Until <-chan struct{}
	// Hold makes CommitLate return only when the call's context ends. Otherwise it returns immediately.
	Hold bool
}

// Plan returns the fault of each call. method is the contract's name of the method ("Write", "Due", …). n counts the
// calls of that method through one Faults, from 1. Faults never calls a plan concurrently. Empty batches never reach a
// database, so the plan is not called for them, nor for Close.
type Plan func(method string, n int) Fault

// OnCall returns a plan with one fault: the n-th call of a method.
func OnCall(method string, n int, f Fault) Plan {
	return func(m string, i int) Fault {
		if m == method && i == n {
			return f
		}
		return Fault{}
	}
}

// OnEvery returns a plan in which every call of the methods has the fault.
func OnEvery(f Fault, methods ...string) Plan {
	faulty := map[string]bool{}
	for _, m := range methods {
		faulty[m] = true
	}
	return func(m string, _ int) Fault {
		if faulty[m] {
			return f
		}
		return Fault{}
	}
}

// Cuts returns plans that cut a process off from the store, by name: its calls are "refused", or they get no answer and
// are "silent".
func Cuts() map[string]Plan {
	return map[string]Plan{
		"refused": func(string, int) Fault { return Fault{Kind: FailBefore} },
		"silent":  func(string, int) Fault { return Fault{Kind: Freeze} },
	}
}
