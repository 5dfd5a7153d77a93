package dispatcher

import (
	"container/list"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/timerbus/timerbus/pkg/timer"
)

var (
	// errNoAnswer is what a circuit counts: the host gave no answer at all. An answer of whatever status
	// is none of its business, because one host may serve many receivers.
	errNoAnswer = errors.New("no answer")
	// errUntried tells a circuit that a permitted call was not made, or says nothing about the host.
	errUntried = errors.New("not tried")
)

// host is one receiver's host and port, as far as this process calls it; or a topic of a user's own, whose events
// are calls here, each answered by the bus.
type host struct {
	target  timer.Target
	name    string        // for people; empty until a row that calls it was read
	limit   int           // places
	calls   int           // places in use
	waiting []*delivery   // for a place, in order of arrival; their rows were not read
	on      *list.List    // the gate's idle or queued list, or none
	place   *list.Element // in it

	drain
	refused  int           // deliveries postponed since the last report
	reportAt time.Duration // when the next report is due

	// circuits has one for each namespace: what one of them calls in vain, perhaps with little patience, says nothing
	// about the receivers of others behind the same host.
	circuits map[string]*circuit
	down     int // circuits that have opened and not closed again since
}

// circuit is a host's, as one namespace meets it.
type circuit struct {
	*gobreaker.TwoStepCircuitBreaker[struct{}]
	down bool // it has opened and not closed again since
}

// lets reports whether the circuit would let one more call through: while it tries whether the host answers again,
// none beside the one that tries.
func (c *circuit) lets() bool {
	switch c.State() {
	case gobreaker.StateOpen:
		return false
	case gobreaker.StateHalfOpen:
		counts := c.Counts()
		return counts.Requests == counts.TotalExclusions
	default:
		return true
	}
}
