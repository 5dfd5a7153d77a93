package dispatcher

import "time"

// lookahead is how many deliveries are read at once whose hosts are not known yet. Reading shows whom a timer
// calls; those who have to wait for their host are read again then, and that is what it saves: when most of
// what was read had to wait for a host that is quick, fewer are read, and next to none as long as others wait.
// When all can go, or what waits will not go soon anyway, more are read, which finds the hosts that have
// places.
type lookahead struct {
	size, most int
	last       time.Duration // when somebody was read
	// What became of those that were read since the last look.
	useful, vain int
}

const (
	leastLook = 4
	// lookEach is how many are read every lookAnyway all the same, so that the queue keeps moving past a host
	// that has many waiting.
	lookEach   = 16
	lookAnyway = 20 * time.Millisecond
	// quickPace is the pace of hosts that are worth waiting for.
	quickPace = 10 * time.Millisecond
)

// next is how many to read now, while so many wait for hosts.
func (l *lookahead) next(waiting int, elapsed time.Duration) int {
	switch {
	case l.vain > l.useful/4:
		l.size = min(max(l.size/2, leastLook), l.most)
	case l.useful > 0:
		l.size = min(2*l.size, l.most)
	}
	l.useful, l.vain = 0, 0
	size := l.size
	if waiting > 0 && size < l.most/4 {
		if elapsed-l.last < lookAnyway {
			return 0
		}
		size = lookEach
	}
	l.last = elapsed
	return size
}
