package sim

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

// parkAfter is the dispatchers' default.
const parkAfter = 5

// parkedAfterEnoughStarts is I13: a row is parked after parkAfter counted starts. The first start by each due event need
// not be counted, and a take-over may publish a second event. Every fault of a dispatcher or of the due queue may cost the count of a start, or a start that was counted.
func (r *recording) parkedAfterEnoughStarts(starts map[attempt]*sighting) []Violation {
	var broken []Violation
	for _, f := range r.finishes {
		if f.Kind != store.FinishParked {
			continue
		}
		a := f.attempt()
		count, first := 0, f.at
		if seen := starts[a]; seen != nil {
			count, first = seen.count, seen.first
		}
		most := parkAfter + max(1, r.eventsOf(&f))
		excused := r.dispatcherFaults(first, f.at) - count // its own kills are among them
		if count < parkAfter-max(excused, 0) || count > most+max(excused, 0) {
			broken = append(broken, Violation{Rule: "starts", Text: fmt.Sprintf(
				"%v: %s was parked after %d starts of attempt %d of generation %s, want %d to %d; %d faults meanwhile",
				f.at, a.timer, count, a.number, a.generation, parkAfter, most, max(excused, 0))})
		}
	}
	return broken
}

// eventsOf counts the due events of a finish's attempt.
func (r *recording) eventsOf(f *finish) int {
	n := 0
	for i := range r.events {
		e := &r.events[i]
		if e.UUID == f.Ref.UUID && e.Generation == f.before.Generation && e.Attempt == f.before.Attempts+1 && e.at <= f.at {
			n++
		}
	}
	return n
}

// dispatcherFaults counts faults of dispatchers and of the due queue between two times.
func (r *recording) dispatcherFaults(from, until time.Duration) int {
	n := 0
	for _, s := range r.strikes {
		if s.from <= until && s.until >= from && (s.queue() || s.role == roleDispatcher) {
			n++
		}
	}
	return n
}
