package dispatcher

import (
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// postponeWaiting moves the row of a delivery that could not begin here (I11). The row was not read: the
// event's revision is the guard.
func (s *Service) postponeWaiting(d *delivery) {
	s.postpone(d, s.jitter(s.config.PostponeFor))
}

func (s *Service) postpone(d *delivery, by time.Duration) {
	d.held, d.heldDueAt = d.due.Revision, d.due.DueAt
	f := store.Finish{
		Kind: store.FinishPostponed, If: store.Guard{Revision: d.held}, Next: s.config.Revisions.Next(),
		NextAt: s.config.Clock().Add(by),
	}
	switch s.put(s.life, d, &f) {
	case abandoned:
		s.board.discard(d)
		return
	case applied:
		s.metrics.postponed.Inc()
	case missed, vanished:
		s.metrics.stale.Inc()
	}
	s.settle(d)
}

// putOff postpones a delivery that was not let in and that the board has taken out of turn. If it was its host that
// did not take it, metrics and log say so.
//
// A host that does not answer is treated like one that fails: postponements use an attempt as soon as they make it later
// than the first interval of the timer's retry policy, so that the policy ends the timers of a dead host. A host without
// free permits answers, and uses none.
func (s *Service) putOff(d *delivery, e entry) {
	if e.refused != "" {
		s.metrics.refused.WithLabelValues(string(e.refused)).Inc()
	}
	if e.report > 0 {
		s.config.Logger.Warn("host limiter postpones timers", "host", e.host, "reason", string(e.refused),
			"timers", e.report, "for", e.delay)
	}
	if late := s.config.Clock().Add(e.delay).Sub(d.row.PlannedAt); e.refused == refusedOpen && late > d.row.Retry.InitialInterval {
		s.work.Go(func() { s.failRefused(d) })
		return
	}
	by := e.delay
	if !e.exact {
		by = s.spread(by)
	}
	s.work.Go(func() { s.postponeRefused(d, by) })
}

// failRefused uses an attempt of a delivery whose host does not answer, without a call. The row is read again, because
// one that waited has lost its payload, which a dead event needs. What was counted of its starts goes as with every
// result (I13): each reset costs an attempt, and those are limited.
func (s *Service) failRefused(d *delivery) {
	if !s.readRefused(d, false) {
		return
	}
	d.held, d.heldDueAt = d.row.Revision, d.row.DueAt
	s.board.learn(d, d.target)
	if d.row.Starts >= s.config.ParkAfter {
		s.park(d)
		return
	}
	d.startedAt, d.uncalled = s.config.Clock(), true
	reason := fmt.Sprintf("not called: %s has not answered %d callbacks in a row", d.hostName, s.config.CircuitAfter)
	s.conclude(d, d.row.Way(), &attemptResult{
		Verdict: callback.Fail(&d.row, reason, d.startedAt, s.random), finishedAt: d.startedAt, circuit: errUntried,
	})
}

// postponeRefused moves the row of a delivery that was not let in. What was redelivered would come
// back as a first delivery, so it is counted here as the start that it may have had, as long as that alone
// parks nobody: from two on, every start is counted anyway (I13, decision 0015).
func (s *Service) postponeRefused(d *delivery, by time.Duration) {
	if d.redelivered {
		if d.row.Revision == 0 && !s.readRefused(d, false) || d.row.Starts < 2 && !s.readRefused(d, true) {
			return
		}
		d.row.Payload = nil
	}
	s.postpone(d, by)
}

// readRefused reads the row of a delivery that was not let in, and settles it if there is nothing more to do.
func (s *Service) readRefused(d *delivery, count bool) bool {
	check := checkOf(d)
	check.CountStart = count
	row, ok := s.readOne(s.life, check, false)
	switch {
	case !ok:
		s.board.discard(d)
		return false
	case !row.Matches(d.due.Revision) || row.Timer.Status == timer.StatusParked:
		s.metrics.stale.Inc()
		s.settle(d)
		return false
	}
	d.row = row.Timer
	return true
}

// spread draws from between half of a duration and all of it, so that what was refused together does not
// come back together.
func (s *Service) spread(d time.Duration) time.Duration {
	unit := float64(s.random()>>11) / (1 << 53) // [0, 1)
	return time.Duration(float64(d) * (1 + unit) / 2)
}
