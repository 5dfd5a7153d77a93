package dispatcher

import (
	"time"

	"github.com/timerbus/timerbus/pkg/store"
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
		s.board.settle(d)
		return
	case applied:
		s.metrics.postponed.Inc()
	case missed, vanished:
		s.metrics.stale.Inc()
	}
	s.ack(s.board.settle(d))
}

// putOff postpones a delivery that was not let in and that the board has taken out of turn. If it was its host that
// did not take it, that is told.
func (s *Service) putOff(d *delivery, e entry) {
	if e.refused != "" {
		s.metrics.refused.WithLabelValues(string(e.refused)).Inc()
	}
	if e.first {
		s.config.Logger.Info("host has no room, its timers are postponed", "host", d.hostName, "for", e.delay)
	}
	s.work.Go(func() { s.postponeRefused(d, s.spread(e.delay)) })
}

// postponeRefused moves the row of a delivery that was not let in. What was redelivered would come
// back as a first delivery, so it is counted here as the start that it may have had, as long as that alone
// parks nobody: from two on, every start is counted anyway (I13, decision 0015).
func (s *Service) postponeRefused(d *delivery, by time.Duration) {
	if d.redelivered && d.row.Starts < 2 {
		check := checkOf(d)
		check.CountStart = true
		row, ok := s.readOne(s.life, check)
		switch {
		case !ok:
			s.board.settle(d)
			return
		case !row.Matches(d.due.Revision):
			s.metrics.stale.Inc()
			s.ack(s.board.settle(d))
			return
		}
	}
	s.postpone(d, by)
}

// spread draws from between half of a duration and all of it, so that what was refused together does not
// come back together.
func (s *Service) spread(d time.Duration) time.Duration {
	unit := float64(s.random()>>11) / (1 << 53) // [0, 1)
	return time.Duration(float64(d) * (1 + unit) / 2)
}
