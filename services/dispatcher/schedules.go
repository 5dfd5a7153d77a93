package dispatcher

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// A schedule is a timer that is not delivered (I22). When it is due, the dispatcher writes its outcome: the occurrence as a follow-up,
// in the transaction that moves the schedule to the next instant. So each instant has one occurrence or a recorded reason for none.

// scheduleMode is the mode of schedules in metrics.
const scheduleMode timer.Deliver = "schedule"

// schedules caches the parsed definitions that were used last.
type schedules struct {
	mu     sync.Mutex
	parsed map[string]*schedule.Schedule
	bytes  int
}

// maxParsedBytes bounds the texts of the cached definitions. The cache is emptied when they exceed it.
const maxParsedBytes = 4 << 20

func (c *schedules) parse(text string) (*schedule.Schedule, error) {
	c.mu.Lock()
	parsed := c.parsed[text]
	c.mu.Unlock()
	if parsed != nil {
		return parsed, nil
	}
	parsed, err := schedule.Parse(text, zone.Load)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes += len(text); c.bytes > maxParsedBytes || c.parsed == nil {
		c.parsed, c.bytes = map[string]*schedule.Schedule{}, len(text)
	}
	c.parsed[text] = parsed
	return parsed, nil
}

// runSchedule handles a schedule that is due.
func (s *Service) runSchedule(d *delivery) {
	s.returnPermit(d, admission.Untried)
	d.notCalled = true
	if err := s.tryRunSchedule(d); err != nil {
		s.config.Logger.Warn("schedule postponed", "namespace", d.row.Namespace, "schedule", scheduleName(&d.row), "error", err)
		s.complete(d, scheduleMode, &attemptResult{
			postpone: true, persistent: true, finishedAt: d.startedAt, host: admission.Untried,
			Verdict: callback.Verdict{Reason: err.Error()},
		})
	}
}

func scheduleName(t *timer.Timer) string { return strings.TrimPrefix(t.ID, shard.ScheduleIDPrefix) }

// tryRunSchedule returns an error if nothing was written, and the schedule must be postponed.
func (s *Service) tryRunSchedule(d *delivery) error {
	sched, err := s.schedules.parse(d.row.Schedule)
	if err != nil {
		return err
	}
	ns, err := s.namespaceOf(d)
	if err != nil {
		return err
	}
	if ns.Settings.DeletingSince != 0 {
		return errors.New("the namespace is being deleted")
	}
	due := schedule.Due{At: d.row.ExecuteAt, Now: s.timeForOutcome(d)}
	if due.State, err = schedule.ParseState(d.row.ScheduleState); err != nil {
		return err
	}
	if d.row.ResumedFrom != 0 {
		due.ResumedAt = d.row.PlannedAt
	}
	if sched.ReadsRecent() {
		if due.Recent, err = s.readOccurrences(ns, d, due.State.Recent); err != nil {
			return err
		}
	}
	if due.ReadsExisting() {
		found, err := s.readOccurrences(ns, d, []timer.Millis{due.At})
		if err != nil {
			return err
		}
		due.Exists = found[0].Result != schedule.Gone
	}
	decision := sched.Decide(&due)
	switch {
	case decision.Wait > 0:
		s.complete(d, scheduleMode, &attemptResult{
			postpone: true, postponeFor: decision.Wait, finishedAt: due.Now, host: admission.Untried,
		})
		return nil
	case decision.Pause != "":
		return s.pauseSchedule(d, ns, &decision)
	}
	if err := s.cancelOccurrences(ns, d, decision.Cancel); err != nil {
		return err
	}
	f := store.Finish{
		Kind: store.FinishRescheduled, If: store.Guard{Revision: d.row.Revision}, Next: s.config.Revisions.Next(),
		NextAt: decision.Next, ScheduleState: decision.State.Text(),
		Record: store.Record{Attempt: 1, StartedAt: d.startedAt, FinishedAt: max(due.Now, d.startedAt), Error: decision.Reason},
	}
	if decision.Next == 0 {
		f.Kind, f.Next = store.FinishDone, 0
	}
	setScheduleRetention(&f, &ns.Settings)
	if decision.Create {
		f.FollowUp = new(sched.Put(ns, scheduleName(&d.row), &d.row.Spec, due.At, 0, s.config.Revisions.Next()))
	}
	s.finishSchedule(d, &f)
	return nil
}

// setScheduleRetention keeps the payload of a schedule that has ended, because a trigger or a backfill may still use it.
func setScheduleRetention(f *store.Finish, settings *store.Settings) {
	setRetention(f, settings)
	f.Record.KeepPayload = f.Kind == store.FinishDone
}

// finishSchedule writes the outcome of a schedule and acknowledges its messages.
func (s *Service) finishSchedule(d *delivery, f *store.Finish) {
	s.endLease(d)
	f.If.Revision = d.knownRevision
	switch s.writeFinish(s.life, d, f) {
	case gaveUp:
		s.discard(d)
		return
	case missed:
		s.metrics.fires.WithLabelValues(string(scheduleMode), "missed").Inc()
	case applied, rowGone:
		if f.FollowUp != nil {
			s.hintFollowUp(f.FollowUp, d.write.now)
		}
		s.metrics.fires.WithLabelValues(string(scheduleMode), schedule.DecisionOf(f.Record.Error)).Inc()
	}
	s.ackAndRemove(d)
}

// pauseSchedule pauses a schedule that is due, and then writes the decision, with a state that counts no dead occurrences, so that the
// schedule continues after a resume.
func (s *Service) pauseSchedule(d *delivery, ns *store.Namespace, decision *schedule.Decision) error {
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	revision := s.config.Revisions.Next()
	_, err := s.writeRow(ctx, d, store.Pause{
		Ref: d.ref, Revision: revision, By: "timerbus", Note: decision.Pause, IfGeneration: d.row.Generation,
	})
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrConflict):
		s.endLease(d)
		s.ackAndRemove(d)
		return nil
	case err != nil:
		return err
	}
	s.addChange(changes.Paused, &d.row, timer.StatusPaused, d.row.Generation)
	s.config.Logger.Warn("schedule paused", "namespace", d.row.Namespace, "schedule", scheduleName(&d.row), "reason", decision.Pause)
	f := store.Finish{
		Kind: store.FinishRescheduled, If: store.Guard{Revision: revision}, Next: s.config.Revisions.Next(), NextAt: d.row.ExecuteAt,
		ScheduleState: decision.State.Text(),
		Record: store.Record{
			Attempt: 1, StartedAt: d.startedAt, FinishedAt: max(s.config.Clock(), d.startedAt), Error: schedule.PausedText(decision.Pause),
		},
	}
	setScheduleRetention(&f, &ns.Settings)
	d.knownRevision, d.row.Status = revision, timer.StatusPaused
	s.finishSchedule(d, &f)
	return nil
}

// cancelOccurrences deletes unfinished occurrences of a schedule.
func (s *Service) cancelOccurrences(ns *store.Namespace, d *delivery, instants []timer.Millis) error {
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	for _, at := range instants {
		removed, err := s.writeRow(ctx, d, store.Delete{Ref: occurrenceRef(ns, d, at)})
		switch {
		case err == nil:
			s.addChange(changes.Deleted, removed, removed.Status, removed.Generation)
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
	}
	return nil
}

// writeRow writes one operation, unless the clock is uncertain, and returns the timer of the answer.
func (s *Service) writeRow(ctx context.Context, d *delivery, op store.Op) (*timer.Timer, error) {
	now := s.timeForOutcome(d)
	if d.clockLost.Load() {
		return nil, errUncertain
	}
	written, err := s.config.Store.Write(ctx, now, []store.Op{op})
	s.recordResult("write", err)
	if err != nil {
		return nil, err
	}
	return &written[0].Timer, written[0].Err
}

func occurrenceRef(ns *store.Namespace, d *delivery, at timer.Millis) store.Ref {
	id := ns.Shards.OccurrenceID(scheduleName(&d.row), at.String())
	return store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}
}

// readOccurrences reads what became of the occurrences of a schedule at these instants.
func (s *Service) readOccurrences(ns *store.Namespace, d *delivery, instants []timer.Millis) ([]schedule.Occurred, error) {
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	all := make([]schedule.Occurred, len(instants))
	for i, at := range instants {
		t, err := s.config.Store.Get(ctx, s.config.Clock(), occurrenceRef(ns, d, at))
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			s.recordResult("get", err)
			return nil, err
		}
		o := &all[i]
		switch t.Status {
		case timer.StatusDone:
			o.Result, o.FinishedAt = schedule.Done, t.UpdatedAt
		case timer.StatusDead:
			o.Result, o.FinishedAt = schedule.Dead, t.UpdatedAt
		default:
			o.Result = schedule.Unfinished
		}
	}
	return all, nil
}

// applyToSchedule applies an answer to the schedule of an occurrence. If that fails, the attempt has failed and is retried by the policy of
// the occurrence, so that a schedule which cannot be changed does not cause callbacks without end. It returns an error if the service ends.
func (s *Service) applyToSchedule(d *delivery, r *attemptResult) error {
	err := s.answerToSchedule(d, r)
	if err == nil || s.life.Err() != nil || d.clockLost.Load() {
		return err
	}
	status := r.Status
	r.Verdict = callback.Fail(&d.row, "the answer could not be applied to the schedule: "+err.Error(), s.timeForOutcome(d), s.random)
	r.Status = status
	return nil
}

// answerToSchedule applies what the answer to an occurrence says about its schedule, before the outcome of the occurrence is written:
// if the process ends between the two, the occurrence is delivered again. The answer may end the schedule, or move its next occurrence
// to another time; the occurrence itself is then done.
func (s *Service) answerToSchedule(d *delivery, r *attemptResult) error {
	name, ok := shard.ScheduleOf(d.row.ID)
	if !ok || r.postpone || !r.StopSchedule && r.Kind != callback.Rescheduled {
		return nil
	}
	ns, err := s.namespaceOf(d)
	if err != nil {
		return err
	}
	id := shard.ScheduleIDPrefix + name
	ref := store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}
	for range answerTries {
		row, ok := s.readRow(s.life, store.Check{Ref: ref}, true)
		switch {
		case !ok:
			return errStopped
		case !row.Found:
			err = nil
		default:
			err = s.changeSchedule(d, &row.Timer, ref, r)
		}
		if !errors.Is(err, store.ErrConflict) {
			break
		}
	}
	if err == nil && r.Kind == callback.Rescheduled {
		r.Kind, r.NextAt = callback.Done, 0
	}
	return err
}

// answerTries bounds the tries to change a schedule that other processes change.
const answerTries = 8

func (s *Service) changeSchedule(d *delivery, row *timer.Timer, ref store.Ref, r *attemptResult) error {
	now := s.timeForOutcome(d)
	if d.clockLost.Load() {
		return errUncertain
	}
	state, err := schedule.ParseState(row.ScheduleState)
	if err != nil {
		return err
	}
	f := store.Finish{
		Ref: ref, DueAt: row.DueAt, Kind: store.FinishRescheduled, If: store.Guard{Revision: row.Revision}, Next: s.config.Revisions.Next(),
		NextAt: r.NextAt,
		Record: store.Record{
			Attempt: 1, StartedAt: d.startedAt, FinishedAt: now, Error: schedule.MovedText(d.row.ID, r.NextAt),
		},
	}
	if r.StopSchedule {
		f.Kind, f.Next, f.NextAt = store.FinishDone, 0, 0
		f.Record.Error = schedule.EndedText(d.row.ID)
	} else {
		sched, err := s.schedules.parse(row.Schedule)
		if err != nil {
			return err
		}
		state.Move(row.ExecuteAt, sched.Version)
		f.ScheduleState = state.Text()
	}
	ns, err := s.namespaceOf(d)
	if err != nil {
		return err
	}
	setScheduleRetention(&f, &ns.Settings)
	ctx, cancel := context.WithTimeout(s.life, s.config.CallTimeout)
	defer cancel()
	answers, err := s.config.Store.Finish(ctx, now, []store.Finish{f})
	s.recordResult("finish", err)
	switch {
	case err != nil:
		return err
	case errors.Is(answers[0], store.ErrNotFound):
		return nil
	case answers[0] == nil && f.Kind == store.FinishDone:
		s.addChange(changes.Done, row, timer.StatusDone, row.Generation)
	case answers[0] == nil:
		s.addChange(changes.Rescheduled, row, timer.StatusScheduled, timer.Generation(f.Next))
		s.offerHint(&event.Hint{
			Shard: ref.Shard, UUID: ref.UUID, Revision: f.Next, Generation: timer.Generation(f.Next), Attempt: 1,
			DueAt: max(now, f.NextAt), UpdatedAt: now,
		})
	}
	return answers[0]
}
