package dispatcher

import (
	"container/list"
	"errors"
	"strings"

	"github.com/sony/gobreaker/v2"
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
	name    string
	limit   int         // places
	calls   int         // under way
	waiting []*delivery // known to call it, in order of arrival; their rows are checked again
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	on      *list.List    // the gate's idle or queued list, or none
	place   *list.Element // in it

	flow
	warned bool // that it is full, since it last was not
	down   bool // the circuit has opened and not closed again since
}

// lets reports whether the circuit would let one more call through: while it tries whether the host answers again,
// none beside the one that tries.
func (h *host) lets() bool {
	switch h.circuit.State() {
	case gobreaker.StateOpen:
		return false
	case gobreaker.StateHalfOpen:
		c := h.circuit.Counts()
		return c.Requests == c.TotalExclusions
	default:
		return true
	}
}

// topicPlace is what a topic of a user's own is called among hosts, none of which has a blank in its name.
func topicPlace(topic string) string { return topicMark + topic }

func isTopicPlace(name string) bool { return strings.HasPrefix(name, topicMark) }

const topicMark = "topic "
