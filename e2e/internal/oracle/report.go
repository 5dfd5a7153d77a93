package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Report is the counts of a run.
type Report struct {
	Created, Updated           int // acknowledged
	DeletedInTime, DeletedLate int
	Deliveries                 int // callbacks, attempts and duplicates included
	Fired                      int // writes whose delivery was answered as done

	Lost, Early, After, Wrong, Unattributable int // violations

	// Duplicates all carry the webhook-id of the delivery they repeat.
	Duplicates int
	// Recovered are those fired after a restart whose time had come before it, MaxRecovery the longest that one
	// of them took since. LastRecovered and LastRecovery are those of the latest restart.
	Recovered, LastRecovered  int
	MaxRecovery, LastRecovery time.Duration
	// MaxLateness is that of first attempts whose time came while the service was up.
	MaxLateness time.Duration
	// Round counts deliveries since the latest fault began.
	Round Round

	// Violations tells the first ones in words.
	Violations []string
}

// Round is a part of Report: deliveries from the begin of a fault on.
type Round struct {
	// First counts first attempts whose time came after the fault began, MaxLateness is the largest lateness of them. A
	// timer that was due before the fault, or an attempt after a failed one, does not count.
	First       int
	MaxLateness time.Duration
	Duplicates  int
}

// Bad counts what must not happen.
func (r *Report) Bad() int { return r.Lost + r.Early + r.After + r.Wrong + r.Unattributable }

func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "created %d, updated %d, fired %d, deleted in time %d (late %d), lost %d, early %d, "+
		"after delete or update %d, wrong %d, duplicates %d (not attributable %d), recovered %d within %.1f s, lateness up to %d ms; since the last fault began: %d first attempts, up to %.1f s late, duplicates %d",
		r.Created, r.Updated, r.Fired, r.DeletedInTime, r.DeletedLate, r.Lost, r.Early,
		r.After, r.Wrong, r.Duplicates, r.Unattributable, r.Recovered, r.MaxRecovery.Seconds(), r.MaxLateness.Milliseconds(),
		r.Round.First, r.Round.MaxLateness.Seconds(), r.Round.Duplicates)
	for _, v := range r.Violations {
		b.WriteString("\n  ")
		b.WriteString(v)
	}
	return b.String()
}

// Debt is a delivery that must still come.
type Debt struct {
	Timer string
	Token string // of the latest write that is known to be applied
	// DueAt is when it is due at the latest; for a rescheduled one, when it was asked for last.
	DueAt time.Time
}

// Owed lists what must still be delivered, whenever it is due.
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

// debt looks at the latest write known to be applied and those after it that perhaps were: one of them
// is the timer's last state, so one of them must be delivered, unless it may be a delete.
func (h *history) debt() (Debt, bool) {
	d := Debt{Timer: h.id}
	for _, w := range slices.Backward(h.writes) {
		if w.state == refused {
			continue
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
	return d, false // perhaps there never was a timer
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

// Horizon is the latest time at which anything that was ever asked for can be due, deleted timers
// included: before it has passed, their silence proves nothing.
func (o *Oracle) Horizon() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.horizon
}

// Report counts. What is owed and was due before overdue counts as lost.
func (o *Oracle) Report(overdue time.Time) Report {
	debts := o.Owed()
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.counts
	r.Violations = append([]string(nil), r.Violations...)
	for _, d := range debts {
		if d.DueAt.After(overdue) {
			continue
		}
		r.Lost++
		if len(r.Violations) < maxKept {
			r.Violations = append(r.Violations, fmt.Sprintf("timer %s, token %s, due at %s, never came",
				d.Timer, d.Token, d.DueAt.UTC().Format(time.StampMilli)))
		}
	}
	return r
}
