package faultstore

import "time"

// Kind is what happens to one call. What a lost answer looks like depends on the call: a write answers
// store.ErrOutcomeUnknown, a read, of which nothing can be applied, store.ErrUnavailable.
type Kind int

const (
	// None lets the call through. It is the zero Fault.
	None Kind = iota
	// FailBefore answers store.ErrUnavailable; nothing was applied.
	FailBefore
	// FailAfter applies the call and loses the answer.
	FailAfter
	// FailPartly applies the first half of a batch, rounded down, and loses the answer. Calls that
	// are no batches of independent items are not applied.
	FailPartly
	// Delay waits for For and lets the call through then. If the context ends first, nothing was
	// applied, which the answer does not tell.
	Delay
	// Freeze waits until Until is closed and lets the call through then. If the context ends first,
	// nothing was applied, which the answer does not tell.
	Freeze
	// CommitLate loses the answer now and applies the call later, when Faults.CommitNext says so: a
	// statement that sat in a queue of the network or of the database.
	CommitLate
)

// Fault is what happens to one call.
type Fault struct {
	Kind Kind
	// For is Delay's length.
	For time.Duration
	// Until releases a Freeze; nil never does.
	Until <-chan struct{}
	// Hold makes CommitLate answer only when the call's context ends, else it answers at once.
	Hold bool
}

// Plan says what happens to each call. method is the contract's name for it ("Write", "Due", …), n
// counts the calls of that method through one Faults, from 1. Calls of the plan come one at a time.
// Empty batches never reach a database, so they are not in it, and neither is Close.
type Plan func(method string, n int) Fault

// OnCall is a plan of one fault: the n-th call of a method.
func OnCall(method string, n int, f Fault) Plan {
	return func(m string, i int) Fault {
		if m == method && i == n {
			return f
		}
		return Fault{}
	}
}

// OnEvery is a plan of one fault for every call of the methods.
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
