package dispatcher

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// conclude tells the result, writes the outcome, and acknowledges: in this order (I14, I10).
func (s *Service) conclude(d *delivery, way timer.Deliver, r *attemptResult) {
	if r.fired != nil {
		// The bus did not take it at first.
		switch err := s.sendSurely(s.fired, *r.fired); {
		case errors.Is(err, bus.ErrTooLarge):
			r.refuseEvent(err)
		case err != nil:
			s.abandon(d, way, err)
			return
		}
	}
	f := s.finishOf(d, r)
	if !r.postpone {
		if err := s.tellResult(d, r, &f); err != nil {
			s.abandon(d, way, err)
			return
		}
	}
	// From here on the outcome stands for the lease: writing both would let them miss each other.
	if l := s.board.conclude(d); l != nil {
		l.end()
	}
	if f.If.Revision != 0 {
		f.If.Revision = d.held // the lease's, if there is one
	}
	fate := s.put(s.life, d, &f)
	switch {
	case fate != abandoned:
	case (r.postpone || d.uncalled) && s.life.Err() == nil:
		s.board.discard(d) // the store is lost
		return
	default:
		s.abandon(d, way, errStopped)
		return
	}
	s.settle(d)
	if fate == missed {
		s.metrics.fires.WithLabelValues(string(way), "missed").Inc()
		return
	}
	s.metrics.fires.WithLabelValues(string(way), outcomeName(r)).Inc()
	switch f.Kind { //nolint:exhaustive // the others have no count of their own.
	case store.FinishRetry:
		s.metrics.retries.Inc()
	case store.FinishPostponed:
		s.metrics.postponed.Inc()
	case store.FinishDead:
		s.metrics.dead.Inc()
		if fate == applied { // else the scheduler finds the mark, if it was this write
			s.announceDead(d, &f)
		}
	}
}

// finishOf turns a result into the write that records it, with the guard that rule I2 asks for.
func (s *Service) finishOf(d *delivery, r *attemptResult) store.Finish {
	f := store.Finish{
		NextAt: r.NextAt,
		Record: store.Record{
			Attempt: d.row.Attempts + 1, StartedAt: d.startedAt, FinishedAt: r.finishedAt,
			StatusCode: r.Status, Error: r.Reason,
		},
	}
	generation := store.Guard{Generation: d.row.Generation}
	revision := store.Guard{Revision: d.row.Revision} // brought up to date before the write
	switch {
	case r.postpone:
		f.Kind, f.If = store.FinishPostponed, revision
		now, by := s.config.Clock(), s.jitter(s.config.PostponeFor)
		if r.lasting {
			// As with a host that does not answer: the longer it has been due, the longer it is postponed.
			by = s.spread(max(s.config.PostponeFor, min(now.Sub(d.row.ExecuteAt), s.config.PostponeMost)))
		}
		f.NextAt = now.Add(by)
	case r.Kind == callback.Done:
		f.Kind, f.If = store.FinishDone, generation
	case r.Kind == callback.Rescheduled:
		f.Kind, f.If = store.FinishRescheduled, generation
	case r.Kind == callback.Dead:
		f.Kind, f.If = store.FinishDead, generation
	case r.Kind == callback.Exhausted:
		f.Kind, f.If = store.FinishDead, revision
	default:
		f.Kind, f.If = store.FinishRetry, revision
	}
	if f.Kind != store.FinishDone && f.Kind != store.FinishDead {
		f.Next = s.config.Revisions.Next()
	}
	if !r.postpone {
		f.Record.KeepFor = s.keepFor(d.row.Namespace, f.Kind)
	}
	return f
}

// tellResult publishes the result.
func (s *Service) tellResult(d *delivery, r *attemptResult, f *store.Finish) error {
	result := event.Result{
		Namespace: d.row.Namespace, TimerID: d.row.ID, Generation: d.row.Generation.String(),
		Attempt: f.Record.Attempt, CorrelationID: d.row.Correlation(), Outcome: outcomeName(r),
		ExecuteAt: d.row.ExecuteAt, StartedAt: d.startedAt, FinishedAt: r.finishedAt,
		StatusCode: r.Status, Error: r.Reason, Body: r.Body,
	}
	if r.NextAt != 0 {
		result.NextAt = &r.NextAt
	}
	e, err := event.ResultOf(s.config.Source, &d.row, &result)
	if err != nil {
		return err
	}
	m, err := s.message(e, d.ref.Shard, "")
	if err != nil {
		return err
	}
	if err := s.sendSurely(s.results, m); err != nil && !errors.Is(err, bus.ErrTooLarge) {
		return err
	}
	return nil
}

// abandon ends a delivery that the stop of the service interrupted. It makes the row due immediately and takes back the
// start counted for this delivery: a stop is no evidence against the timer, and five deployments must not park it
// (I13). If the write fails, the bus redelivers the message or the lease expires, as after a crash.
func (s *Service) abandon(d *delivery, way timer.Deliver, cause error) {
	if l := s.board.conclude(d); l != nil {
		l.end()
	}
	ctx, cancel := context.WithTimeout(s.calls, returnTimeout)
	defer cancel()
	f := store.Finish{
		Kind: store.FinishPostponed, If: store.Guard{Revision: d.held}, Next: s.config.Revisions.Next(), ReturnStart: d.counted,
	}
	fate := s.put(ctx, d, &f)
	if fate != abandoned {
		s.settle(d)
	} else {
		s.board.discard(d)
	}
	s.metrics.fires.WithLabelValues(string(way), "abandoned").Inc()
	s.config.Logger.Info("delivery cut off by the stop", "namespace", d.row.Namespace, "timer", d.row.ID,
		"due_again", fate == applied, "cause", cause)
}

// park sets a timer aside that was begun ParkAfter times without ever giving a result.
func (s *Service) park(d *delivery) {
	f := store.Finish{
		Kind: store.FinishParked, If: store.Guard{Revision: d.held}, Next: s.config.Revisions.Next(),
		Record: store.Record{
			Error: "started " + strconv.Itoa(d.row.Starts) + " times without a result",
		},
	}
	fate := s.put(s.life, d, &f)
	if fate == abandoned {
		s.board.discard(d)
		return
	}
	s.settle(d)
	if fate == applied {
		s.metrics.parked.Inc()
		s.announceParked(d, &f)
	}
}

// settle forgets a delivery whose outcome is known, and acknowledges its messages.
func (s *Service) settle(d *delivery) { s.ack(d, s.board.settle(d)) }

// leased acknowledges the messages of a delivery whose row is leased, or has changed (revision 0).
func (s *Service) leased(d *delivery, revision timer.Revision) { s.ack(d, s.board.leased(d, revision)) }

// ack acknowledges what the board has given out. The session of the delivery stays open until then.
func (s *Service) ack(d *delivery, messages []*bus.Delivery) {
	for _, m := range messages {
		m.Ack()
	}
	if len(messages) > 0 && d.session.acking.Add(-1) == 0 {
		s.board.acknowledged(d.session)
	}
}

// outcomeName is what history and result events call it.
func outcomeName(r *attemptResult) string {
	switch {
	case r.postpone:
		return "postponed"
	case r.Kind == callback.Done:
		return string(store.OutcomeDone)
	case r.Kind == callback.Rescheduled:
		return string(store.OutcomeRescheduled)
	case r.Kind == callback.Retry:
		return string(store.OutcomeFailed)
	default:
		return string(store.OutcomeDead)
	}
}

// keepFor is how long history keeps an outcome. A namespace that cannot be read now must not delay the outcome: then
// it is the default, which most namespaces have.
func (s *Service) keepFor(namespace string, kind store.FinishKind) time.Duration {
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	settings := store.DefaultSettings()
	if ns, err := s.config.Directory.Lookup(ctx, namespace); err == nil {
		settings = ns.Settings
	}
	if kind == store.FinishDead {
		return settings.DeadRetention
	}
	return settings.HistoryRetention
}

func decimal(a timer.Attempt) string { return strconv.Itoa(int(a)) }
