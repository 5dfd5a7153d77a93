package dispatcher

import (
	"math"
	"time"
)

// drain estimates how fast the queue of a limiter moves: of a host with its permits, or of a namespace with its slots. It
// only counts the time between a call's request and its answer. So a limiter is slow if its calls are slow, and not
// because this process could not read rows. All times are those of the activity clock.
type drain struct {
	running int           // calls requested and not answered
	at      time.Duration // spent is counted up to here
	spent   time.Duration // by all calls, answered or not
	begun   time.Duration // sum of the times at which the running calls began
	ended   float64       // calls that were answered
	halved  time.Duration // up to when spent and ended were halved, once for each drainWindow
	quietAt time.Duration // when the last answer came
	tail    time.Duration // when the last timer that was postponed is due again
}

const (
	// drainWindow is how far back a drain looks, roughly: long enough for hosts that answer in bursts.
	drainWindow = 10 * time.Second
	silentAfter = 100 * time.Millisecond
	// maxWaiting means any number; MaxInFlight bounds what waits.
	maxWaiting = 1 << 20
)

func (r *drain) advance(now time.Duration) {
	r.spent += time.Duration(r.running) * (now - r.at)
	r.at = now
	if past := (now - r.halved).Truncate(drainWindow); past > 0 {
		r.halved += past
		kept := math.Ldexp(1, -int(min(past/drainWindow, 60)))
		r.spent = time.Duration(float64(r.spent) * kept)
		r.ended *= kept
	}
}

// begin notes that a call is requested.
func (r *drain) begin(now time.Duration) {
	r.advance(now)
	r.running++
	r.begun += now
}

// end notes that a call has ended that began at an instant. answered is false if it was not made.
func (r *drain) end(now, began time.Duration, answered bool) {
	r.advance(now)
	r.running--
	r.begun -= began
	if !answered {
		r.spent = max(0, r.spent-(now-began))
		return
	}
	r.ended++
	r.quietAt = now
}

// pace is the time from one answer to the next while permits calls are under way. Calls under way count as if they ended
// now. While no answer comes, calls take at least as long as the silence lasts.
func (r *drain) pace(now time.Duration, permits int) time.Duration {
	return max(r.latency(now), r.silence(now)) / time.Duration(max(permits, 1))
}

func (r *drain) latency(now time.Duration) time.Duration {
	r.advance(now)
	calls := r.ended + float64(r.running)
	if calls == 0 {
		return 0
	}
	return time.Duration(float64(r.spent) / calls)
}

// silence is how long no answer came, but not longer than the running calls have been under way on average: after a pause
// in which no call could be made, all of them are new.
func (r *drain) silence(now time.Duration) time.Duration {
	if r.running == 0 {
		return 0
	}
	return now - max(r.quietAt, r.begun/time.Duration(r.running))
}

// silent reports whether no answer came for silentAfter, and for longer than calls take.
func (r *drain) silent(now time.Duration) bool {
	silence := r.silence(now)
	return silence > silentAfter && (r.ended == 0 || silence > r.latency(now))
}

// bearable is how many can wait without waiting longer than patience.
func (r *drain) bearable(now time.Duration, permits int, patience time.Duration) int {
	return int(min(patience/max(r.pace(now, permits), time.Microsecond), maxWaiting))
}

// postpone returns how far to postpone one more timer: behind those that wait here, which takes patience, and behind those
// postponed before. exact is false if that exceeds most, which is then the answer for all.
func (r *drain) postpone(now time.Duration, permits int, patience, most time.Duration) (delay time.Duration, exact bool) {
	r.tail = max(r.tail, now+patience) + r.pace(now, permits)
	if r.tail >= now+most {
		r.tail = now + most
		return most, false
	}
	return r.tail - now, true
}

// activity is a clock that stops while the whole process is paused. Otherwise its running calls would seem slow.
type activity struct {
	last, total time.Duration
	// idle reports whether nothing runs or waits. Then all time counts, so that drains forget.
	idle func() bool
}

// stillAfter is how much of the time between two readings counts. The checker reads the clock at least every
// lookAgainAfter while deliveries wait.
const stillAfter = 100 * time.Millisecond

// read advances the clock. elapsed is the time since the start of the process.
func (a *activity) read(elapsed time.Duration) time.Duration {
	if gap := elapsed - a.last; gap > 0 {
		if a.idle == nil || !a.idle() {
			gap = min(gap, stillAfter)
		}
		a.total += gap
		a.last = elapsed
	}
	return a.total
}
