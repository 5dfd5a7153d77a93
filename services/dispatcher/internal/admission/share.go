package admission

import (
	"iter"
	"math"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// shares has the deliveries that wait for a slot, by namespace, and gives slots to namespaces by round robin.
type shares struct {
	// order lists the namespaces with a queue, the next one first.
	order []*share
	known map[string]*share
	size  int
	clock *activity
}

// share is a namespace's queue, and the slots that it holds.
type share struct {
	namespace string
	queue     []*Ticket // in order of arrival
	slots     int       // slots in use
	drainRate
}

// slotsPerFree is how many slots a namespace may hold for each free slot: so the last quarter of all slots is left to
// other namespaces.
const slotsPerFree = 3

func newShares(clock *activity) *shares { return &shares{known: map[string]*share{}, clock: clock} }

func (l *shares) push(t *Ticket) {
	s := l.shareOf(t.Namespace)
	if len(s.queue) == 0 {
		l.order = append(l.order, s)
	}
	s.queue = append(s.queue, t)
	l.size++
}

func (l *shares) shareOf(namespace string) *share {
	found := l.known[namespace]
	if found == nil {
		found = &share{namespace: namespace}
		l.known[namespace] = found
	}
	return found
}

// pop takes the next delivery whose namespace may hold another slot while free slots are free. It returns nil if there is
// none.
func (l *shares) pop(free int) *Ticket {
	at := slices.IndexFunc(l.order, func(s *share) bool { return s.mayHold(free) })
	if at < 0 {
		return nil
	}
	chosen := l.order[at]
	l.order = slices.Delete(l.order, at, at+1)
	t := chosen.queue[0]
	chosen.queue[0] = nil
	chosen.queue = chosen.queue[1:]
	l.size--
	if len(chosen.queue) > 0 {
		l.order = append(l.order, chosen)
	} else {
		chosen.queue = nil
	}
	return t
}

// hasNext reports whether pop would return a delivery.
func (l *shares) hasNext(free int) bool {
	return slices.ContainsFunc(l.order, func(s *share) bool { return s.mayHold(free) })
}

func (s *share) mayHold(free int) bool { return s.slots < max(1, slotsPerFree*free) }

// mayHold reports whether the namespace of a delivery may hold another slot while free slots are free.
func (l *shares) mayHold(t *Ticket, free int) bool {
	s := l.known[t.Namespace]
	return s == nil || s.mayHold(free)
}

// postponeFirst yields the waiting deliveries in the order in which they are postponed: those with the fewest postponements
// first, and of these the last one. The loop may remove the delivery that it got.
func postponeFirst(queue *[]*Ticket) iter.Seq2[int, *Ticket] {
	return func(yield func(int, *Ticket) bool) {
		for postponements := range timer.MaxPostponements + 1 {
			for at, t := range slices.Backward(*queue) {
				if t.Postponements == postponements && !yield(at, t) {
					return
				}
			}
		}
	}
}

// shrinkQueues removes deliveries from the queue of each namespace that holds all slots of its share, if they would wait too
// long: otherwise they would fill the intake. each gets the removed deliveries, while may returns true. shrinkQueues
// reports whether any namespace is full.
func (l *shares) shrinkQueues(free int, maxWait, most time.Duration, may func() bool, each func(*Ticket, Answer)) (full bool) {
	now := l.clock.total
	for _, s := range l.order {
		if s.mayHold(free) {
			continue
		}
		full = true
		keep := s.queueLimit(now, s.slots, maxWait)
		if len(s.queue) <= keep || !may() {
			continue
		}
		for at, t := range postponeFirst(&s.queue) {
			s.queue = slices.Delete(s.queue, at, at+1)
			l.size--
			delay, exact := s.postponement(now, s.slots, maxWait, most)
			each(t, Answer{Delay: delay, Exact: exact})
			if len(s.queue) <= keep || !may() {
				break
			}
		}
	}
	l.order = slices.DeleteFunc(l.order, func(s *share) bool { return len(s.queue) == 0 })
	return full
}

// drop removes deliveries from the queues.
func (l *shares) drop(which func(*Ticket) bool) {
	for _, s := range l.order {
		before := len(s.queue)
		s.queue = slices.DeleteFunc(s.queue, which)
		l.size -= before - len(s.queue)
		l.forget(s)
	}
	l.order = slices.DeleteFunc(l.order, func(s *share) bool { return len(s.queue) == 0 })
}

// takeSlot counts a slot for the namespace of a delivery.
func (l *shares) takeSlot(t *Ticket) {
	t.share = l.shareOf(t.Namespace)
	t.share.slots++
}

// releaseSlot returns a slot. called: the call had begun.
func (l *shares) releaseSlot(t *Ticket, called bool) {
	s := t.share
	t.share = nil
	s.slots--
	if called {
		s.end(l.clock.total, t.permit.calledAt, true)
	}
	l.forget(s)
}

// forget removes a namespace that has no slot and no waiting delivery.
func (l *shares) forget(s *share) {
	if s.slots == 0 && len(s.queue) == 0 {
		delete(l.known, s.namespace)
	}
}

// drainRate estimates the drain rate of a queue: of a host with its permits, or of a namespace with its slots. It
// counts only the time between a call's request and its answer. So a queue is slow if its calls are slow, and not
// because this process could not read rows. All times are those of the activity clock.
type drainRate struct {
	running    int           // calls requested and not answered
	startSum   time.Duration // sum of the times at which the running calls began
	ended      float64       // number of answered calls
	spent      time.Duration // by the answered calls
	halved     time.Duration // up to when ended and spent were halved, once for each drainWindow
	answeredAt time.Duration // when the last answer came
	lastDueAt  time.Duration // when the last postponed timer is due again
	since      time.Duration // when the first timer of this series was postponed
}

const (
	// The estimate is halved once for each drainWindow, which is long enough for hosts that answer in bursts. It is also
	// halved when it contains drainAnswers answers, and four times as many as there are running calls, so that a host that
	// has become fast soon counts as fast.
	drainWindow  = 10 * time.Second
	drainAnswers = 256
	silentAfter  = 100 * time.Millisecond
	// firstPostponements times HostMaxWait bounds the first postponements of a series. If no timer was postponed until
	// this long after the last one was due, a new series begins.
	firstPostponements = 2
	// maxWaiting means no limit; MaxInFlight bounds the number of waiting deliveries.
	maxWaiting = 1 << 20
)

func (r *drainRate) advance(now time.Duration) {
	if past := (now - r.halved).Truncate(drainWindow); past > 0 {
		r.halved += past
		r.keep(math.Ldexp(1, -int(min(past/drainWindow, 60))))
	}
}

func (r *drainRate) keep(part float64) {
	r.spent = time.Duration(float64(r.spent) * part)
	r.ended *= part
}

// begin records the request of a call.
func (r *drainRate) begin(now time.Duration) {
	r.advance(now)
	r.running++
	r.startSum += now
}

// end records the end of a call. began is when it began. answered is false if it was not made.
func (r *drainRate) end(now, began time.Duration, answered bool) {
	r.advance(now)
	r.running--
	r.startSum -= began
	if !answered {
		return
	}
	r.ended++
	r.spent += now - began
	if r.ended >= max(drainAnswers, 4*float64(r.running)) {
		r.keep(0.5)
	}
	r.answeredAt = now
}

// interval is the expected time between two answers while permits calls are in flight. Running calls count as if they
// ended now. While no answer comes, calls take at least as long as the silence lasts.
func (r *drainRate) interval(now time.Duration, permits int) time.Duration {
	return max(r.latency(now), r.silence(now)) / time.Duration(max(permits, 1))
}

func (r *drainRate) latency(now time.Duration) time.Duration {
	r.advance(now)
	calls := r.ended + float64(r.running)
	if calls == 0 {
		return 0
	}
	return time.Duration(float64(r.spent+time.Duration(r.running)*now-r.startSum) / calls)
}

// silence is the time since the last answer, but at most the average age of the running calls: after a pause without
// calls, all of them are new.
func (r *drainRate) silence(now time.Duration) time.Duration {
	if r.running == 0 {
		return 0
	}
	return now - max(r.answeredAt, r.startSum/time.Duration(r.running))
}

// silent reports whether no answer came for longer than silentAfter and for longer than calls take.
func (r *drainRate) silent(now time.Duration) bool {
	silence := r.silence(now)
	return silence > silentAfter && (r.ended == 0 || silence > r.latency(now))
}

// queueLimit returns how many deliveries can wait without waiting longer than maxWait.
func (r *drainRate) queueLimit(now time.Duration, permits int, maxWait time.Duration) int {
	return int(min(maxWait/max(r.interval(now, permits), time.Microsecond), maxWaiting))
}

// postponement returns how far to postpone one more timer: later than the waiting deliveries, which take maxWait, and than
// the timers postponed before. If that exceeds most, it returns most, and exact is false.
//
// A postponed timer stays postponed even if the calls become faster. So the first postponements of a series are short, and
// later ones are at most half as long as the series has lasted.
func (r *drainRate) postponement(now time.Duration, permits int, maxWait, most time.Duration) (delay time.Duration, exact bool) {
	first := firstPostponements * maxWait
	if r.lastDueAt+first <= now {
		r.since = now
	}
	most = min(most, max(first, (now-r.since)/2))
	r.lastDueAt = max(r.lastDueAt, now+maxWait) + r.interval(now, permits)
	if r.lastDueAt >= now+most {
		r.lastDueAt = now + most
		return most, false
	}
	return r.lastDueAt - now, true
}

// activity is a clock that stops while the whole process is paused. Otherwise its running calls would seem slow.
type activity struct {
	last, total time.Duration
	// idle reports whether nothing runs or waits. Then the whole time counts, so that drains forget old calls.
	idle func() bool
}

// maxGap bounds how much of the time between two readings counts. While deliveries wait, the checker reads the
// clock at least every queueCheckInterval.
const maxGap = 100 * time.Millisecond

// read advances the clock. elapsed is the time since the start of the process.
func (a *activity) read(elapsed time.Duration) time.Duration {
	if gap := elapsed - a.last; gap > 0 {
		if a.idle == nil || !a.idle() {
			gap = min(gap, maxGap)
		}
		a.total += gap
		a.last = elapsed
	}
	return a.total
}
