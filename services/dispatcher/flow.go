package dispatcher

import "time"

// flow is how fast something that is full takes one after another: a host with its places, a namespace with its
// slots. It is measured while it is full: in how much of the time lately how many had their turn. Times are since the
// start of the process.
type flow struct {
	// full: more want to go than may. fullAt and quietAt are times of a pulse: when it became full, and when one last
	// had its turn since.
	full            bool
	since           time.Duration // when one last had its turn, or it became full
	fullAt, quietAt time.Duration
	spent           time.Duration
	ended           float64
	tail            time.Duration // by when what was postponed so far can have its turn
}

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

// step notes that one had its turn.
func (f *flow) step(elapsed, pulse time.Duration) {
	if !f.full {
		f.full, f.fullAt = true, pulse
		f.since, f.quietAt = elapsed, pulse
		return
	}
	f.spent += elapsed - f.since
	f.ended++
	f.since, f.quietAt = elapsed, pulse
	if f.spent > paceWindow {
		f.spent /= 2
		f.ended /= 2
	}
}

// fill notes that somebody was not let in.
func (f *flow) fill(elapsed, pulse time.Duration) {
	if !f.full {
		f.full, f.since, f.fullAt, f.quietAt = true, elapsed, pulse, pulse
	}
}

// pace is the time from one to the next, as far as it is known.
func (f *flow) pace(elapsed time.Duration) time.Duration {
	if !f.full {
		return time.Duration(float64(f.spent) / max(f.ended, 1))
	}
	return time.Duration(float64(f.spent+elapsed-f.since) / (f.ended + 1))
}

// bearable is how many can wait without waiting longer than patience.
func (f *flow) bearable(pulse, patience time.Duration) int {
	if pulse-f.fullAt < stuckAfter {
		return maxWaiting
	}
	pace := time.Duration(float64(f.spent) / max(f.ended, 1))
	if quiet := pulse - f.quietAt; quiet > stuckAfter {
		// It may be slow in bursts or have stopped; whoever waits in the row is not lost.
		pace = max(pace, quiet)
	}
	return int(min(patience/max(pace, time.Microsecond), maxWaiting))
}

// maxWaiting stands for "any number"; what the bus hands over is bounded.
const maxWaiting = 1 << 20

// put is how long to postpone one more: behind those postponed before.
func (f *flow) put(elapsed, least, most time.Duration) time.Duration {
	f.tail = max(f.tail, elapsed) + f.pace(elapsed)
	// The tail stays in reach: who comes after most is asked again then.
	f.tail = min(f.tail, elapsed+most)
	return max(f.tail-elapsed, least)
}
