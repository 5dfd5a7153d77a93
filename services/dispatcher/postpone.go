package dispatcher

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// postpone moves the due time of a delivery that could not begin here (I11). If the row was not read, the revision of
// the event is the guard. afterOutcomes: the write may wait until outcomes are written.
func (s *Service) postpone(d *delivery, by time.Duration, flowTurn timer.Millis, afterOutcomes bool) {
	d.knownRevision, d.knownDueAt, d.afterOutcomes = d.due.Revision, d.due.DueAt, afterOutcomes
	now := s.timeForOutcome(d)
	f := store.Finish{
		Kind: store.FinishPostponed, If: store.Guard{Revision: d.knownRevision}, Next: s.postponedRevision(d),
		NextAt: now.Add(by), ReturnStart: d.startCounted, FlowTurn: flowTurn,
	}
	// If the row was read, and the timer expires before its next time, its outcome is written when it expires (I18).
	if d.row.Revision == d.due.Revision {
		f.NextAt = min(f.NextAt, max(d.row.ExpiresAt(), now))
	}
	switch s.writeFinish(s.life, d, &f) {
	case gaveUp:
		s.discard(d)
		return
	case applied:
		s.metrics.postponed.Inc()
	case missed, rowGone:
		s.metrics.stale.Inc()
	}
	s.ackAndRemove(d)
}

// postponedRevision returns the revision of a postponed row. The bus delivers the event of the new state for the first time, so if
// this one was redelivered, the revision says so (I13).
func (s *Service) postponedRevision(d *delivery) timer.Revision {
	return s.config.Revisions.NextPostponed(d.due.Revision.Postponements()+1, d.ticket.Redelivered)
}

// abandonedRevision returns the revision of a row that abandon makes due. Like postponedRevision it keeps the mark of a redelivered
// event (I13), but it adds no postponement, so that the timer is not delivered after timers that came later.
func (s *Service) abandonedRevision(d *delivery) timer.Revision {
	postponements := d.due.Revision.Postponements()
	if postponements == 0 && !d.ticket.Redelivered {
		return s.config.Revisions.Next()
	}
	return s.config.Revisions.NextPostponed(max(postponements, 1), d.ticket.Redelivered)
}

// postponeRefused postpones a delivery that was refused a permit, or a slot of its namespace's share.
//
// A host with an open circuit is treated like one that fails: once postponements delay a timer by more than the first
// interval of its retry policy, each uses an attempt, so that the policy ends the timers of a dead host. A saturated
// host does answer, so its postponements use no attempt.
func (s *Service) postponeRefused(d *delivery, g admission.Answer) {
	if g.Refused != "" {
		s.metrics.hostRefused.WithLabelValues(string(g.Refused)).Inc()
	}
	if g.Report > 0 {
		s.config.Logger.Warn("host limiter postpones timers", "host", g.Host, "reason", string(g.Refused),
			"timers", g.Report, "for", g.Delay)
	}
	if late := s.config.Clock().Add(g.Delay).Sub(d.row.PlannedAt); g.Refused == admission.Open && late > d.row.Retry.InitialInterval {
		s.work.Go(func() { s.failRefused(d) })
		return
	}
	by := g.Delay
	if !g.Exact {
		by = s.spread(by)
	}
	// The number of deliveries that wait too long is limited, that of deliveries with an open circuit is not.
	s.work.Go(func() { s.postpone(d, by, g.FlowTurn, g.Refused != admission.Open) })
}

// failRefused uses an attempt of a delivery without a call, because the circuit of its host is open. It reads the row again, because a
// delivery that waited has dropped its payload, which a dead event needs. The result resets the counted starts, as
// every result does (I13): each reset uses an attempt, and attempts are limited.
func (s *Service) failRefused(d *delivery) {
	row, ok := s.readRow(s.life, checkOf(d), false)
	switch {
	case !ok:
		s.discard(d)
		return
	case !row.Matches(d.due.Revision) || row.Timer.Status.Held():
		s.metrics.stale.Inc()
		s.ackAndRemove(d)
		return
	}
	d.row = row.Timer
	d.knownRevision, d.knownDueAt = d.row.Revision, d.row.DueAt
	s.learnRow(d)
	if starts := d.startsBefore(&row); starts >= s.config.ParkAfter {
		s.park(d, starts)
		return
	}
	d.startedAt, d.notCalled = s.timeForOutcome(d), true
	verdict, expired := callback.Expired(&d.row, d.startedAt)
	if !expired {
		host, _ := d.row.NamedTarget()
		reason := fmt.Sprintf("not called: %s has not answered %d callbacks in a row", host, s.config.CircuitAfter)
		verdict = callback.Fail(&d.row, reason, d.startedAt, s.random)
	}
	s.complete(d, d.row.Way(), &attemptResult{Verdict: verdict, finishedAt: d.startedAt, host: admission.Untried})
}
