package dispatcher

import (
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// addOutcome adds a write of writeFinish, and its follow-up, to the log of changes. Leases and postponements are not among them: the
// timer waits or runs as before.
func (s *Service) addOutcome(d *delivery, f *store.Finish) {
	switch f.Kind { //nolint:exhaustive // see above.
	case store.FinishDone:
		s.addChange(changes.Done, &d.row, timer.StatusDone, d.row.Generation)
	case store.FinishRescheduled:
		s.addChange(changes.Rescheduled, &d.row, "", timer.Generation(f.Next)) // it may have been paused during the attempt
	case store.FinishRetry:
		s.addChange(changes.Failed, &d.row, timer.StatusRetrying, d.row.Generation)
	case store.FinishDead:
		s.addChange(changes.Dead, &d.row, timer.StatusDead, d.row.Generation)
	case store.FinishParked:
		s.addChange(changes.Parked, &d.row, timer.StatusParked, d.row.Generation)
	}
	if next := f.FollowUp; next != nil {
		created := timer.Timer{Namespace: next.Namespace, ID: next.ID}
		s.addChange(changes.Created, &created, timer.StatusScheduled, timer.Generation(next.Revision))
	}
}

func (s *Service) addChange(what changes.Type, t *timer.Timer, status timer.Status, generation timer.Generation) {
	s.config.Changes.Add(changes.Change{
		Type: what, Namespace: t.Namespace, ID: t.ID, Status: status, Generation: generation, At: s.config.Clock(),
	})
}
