package oracle

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// FollowUp is a call of the URL for an outcome, as it arrived.
type FollowUp struct {
	// Timer and Generation are those of the timer that has finished, Outcome is Done or Dead; all are from the payload.
	Timer, Generation string
	Outcome           Verdict
	WebhookID         string
	At                time.Time
}

// Expects must be called before the write is sent if the timer has a URL for an outcome, Done or Dead. The other writes of the
// timer must set their URLs, too.
func (w *Write) Expects(outcomes ...Verdict) *Write { w.urls = outcomes; return w }

// FollowedUp must be called immediately before a follow-up is answered with success, to a caller that still waits.
func (o *Oracle) FollowedUp(f *FollowUp) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.followUps[f.outcome()]
	switch {
	case slices.Contains(known, f.WebhookID):
		o.counts.RepeatedFollowUps++
		return
	case len(known) > 0:
		o.wrongFollowUp(f, "is another follow-up than "+known[0])
	}
	o.followUps[f.outcome()] = append(known, f.WebhookID)
	o.unjudged = append(o.unjudged, *f)
	o.counts.FollowUps++
}

// outcome identifies an outcome of a generation.
type outcome struct {
	timer, generation string
	verdict           Verdict
}

func (f *FollowUp) outcome() outcome { return outcome{f.Timer, f.Generation, f.Outcome} }

// followUpDebt returns the follow-up that must still arrive for the last delivery of a timer.
func (w *Write) followUpDebt() (Debt, bool) {
	if !w.done || !slices.Contains(w.urls, w.end) {
		return Debt{}, false
	}
	at := strings.LastIndexByte(w.endedBy, '_')
	arrived := len(w.oracle.followUps[outcome{w.timer.id, w.endedBy[at+1:], w.end}]) > 0
	return Debt{Timer: w.timer.id, Token: w.token, FollowUp: true, DueAt: w.endedAt}, !arrived
}

// judgeFollowUps: each follow-up has an outcome that a receiver has given to a write with a URL for it. Fired events are observed
// late, so follow-ups after overdue are judged later.
func (o *Oracle) judgeFollowUps(overdue time.Time) {
	o.unjudged = slices.DeleteFunc(o.unjudged, func(f FollowUp) bool {
		h := o.timers[f.Timer]
		caused := h != nil && slices.ContainsFunc(h.writes, func(w *Write) bool { return w.causes(&f) })
		if !caused && !f.At.After(overdue) {
			o.wrongFollowUp(&f, "has no outcome with a URL")
		}
		return caused || !f.At.After(overdue)
	})
}

func (w *Write) causes(f *FollowUp) bool {
	return slices.Contains(w.urls, f.Outcome) && slices.ContainsFunc(w.lives, func(l *life) bool {
		return l.end == f.Outcome && strings.HasSuffix(l.id, "_"+f.Generation)
	})
}

func (o *Oracle) wrongFollowUp(f *FollowUp, what string) {
	o.counts.WrongFollowUps++
	if len(o.counts.Violations) < maxKept {
		o.counts.Violations = append(o.counts.Violations, fmt.Sprintf("follow-up %s of generation %s of %s, at %s: %s",
			f.WebhookID, f.Generation, f.Timer, f.At.UTC().Format(time.StampMilli), what))
	}
}
