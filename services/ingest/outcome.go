package ingest

import (
	"errors"
	"strings"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
)

// outcome is the result of an applied command.
type outcome struct {
	timer *timer.Timer // after a delete: the deleted state
	// inTime promises that the delivery of the replaced, changed or deleted state never follows, or that there was
	// none.
	inTime bool
	// prior is the state before the write; nil if there was none.
	prior *timer.Timer
	// replayed: the command was applied before, and timer is the present state.
	replayed bool
	// backfill is the result of a backfill, which has no timer.
	backfill *api.ScheduleBackfill
}

// interpret converts the store's answer to the result of the command. after was read after the commit: only then is it
// certain that a dispatcher that finds the timer due reads the new row (I7).
func (s *Service) interpret(c *command, w *store.Written, after timer.Millis) (outcome, error) {
	switch err := w.Err; {
	case err == nil:
	case errors.Is(err, store.ErrNotFound) && c.forSchedule():
		return outcome{}, scheduleNotFound(c.namespaceName, nameOf(c.id))
	case errors.Is(err, store.ErrNotFound):
		return outcome{}, timerNotFound(c.namespaceName, c.id)
	case errors.Is(err, store.ErrExists) && c.forSchedule():
		return outcome{}, scheduleExists(&w.Timer)
	case errors.Is(err, store.ErrExists):
		return outcome{}, timerExists(&w.Timer)
	case errors.Is(err, store.ErrConflict) && c.wants(&w.Timer) && c.verb == event.VerbPause && c.forSchedule():
		return outcome{}, scheduleParked(&w.Timer)
	case errors.Is(err, store.ErrConflict) && c.wants(&w.Timer) && c.verb == event.VerbPause:
		return outcome{}, timerParked(&w.Timer)
	case errors.Is(err, store.ErrConflict) && c.wants(&w.Timer) && c.unlessPaused:
		return outcome{}, timerPaused(&w.Timer)
	case errors.Is(err, store.ErrConflict):
		return outcome{}, generationConflict(&w.Timer, c.ifGeneration)
	default:
		return outcome{}, err
	}
	o := outcome{timer: &w.Timer, prior: w.Prior, inTime: w.Prior == nil || s.notStarted(after, w.Prior)}
	if c.verb == event.VerbPause {
		o.inTime = s.notStarted(after, &w.Timer) // also if it was paused before
	}
	if c.verb == event.VerbResume {
		o.inTime = true // a paused timer has no delivery that a resume could prevent
	}
	return o, nil
}

// forSchedule reports whether the command is for the row of a schedule.
func (c *command) forSchedule() bool { return strings.HasPrefix(c.id, shard.ScheduleIDPrefix) }

// wants reports whether a timer has the generation that ifGeneration requires.
func (c *command) wants(t *timer.Timer) bool {
	return c.ifGeneration == 0 || c.ifGeneration == t.Generation
}

// notStarted reports whether no delivery of a state can have begun by now. If a state has attempts, its due time has
// passed.
func (s *Service) notStarted(now timer.Millis, t *timer.Timer) bool {
	waiting := t.Status == timer.StatusScheduled || t.Status == timer.StatusPaused
	return waiting && t.Attempts == 0 && now.Add(s.cfg.ClockBound) < t.ExecuteAt
}

// afterCommit is called after every write of requests. It records failures (each client gets its error), and sends
// hints to the schedulers. It adds the changes to the log.
func (s *Service) afterCommit(b commit.Batch) {
	failed := 0
	var why error
	for i := range b.Ops {
		if err := b.ErrOf(i); err != nil {
			failed++
			why = err
		}
	}
	s.recordResult("commit requests", why, "requests", failed)
	s.hint(b)
	s.addChanges(b)
}

// hint sends hints for timers that are due within the hint window, counted from the time after the commit. After an
// unknown outcome it also sends hints for timers that may have been written: if the state does not exist, the row check
// drops its event. If only the row has the due time (an update without one, a resume), the schedulers' sweep must find the timer.
func (s *Service) hint(b commit.Batch) {
	horizon := b.After.Add(s.cfg.HintWindow)
	hints := make([]event.Hint, 0, len(b.Ops))
	for i, op := range b.Ops {
		var h event.Hint
		var ok bool
		switch err := b.ErrOf(i); {
		case err == nil:
			h, ok = writtenHint(op, &b.Written[i])
		case errors.Is(err, store.ErrOutcomeUnknown):
			h, ok = possibleHint(op, b.Now)
		}
		if ok && h.DueAt <= horizon {
			hints = append(hints, h)
		}
	}
	s.hints.Add(hints)
}

// writtenHint returns the hint for the state that an operation wrote, if it wrote one.
func writtenHint(op store.Op, w *store.Written) (event.Hint, bool) {
	if w.Err != nil || w.Kept {
		return event.Hint{}, false
	}
	switch op := op.(type) {
	case store.Put:
		return hintOf(op.Ref, &w.Timer), !w.Timer.Status.Held()
	case store.Update:
		return hintOf(op.Ref, &w.Timer), !w.Timer.Status.Held()
	case store.Resume:
		return hintOf(op.Ref, &w.Timer), true
	default:
		return event.Hint{}, false
	}
}

func hintOf(ref store.Ref, t *timer.Timer) event.Hint {
	return event.Hint{
		Shard: ref.Shard, UUID: ref.UUID, Revision: t.Revision, Generation: t.Generation,
		Attempt: t.Attempts + 1, DueAt: t.DueAt, UpdatedAt: t.UpdatedAt, Target: t.Target(),
	}
}

// possibleHint returns the hint for the state that an operation would have written at now, if its due time is known.
func possibleHint(op store.Op, now timer.Millis) (event.Hint, bool) {
	h := event.Hint{Attempt: 1, UpdatedAt: now}
	var at timer.Millis
	switch op := op.(type) {
	case store.Put:
		h.Shard, h.UUID, h.Revision = op.Ref.Shard, op.Ref.UUID, op.Revision
		at, h.Target = op.Spec.ExecuteAt, op.Spec.Target()
	case store.Update:
		if op.Patch.ExecuteAt == nil {
			return h, false
		}
		h.Shard, h.UUID, h.Revision = op.Ref.Shard, op.Ref.UUID, op.Revision
		at = *op.Patch.ExecuteAt
	default:
		return h, false
	}
	h.Generation, h.DueAt = timer.Generation(h.Revision), max(now, at)
	return h, true
}
