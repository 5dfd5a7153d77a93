package dispatcher

import (
	"container/list"
	"errors"
	"strings"
	"time"

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

	// full: more want to call it than may. Then its pace is measured: in how much of the time lately how
	// many calls ended. fullAt and quietAt are times of the gate's pulse: when it became full, and when a
	// call last ended since.
	full            bool
	since           time.Duration // when a call last ended, or it became full
	fullAt, quietAt time.Duration
	spent           time.Duration
	ended           float64
	tail            time.Duration // by when what was postponed so far can have been called
	warned          bool          // that it is full, since it last was not
	down            bool          // the circuit has opened and not closed again since
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

// pulse is a clock that runs while answers come in, from whomever. A host is not silent because the whole
// process, or the machine, stood still.
type pulse struct{ last, lived time.Duration }

// beatMost is how much of the time between two answers counts.
const beatMost = 100 * time.Millisecond

func (p *pulse) at(elapsed, most time.Duration) time.Duration {
	return p.lived + min(elapsed-p.last, most)
}

func (p *pulse) beat(elapsed, most time.Duration) {
	p.lived, p.last = p.at(elapsed, most), elapsed
}

// paceWindow is over about what time a pace is measured: long enough for hosts that answer in bursts.
const paceWindow = 10 * time.Second

// stuckAfter is how long a host that became full, or fell silent, is given before that says anything.
const stuckAfter = 250 * time.Millisecond

// answered notes that a call has ended.
func (h *host) answered(elapsed, pulse time.Duration) {
	if !h.full {
		h.full, h.fullAt = true, pulse
		h.since, h.quietAt = elapsed, pulse
		return
	}
	h.spent += elapsed - h.since
	h.ended++
	h.since, h.quietAt = elapsed, pulse
	if h.spent > paceWindow {
		h.spent /= 2
		h.ended /= 2
	}
}

// fill notes that somebody was not let in.
func (h *host) fill(elapsed, pulse time.Duration) {
	if !h.full {
		h.full, h.since, h.fullAt, h.quietAt = true, elapsed, pulse, pulse
	}
}

// pace is the time from the end of one call to that of the next, as far as it is known.
func (h *host) pace(elapsed time.Duration) time.Duration {
	if !h.full {
		return time.Duration(float64(h.spent) / max(h.ended, 1))
	}
	return time.Duration(float64(h.spent+elapsed-h.since) / (h.ended + 1))
}

// bearable is how many can wait for the host without waiting longer than patience.
func (h *host) bearable(pulse, patience time.Duration) int {
	if pulse-h.fullAt < stuckAfter {
		return maxWaiting
	}
	pace := time.Duration(float64(h.spent) / max(h.ended, 1))
	if quiet := pulse - h.quietAt; quiet > stuckAfter {
		// It may be slow in bursts or have stopped; whoever waits in the row is not lost.
		pace = max(pace, quiet)
	}
	return int(min(patience/max(pace, time.Microsecond), maxWaiting))
}

// maxWaiting stands for "any number"; what the bus hands over is bounded.
const maxWaiting = 1 << 20

// put is how long to postpone one more timer of the host: behind those postponed before.
func (h *host) put(elapsed, least, most time.Duration) time.Duration {
	h.tail = max(h.tail, elapsed) + h.pace(elapsed)
	// The tail stays in reach: who comes after most is asked again then.
	h.tail = min(h.tail, elapsed+most)
	return max(h.tail-elapsed, least)
}
