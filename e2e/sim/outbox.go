package sim

import (
	"fmt"
	"slices"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// noticesAreTrue checks the other half of I14: a dead event follows the write that made this attempt of this generation
// dead, a parked event the write that parked the row.
func (r *recording) noticesAreTrue() []Violation {
	var broken []Violation
	for _, n := range r.notices {
		kind := store.FinishDead
		if n.Status == timer.StatusParked {
			kind = store.FinishParked
		}
		written := slices.ContainsFunc(r.finishes[:n.finished], func(f finish) bool { return f.Kind == kind && n.matches(&f) })
		if !written {
			broken = append(broken, Violation{Rule: "outbox", Text: fmt.Sprintf(
				"%v: an event says that %s is %s as generation %s after attempt %d (%s, status %d), and no such row was written before",
				n.at, n.TimerID, n.Status, n.Generation, n.Attempts, n.Reason, n.StatusCode)})
		}
	}
	return broken
}

// matches reports whether the event describes the outcome.
func (n *notice) matches(f *finish) bool {
	attempts, status := f.Record.Attempt, f.Record.StatusCode
	if f.Kind == store.FinishParked {
		// The row keeps the result of its last attempt.
		attempts, status = f.before.Attempts, f.before.LastStatus
	}
	return f.before.ID == n.TimerID && f.before.Namespace == n.Namespace && f.before.Generation.String() == n.Generation &&
		attempts == n.Attempts && status == n.StatusCode && f.Record.Error == n.Reason
}
