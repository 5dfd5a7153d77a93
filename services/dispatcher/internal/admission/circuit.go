package admission

import "time"

// Result says what an attempt has shown about its host, for the host's circuit.
type Result int

const (
	// Replied: the host answered. An error status counts, too: it may concern only one of the receivers behind the host.
	Replied Result = iota
	// Silent: the host gave no answer at all.
	Silent
	// Untried: no call was made, or its result says nothing about the host.
	Untried
)

// Change is a change of a circuit.
type Change string

const (
	// Opened: the host stopped answering a namespace.
	Opened Change = "opened"
	// Closed: the host answers again.
	Closed Change = "closed"
)

// circuit stops the calls of one namespace to a host that does not answer them.
type circuit struct {
	unanswered int           // consecutive calls without an answer
	open       bool          // the circuit is open
	retryAt    time.Duration // when one call may try again
	trying     bool          // that call is in flight
	// changes is incremented when the circuit opens, closes, or stays open after an unanswered call. The result of a call
	// that began before the last increment is ignored.
	changes int
}

// allows reports whether one more call may be made.
func (c *circuit) allows(elapsed time.Duration) bool {
	return !c.open || elapsed > c.retryAt && !c.trying
}

// report passes the result of a call to its circuit.
func (l *limiter) report(h *host, p *permit, result Result) Change {
	c := p.tenant
	if c.changes != p.changes {
		return ""
	}
	c.trying = false
	switch result {
	case Untried:
	case Replied:
		c.unanswered = 0
		if c.open {
			c.open = false
			c.changes++
			h.openCircuits--
			l.openCircuits--
			return Closed
		}
	case Silent:
		c.unanswered++
		if !c.open && c.unanswered < l.limits.CircuitAfter {
			break
		}
		c.retryAt = l.elapsed + l.limits.CircuitOpenFor
		c.changes++
		if !c.open {
			c.open = true
			h.openCircuits++
			l.openCircuits++
			return Opened
		}
	}
	return ""
}
