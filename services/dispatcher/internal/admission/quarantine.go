package admission

import (
	"slices"
	"time"
)

// quarantine contains the quarantined timers: those whose next start is at least their second counted start without a
// result (I13). Each may be poison, but most of them only ran in a process that ended. They start in groups that get
// smaller with the number of starts, so that innocent ones get a result, while other deliveries continue. A delivery
// leaves its group when it ends or gets a row lease: a poison timer usually crashes the process early, so it need not
// be isolated longer, and slow callbacks do not block others for minutes.
//
// The last two starts before a timer is parked are isolated. The timer waits until every other delivery has ended or has a
// lease. No delivery starts until it has ended or has a lease itself, and no other quarantined timer runs at the same
// time, leased or not. Otherwise a poison timer and a slow innocent timer could run together repeatedly, and be parked
// together. Waiting is not counted; only a start counts. docs/model/Quarantine.tla is the model.
type quarantine struct {
	waiting  []*Ticket // in order of arrival
	running  int       // timers that have begun, leased or not
	unleased [2]int    // running timers without a lease: [0] all, [1] those at their third or later start
	passed   int       // timers that got a result or a lease since quarantine was last empty
	isolated *Ticket   // the timer that runs alone, leased or not
	// othersNext: the next batch contains other deliveries, because the last one was a quarantined group.
	othersNext bool
}

// Quarantine makes a delivery wait for a group. starts includes the start that it waits for.
func (q *Queue) Quarantine(t *Ticket, starts int) {
	if q.ended(t) {
		return
	}
	q.move(t, Quarantined)
	t.starts = starts
	q.quarantine.waiting = append(q.quarantine.waiting, t)
	q.changed = true
}

// nextGroup returns the quarantined deliveries that begin now, at most limit of them. wait reports that no other delivery
// may begin either: the next delivery must run alone, and waits until the running deliveries have ended or have leases.
// retry is the next time at which an open circuit allows a waiting delivery to make a trial call, or a flow may have a slot for one; 0
// if none waits for these.
func (q *Queue) nextGroup(limit int, at *Time) (group []*Ticket, wait bool, retry time.Duration) {
	s := &q.quarantine
	if s.isolated != nil {
		return nil, false, 0
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(t *Ticket) bool {
		f := t.quarantineFlow
		usable := f == nil || f.usable(at) > 0
		if !usable {
			retry = earlier(retry, at.Elapsed+f.untilUsable(at))
		}
		switch {
		case wait:
			return false
		case !q.hosts.free(t):
			retry = earlier(retry, q.hosts.retryAt(t))
			return false
		case q.runsIsolated(t):
			if !usable && !f.soon(at) {
				return false
			}
			// Those with leases may run for minutes, so other deliveries do not wait for them.
			wait = s.running == s.unleased[0]
			if s.running > 0 || q.exposed > 0 || limit <= 0 {
				return false
			}
		case len(group) >= limit, s.unleased[0] >= q.groupLimit(), t.starts > 2 && s.unleased[1] >= q.limits.LaterInGroup:
			return false
		}
		if !usable {
			return false
		}
		if t.Target != 0 {
			if h, n := q.hosts.hostOf(t); !q.hosts.tryGrant(h, n, t) {
				wait = false
				return false
			}
		}
		q.move(t, Checking)
		if f != nil {
			f.begin(t, at)
		}
		t.quarantined = true
		s.running++
		s.count(t, 1)
		if q.runsIsolated(t) {
			s.isolated = t
		}
		group = append(group, t)
		return true
	})
	s.othersNext = s.othersNext || len(group) > 0
	return group, wait, retry
}

// earlier returns the earlier of two times, of which 0 is none.
func earlier(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// groupGrowth bounds the growth of a group, as a multiple of GroupSize. If one timer of a larger group is poison,
// more innocent timers would get to their third start, of which only LaterInGroup run together.
const groupGrowth = 16

// groupLimit is how many quarantined timers run together without a lease. It grows by one for each that got a result or
// a lease, so that thousands of innocent timers of a process that crashed twice do not wait for minutes. A crash resets
// it, because the next process begins with small groups.
func (q *Queue) groupLimit() int {
	return q.limits.GroupSize + min(q.quarantine.passed, (groupGrowth-1)*q.limits.GroupSize)
}

// runsIsolated reports whether a quarantined timer is delivered alone. One such start would be enough if outages of bus and store
// did not end deliveries as well.
func (q *Queue) runsIsolated(t *Ticket) bool { return t.starts >= q.limits.ParkAfter-1 }

func (s *quarantine) count(t *Ticket, n int) {
	s.unleased[0] += n
	if t.starts > 2 {
		s.unleased[1] += n
	}
}

// release removes a delivery that gives its room back.
func (s *quarantine) release(t *Ticket) {
	if !t.leased {
		s.count(t, -1)
	}
	t.quarantined = false
	s.running--
	if s.isolated == t {
		s.isolated = nil
	}
	if s.running == 0 && len(s.waiting) == 0 {
		s.passed = 0
	}
}
