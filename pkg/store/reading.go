package store

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// driftPart bounds the drift: two clocks that are not set diverge by at most 1/driftPart of the time that passes:
// 200 ppm, or 120 ms in ten minutes. Spanner assumes the same of its machines.
const driftPart = 5000

// reading is the combined result of all readings so far. It is immutable.
type reading struct {
	// offset is the store's time minus elapsed, in nanoseconds since 1970. The true value is between least and most.
	offset, least, most int64
	// at is when the clock was read, by the monotonic clock. apart is the wall clock minus the monotonic clock at that
	// time.
	at    time.Duration
	apart int64
	read  bool
	// took is how long the answer took, and within is Instant.Within. number counts readings.
	took, within time.Duration
	number       int
	// corrected is a correction that no second reading has confirmed, made at correctedAt; 0 if there is none.
	// corrections counts consecutive corrections, this one included.
	corrected, correctedAt time.Duration
	corrections            int
}

// trusted is Trusted at the given times of the machine's clocks.
func (r *reading) trusted(wall time.Time, elapsed, limit time.Duration) bool {
	return r.read && r.corrected == 0 && r.maxError(elapsed) <= limit && r.diverged(wall, elapsed).Abs() <= limit
}

// doubt is Doubt at the given times of the machine's clocks.
func (r *reading) doubt(wall time.Time, elapsed, limit time.Duration) (by time.Duration, why string) {
	by = r.maxError(elapsed)
	age := elapsed - r.at
	switch diverged := r.diverged(wall, elapsed).Abs(); {
	case !r.read:
		return 0, "the store's clock was not read yet"
	case diverged > limit:
		return max(by, diverged), "this machine's wall clock and monotonic clock diverged, and the store's clock was not read since"
	case r.corrected != 0:
		return max(by, r.corrected.Abs()), "it was corrected, and no second reading has confirmed the correction"
	case by > limit && r.within > limit && r.took <= limit && age < r.within:
		return by, fmt.Sprintf("the resolution of the store's clock is only %v, and it was not read often enough yet", r.within)
	case by > limit:
		return by, fmt.Sprintf("the store's clock was last read %v ago, by an answer that took %v; one within %v is needed",
			age.Round(time.Millisecond), r.took.Round(time.Millisecond), 2*limit)
	default:
		return by, ""
	}
}

// show returns the clock's time at elapsed.
func (r *reading) show(elapsed time.Duration) timer.Millis {
	return timer.FromTime(time.Unix(0, r.offset+int64(elapsed)))
}

// diverged returns how far the wall clock has moved against the monotonic clock since the reading.
func (r *reading) diverged(wall time.Time, elapsed time.Duration) time.Duration {
	return time.Duration(wall.UnixNano() - int64(elapsed) - r.apart)
}

// maxError is the largest error that is consistent with the readings, if the machine's monotonic clock is right.
func (r *reading) maxError(elapsed time.Duration) time.Duration {
	return time.Duration(max(r.most-r.offset, r.offset-r.least)) + r.drift(elapsed)
}

func (r *reading) drift(elapsed time.Duration) time.Duration { return max(0, elapsed-r.at) / driftPart }

// narrow restricts the range of a reading to the values that an earlier one allows. If the two contradict each other,
// it returns false and leaves the range unchanged. If the answer was too slow to bound the error on its own, the ranges
// may be apart by half the limit, because a clock that is slewed may drift faster.
func (r *reading) narrow(was *reading, drift, limit int64) bool {
	gap := max(r.least-was.most, was.least-r.most) - drift
	if gap > 0 && (gap > limit/2 || (r.most-r.least)/2 <= limit || int64(r.within) > limit) {
		return false
	}
	if gap > 0 {
		drift += limit / 2
	}
	r.least, r.most = max(r.least, was.least-drift), min(r.most, was.most+drift)
	return true
}

// untilChange is pause for a store with a coarse clock, for example in whole seconds. A reading at the moment at which
// the store's clock changes halves the range of possible times, so few readings are enough. When the range is narrow
// enough, readings alternate between shortly before and shortly after the change, and show whether the clock was set.
// The range cannot become narrower than the time that an answer takes. The clocks of a store's servers may differ by
// half the limit.
func (r *reading) untilChange(wait, elapsed, limit time.Duration) time.Duration {
	offset, lead := r.least, -limit/2
	narrow := max(limit/4, 2*r.took)
	if narrow > limit {
		narrow = r.took + r.took/16
	}
	switch {
	case time.Duration(r.most-r.least) > narrow:
		offset, lead = r.least+(r.most-r.least)/2, r.took/2
		if r.corrections == 0 {
			wait = 0
		}
	case r.number%2 == 0:
		offset, lead = r.most, r.took+limit/2
	}
	after := time.Duration(offset+int64(elapsed+wait+lead)) % r.within
	return wait + (r.within-after)%r.within
}
