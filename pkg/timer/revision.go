package timer

import (
	"strconv"
	"sync"
)

// Revision identifies one state of one timer: with the UUID it never repeats. Revisions are compared for equality only.
// They are positive and at most 2^63 − 1, so that every engine's integer type can store them.
type Revision int64

// A write that postpones a timer sets the lowest byte of the revision to one of the constants postponed and maybeStarted,
// and the next three bits to the number of postponements minus one. No other write of this release does. Revisions of
// earlier releases have these values by chance: then the next start is counted (I13), or other timers are postponed first.
const (
	lowestByte     Revision = 0xff
	postponed      Revision = 0xfe
	maybeStarted   Revision = 0xff
	postponedShift          = 8
	postponedBits           = postponedShift + 3
)

// MaxPostponements is the greatest number that Revision.Postponements returns.
const MaxPostponements = 1 << (postponedBits - postponedShift)

// MaybeStarted reports whether a delivery of the timer may have started before the write that made this state, and ended
// without a result: the write postponed a redelivered event (I13).
func (r Revision) MaybeStarted() bool { return r&lowestByte == maybeStarted }

// Postponements returns how many writes in a row postponed the timer, the last of which made this state; at most
// MaxPostponements.
func (r Revision) Postponements() int {
	if r&lowestByte < postponed {
		return 0
	}
	return 1 + int(r>>postponedShift&(MaxPostponements-1))
}

// Generation is the Revision of the write that set a timer's current life. Retries and postponements keep it. Receivers
// see it in webhook-id.
type Generation int64

func (r Revision) String() string   { return strconv.FormatInt(int64(r), 10) }
func (g Generation) String() string { return strconv.FormatInt(int64(g), 10) }

// ParseGeneration parses the decimal string in JSON (many JSON decoders round numbers above 2^53).
func ParseGeneration(s string) (Generation, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 {
		return 0, Invalid("generation", s, "a generation as an answer gave it: a positive decimal string")
	}
	return Generation(n), nil
}

const (
	// randomBits is the number of random low bits of a revision. If two processes write the same timer in the same
	// millisecond, they collide once in two million times (if both postpone it, once in 1,024), and only the loser of a
	// compare-and-set could notice.
	randomBits = 21
	// maxStep limits the random step between two revisions made in one millisecond by one process. On average 300 to
	// 500 of them fit into the random bits before the clock part is a millisecond ahead.
	maxStep = 1 << 13
)

// Revisions generates revisions: a hybrid clock (42 bits of milliseconds since 1970, enough until 2109) and random
// bits. They increase within a process. They do not repeat across processes, restarts or a store that lost writes,
// because they do not depend on stored data.
type Revisions struct {
	now    Clock
	random func() uint64

	mu   sync.Mutex
	last Revision
}

// NewRevisions returns a generator that uses the process's clock and a source of random bits (math/rand/v2.Uint64 in
// production, a seeded one in simulation). A process must use only one.
func NewRevisions(now Clock, random func() uint64) *Revisions {
	return &Revisions{now: now, random: random}
}

// Next returns a revision that was never returned before, with Postponements 0.
func (r *Revisions) Next() Revision {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = r.next()
	if r.last.Postponements() > 0 {
		r.last = (r.last | lowestByte) + 1
	}
	return r.last
}

// next returns a revision above the last one.
func (r *Revisions) next() Revision {
	bits := r.random()
	next := Revision(r.now())<<randomBits | Revision(bits&(1<<randomBits-1))
	if next <= r.last {
		next = r.last + 1 + Revision(bits%maxStep)
	}
	return next
}

// NextPostponed returns a revision as Next does, for a write that postpones the timer. times is the number of
// postponements with this one, at least 1. started: the next delivery is a redelivery (MaybeStarted).
func (r *Revisions) NextPostponed(times int, started bool) Revision {
	mark := Revision(min(times, MaxPostponements)-1)<<postponedShift | postponed
	if started {
		mark |= maybeStarted
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = r.next()>>postponedBits<<postponedBits + 1<<postponedBits | mark
	return r.last
}
