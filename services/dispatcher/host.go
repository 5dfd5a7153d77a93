package dispatcher

import (
	"container/list"
	"errors"
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

// host is one receiver's host and port, as far as this process calls it.
type host struct {
	name    string
	calls   int         // under way
	waiting []*delivery // known to call it, in order of arrival; their rows are checked again
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	on      *list.List    // the gate's idle or queued list, or none
	place   *list.Element // in it

	// full: more want to call it than may. Then its pace is measured: in how much of the time lately how
	// many calls ended, and since when none has.
	full                  bool
	fullSince, quietSince time.Duration
	spent                 time.Duration
	ended                 float64
	tail                  time.Duration // by when what was postponed so far can have been called
	warned                bool          // that it is full, since it last was not
	down                  bool          // the circuit has opened and not closed again since
}

// paceWindow is over about what time a pace is measured: long enough for hosts that answer in bursts.
const paceWindow = 10 * time.Second

// stuckAfter is how long a host that became full, or fell silent, is given before that says anything: the
// process itself stands still now and then.
const stuckAfter = 250 * time.Millisecond

// answered notes that a call has ended.
func (h *host) answered(elapsed time.Duration) {
	if !h.full {
		return
	}
	h.spent += elapsed - h.quietSince
	h.ended++
	h.quietSince = elapsed
	if h.spent > paceWindow {
		h.spent /= 2
		h.ended /= 2
	}
}

// fill notes that somebody was not let in.
func (h *host) fill(elapsed time.Duration) {
	if !h.full {
		h.full, h.fullSince, h.quietSince = true, elapsed, elapsed
	}
}

// pace is the time from the end of one call to that of the next, as far as it is known.
func (h *host) pace(elapsed time.Duration) time.Duration {
	return time.Duration(float64(h.spent+elapsed-h.quietSince) / (h.ended + 1))
}

// bearable is how many can wait for the host without waiting longer than patience.
func (h *host) bearable(elapsed, patience time.Duration) int {
	if elapsed-h.fullSince < stuckAfter {
		return maxWaiting
	}
	pace := h.pace(elapsed)
	if quiet := elapsed - h.quietSince; quiet > stuckAfter {
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
