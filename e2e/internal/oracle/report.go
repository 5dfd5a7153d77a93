package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report has the counts of a run.
type Report struct {
	Created, Updated           int // acknowledged
	DeletedInTime, DeletedLate int
	Deliveries                 int // callbacks, including further attempts and duplicates
	Fired                      int // writes whose delivery was answered as done or dead

	// FollowUps counts the outcomes with a follow-up, RepeatedFollowUps the deliveries after the first, which have its webhook-id.
	FollowUps, RepeatedFollowUps int

	Lost, Early, After, Wrong, Unattributable int // violations
	LostFollowUps, WrongFollowUps             int // violations

	// Duplicates have the webhook-id of the delivery that they repeat.
	Duplicates int
	// Recovered are the timers fired after a restart that were due before it; MaxRecovery is the longest time from the
	// restart until one of them fired. LastRecovered and LastRecovery are the same for the latest restart.
	Recovered, LastRecovered  int
	MaxRecovery, LastRecovery time.Duration
	// MaxLateness is that of first attempts that were due while the service was up.
	MaxLateness time.Duration
	// Round counts deliveries since the latest fault began.
	Round Round

	// Violations describes the first violations.
	Violations []string
}

// Round is a part of Report: deliveries since the begin of a fault.
type Round struct {
	// First counts first attempts that were due after the fault began, MaxLateness is their largest lateness. A timer
	// that was due before the fault, or an attempt after a failed one, does not count.
	First       int
	MaxLateness time.Duration
	Duplicates  int
}

// Bad returns the number of violations.
func (r *Report) Bad() int {
	return r.Lost + r.Early + r.After + r.Wrong + r.Unattributable + r.LostFollowUps + r.WrongFollowUps
}

func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "created %d, updated %d, fired %d, deleted in time %d (late %d), lost %d, early %d, "+
		"after delete or update %d, wrong %d, duplicates %d (not attributable %d), follow-ups %d, lost %d, wrong %d, repeated %d, recovered %d within %.1f s, lateness up to %d ms; since the last fault began: %d first attempts, up to %.1f s late, duplicates %d",
		r.Created, r.Updated, r.Fired, r.DeletedInTime, r.DeletedLate, r.Lost, r.Early,
		r.After, r.Wrong, r.Duplicates, r.Unattributable,
		r.FollowUps, r.LostFollowUps, r.WrongFollowUps, r.RepeatedFollowUps, r.Recovered, r.MaxRecovery.Seconds(), r.MaxLateness.Milliseconds(),
		r.Round.First, r.Round.MaxLateness.Seconds(), r.Round.Duplicates)
	for _, v := range r.Violations {
		b.WriteString("\n  ")
		b.WriteString(v)
	}
	return b.String()
}

// Debt is a delivery that must still arrive.
type Debt struct {
	Timer string
	Token string // of the latest write that is known to be applied
	// DueAt is the latest time at which it may be due; for a rescheduled timer, the last requested time.
	DueAt time.Time
	// FollowUp: the delivery was answered, and its follow-up is owed since DueAt.
	FollowUp bool
}

// Owed lists the deliveries and follow-ups that must still arrive, at any time.
func (o *Oracle) Owed() []Debt {
	o.mu.Lock()
	defer o.mu.Unlock()
	var debts []Debt
	o.open = slices.DeleteFunc(o.open, func(h *history) bool {
		d, owed := h.debt()
		if owed {
			debts = append(debts, d)
		}
		h.open = owed || slices.ContainsFunc(h.writes, func(w *Write) bool { return w.state == perhaps })
		return !h.open
	})
	return debts
}

// debt finds the latest write known to be applied and the later ones that perhaps were: one of them is the timer's last
// state, so one of them must be delivered, unless one may be a delete.
func (h *history) debt() (Debt, bool) {
	d := Debt{Timer: h.id}
	for _, w := range slices.Backward(h.writes) {
		if w.state == refused {
			continue
		}
		if w.done && d.DueAt.IsZero() { // no later write may have replaced the state that ended
			return w.followUpDebt()
		}
		if w.remove || w.done {
			return d, false
		}
		d.DueAt = latest(d.DueAt, w.due())
		if w.state == applied {
			d.Token = w.token
			return d, true
		}
	}
	return d, false // perhaps the timer never existed
}

func (w *Write) due() time.Time {
	due := w.executeAt
	for at := range w.asked {
		due = latest(due, time.UnixMilli(at))
	}
	return due
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Horizon returns the latest time at which any timer can be due, including deleted ones: before it, the absence of
// deliveries proves nothing.
func (o *Oracle) Horizon() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.horizon
}

// Report returns the counts. Owed deliveries that were due before overdue count as lost.
func (o *Oracle) Report(overdue time.Time) Report {
	debts := o.Owed()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.judgeFollowUps(overdue)
	r := o.counts
	r.Violations = append([]string(nil), r.Violations...)
	for _, d := range debts {
		if d.DueAt.After(overdue) {
			continue
		}
		what := "was never delivered"
		if d.FollowUp {
			r.LostFollowUps++
			what = "has ended, and its follow-up was never delivered"
		} else {
			r.Lost++
		}
		if len(r.Violations) < maxKept {
			r.Violations = append(r.Violations, fmt.Sprintf("timer %s, token %s, due at %s, %s",
				d.Timer, d.Token, d.DueAt.UTC().Format(time.StampMilli), what))
		}
	}
	return r
}
