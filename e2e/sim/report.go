package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Violation is a broken rule.
type Violation struct {
	Rule string
	Text string
}

func (v Violation) String() string { return v.Rule + ": " + v.Text }

// Report is the outcome of one life, or of many.
type Report struct {
	Violations []Violation
	Operations, Applied, Deliveries, Duplicates,
	Done, Dead, Parked, Paused, Deleted int
	// Pauses counts the pauses that were applied.
	Pauses int
	// FollowUps counts deliveries of follow-ups, Expired timers that expired, Denied calls that were answered 401, and Runs the run-nows that were
	// applied.
	FollowUps, Expired, Denied, Runs int
	// Occurrences counts deliveries of occurrences, LeftOut the decisions not to create one, and Moves the answers that moved one.
	Occurrences, LeftOut, Moves int
	// Effects counts the operations on schedules and on timers with local times that were sent, and what they caused, by name.
	Effects map[string]int
	// Flows counts the callbacks of timers with a flow key.
	Flows int
	// Slowest is the largest lateness of a delivery. Late counts only from the healing on. Cut is the largest lateness
	// while one process was cut off from the store, and Clocks while the clocks of one machine were wrong, both without
	// other faults.
	Slowest, Late, Cut, Clocks time.Duration
	// Fair is the largest lateness of timers of other namespaces in lives with a backlog. Others is the number of them
	// that were delivered while timers of the backlog were waiting.
	Fair   time.Duration
	Others int
	// Foreign is how many due events a dispatcher got that another release wrote.
	Foreign int
	Virtual time.Duration
	Trace   []string
}

// Add adds the counts of another report, without its trace.
func (r *Report) Add(o *Report) {
	r.Violations = append(r.Violations, o.Violations...)
	r.Operations += o.Operations
	r.Applied += o.Applied
	r.Deliveries += o.Deliveries
	r.Duplicates += o.Duplicates
	r.Done += o.Done
	r.FollowUps += o.FollowUps
	r.Flows += o.Flows
	r.Occurrences += o.Occurrences
	r.LeftOut += o.LeftOut
	r.Moves += o.Moves
	for name, n := range o.Effects {
		r.effect(name, n)
	}
	r.Expired += o.Expired
	r.Denied += o.Denied
	r.Runs += o.Runs
	r.Dead += o.Dead
	r.Parked += o.Parked
	r.Paused += o.Paused
	r.Pauses += o.Pauses
	r.Deleted += o.Deleted
	r.Slowest = max(r.Slowest, o.Slowest)
	r.Late = max(r.Late, o.Late)
	r.Cut = max(r.Cut, o.Cut)
	r.Clocks = max(r.Clocks, o.Clocks)
	r.Fair = max(r.Fair, o.Fair)
	r.Others += o.Others
	r.Foreign += o.Foreign
	r.Virtual += o.Virtual
}

func (r *Report) effect(name string, n int) {
	if r.Effects == nil {
		r.Effects = map[string]int{}
	}
	r.Effects[name] += n
}

// effects formats Effects for a reader.
func (r *Report) effects() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Effects)) {
		all = append(all, fmt.Sprintf("%s: %d", name, r.Effects[name]))
	}
	return strings.Join(all, ", ")
}

func (r *Report) String() string {
	return fmt.Sprintf("%d operations, %d applied, %d deliveries, %d repeated, timers: %d done, %d dead, %d parked, %d paused (%d pauses), "+
		"%d deleted or never created, %d calls of follow-ups, %d expired, %d denied, %d run now, schedules: %d deliveries, %d left out, %d moved; latest delivery after healing %v, during a cut %v, with wrong clocks %v, "+
		"during a backlog %v (%d deliveries), %d events of other releases, %.1f virtual hours, %d violations; operations on schedules and local times, and their effects: %s",
		r.Operations, r.Applied, r.Deliveries, r.Duplicates, r.Done, r.Dead, r.Parked, r.Paused, r.Pauses, r.Deleted, r.FollowUps, r.Expired, r.Denied, r.Runs, r.Occurrences, r.LeftOut, r.Moves,
		r.Late, r.Cut, r.Clocks, r.Fair, r.Others, r.Foreign, r.Virtual.Hours(), len(r.Violations), r.effects())
}
