package dispatcher

import (
	"context"
	"errors"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// publishDeadTimer publishes the dead event of a timer that history records as dead, and removes it from the
// outbox (I14).
func (s *Service) publishDeadTimer(d *delivery, f *store.Finish) {
	t := d.row
	t.Status, t.Attempts, t.Starts = timer.StatusDead, f.Record.Attempt, 0
	t.ExecutedAt, t.LastStatus, t.LastError = f.Record.StartedAt, f.Record.StatusCode, f.Record.Error
	s.publishOutboxEntry(&t, d.ref, f.Record.FinishedAt, store.OutboxID{
		Ref: d.ref, Status: timer.StatusDead, Generation: t.Generation, Attempt: t.Attempts,
	})
}

// publishParkedTimer publishes the event of a parked row, and removes it from the outbox.
func (s *Service) publishParkedTimer(d *delivery, f *store.Finish) {
	t := d.row
	t.Status, t.Revision, t.LastError = timer.StatusParked, f.Next, f.Record.Error
	s.publishOutboxEntry(&t, d.ref, s.config.Clock(), store.OutboxID{
		Ref: d.ref, Status: timer.StatusParked, Generation: t.Generation, Attempt: t.Attempts, Revision: t.Revision,
	})
}

// publishOutboxEntry publishes once, and again without the payload if the event is too large for the bus. If that
// fails, the owner of the shard publishes the entry when it is older than 5 s.
func (s *Service) publishOutboxEntry(t *timer.Timer, ref store.Ref, at timer.Millis, id store.OutboxID) {
	err := s.publishEntryEvent(t, ref, at, event.NoticeOf)
	if errors.Is(err, bus.ErrTooLarge) {
		err = s.publishEntryEvent(t, ref, at, event.NoticeWithoutPayload)
	}
	if err == nil {
		s.outboxIDs.offer(id)
	}
}

func (s *Service) publishEntryEvent(
	t *timer.Timer, ref store.Ref, at timer.Millis, noticeOf func(string, *timer.Timer, timer.Millis) (event.CloudEvent, error),
) error {
	e, err := noticeOf(s.config.Source, t, at)
	if err != nil {
		s.recordFailure("publish outbox entry", err)
		return err
	}
	m, err := s.message(e, ref.Shard, "")
	if err != nil {
		s.recordFailure("publish outbox entry", err)
		return err
	}
	job := send(s.dead, m)
	<-job.done
	return job.err
}

func (s *Service) flushOutboxIDs(ids []store.OutboxID) {
	ctx, cancel := context.WithTimeout(s.calls, s.config.CallTimeout)
	defer cancel()
	s.recordResult("remove outbox entries", s.config.Store.RemoveFromOutbox(ctx, ids))
}
