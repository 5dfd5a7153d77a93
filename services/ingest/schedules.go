package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// A schedule is a row of the store like that of a timer (I22), so its writes are those of timers, with the same guarantees. Requests and
// commands of the topic and the outbox use the same functions.

// CreateSchedule implements api.ServerInterface.
func (h *handler) CreateSchedule(w http.ResponseWriter, r *http.Request) {
	h.serveSchedule(w, r, event.VerbCreateSchedule)
}

// UpdateSchedule implements api.ServerInterface.
func (h *handler) UpdateSchedule(w http.ResponseWriter, r *http.Request) {
	h.serveSchedule(w, r, event.VerbUpdateSchedule)
}

// DeleteSchedule implements api.ServerInterface.
func (h *handler) DeleteSchedule(w http.ResponseWriter, r *http.Request) {
	h.serveSchedule(w, r, event.VerbDeleteSchedule)
}

// PauseSchedule implements api.ServerInterface.
func (h *handler) PauseSchedule(w http.ResponseWriter, r *http.Request) {
	h.serveSchedule(w, r, event.VerbPauseSchedule)
}

// ResumeSchedule implements api.ServerInterface.
func (h *handler) ResumeSchedule(w http.ResponseWriter, r *http.Request) {
	h.serveSchedule(w, r, event.VerbResumeSchedule)
}

// TriggerSchedule implements api.ServerInterface.
func (h *handler) TriggerSchedule(w http.ResponseWriter, r *http.Request) {
	h.serveSchedule(w, r, event.VerbTriggerSchedule)
}

// BackfillSchedule implements api.ServerInterface.
func (h *handler) BackfillSchedule(w http.ResponseWriter, r *http.Request) {
	h.serveSchedule(w, r, event.VerbBackfillSchedule)
}

// serveSchedule serves a command for a schedule.
func (h *handler) serveSchedule(w http.ResponseWriter, r *http.Request, verb event.Verb) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		c, err := h.prepare(ctx, verb, body, from)
		if err == nil {
			err = h.useQuota(&c)
		}
		if err != nil {
			return answer{}, err
		}
		name := nameOf(c.id)
		o, err := h.applyOne(ctx, &c, len(body))
		if err != nil {
			return answer{}, err
		}
		switch {
		case verb == event.VerbPauseSchedule:
			h.audit(from, "schedule paused", "namespace", c.namespaceName, "schedule", name, "note", c.pause.Note)
		case verb == event.VerbResumeSchedule:
			h.audit(from, "schedule resumed", "namespace", c.namespaceName, "schedule", name)
		case o.backfill != nil:
			h.audit(from, "schedule backfilled", "namespace", c.namespaceName, "schedule", name, "created", o.backfill.Created)
		}
		return scheduleAnswer(&c, &o)
	})
}

// prepareSchedule is prepare for a command for a schedule.
func (s *Service) prepareSchedule(ctx context.Context, verb event.Verb, body []byte, from origin) (command, error) {
	switch verb {
	case event.VerbCreateSchedule:
		b, err := decode.ReadCreateSchedule(body)
		if err != nil {
			return command{verb: event.VerbCreate}, err
		}
		return s.prepareCreateSchedule(ctx, &b, from)
	case event.VerbUpdateSchedule:
		return s.prepareUpdateSchedule(ctx, body, from)
	case event.VerbDeleteSchedule:
		b, err := decode.ReadDeleteSchedule(body)
		if err != nil {
			return command{verb: event.VerbDelete}, err
		}
		return s.prepareDeleteSchedule(ctx, &b, from)
	case event.VerbPauseSchedule:
		c := command{verb: event.VerbPause}
		p, err := decode.ReadPauseSchedule(body)
		if err != nil {
			return c, err
		}
		c.pause = &store.Pause{By: from.by(), Note: p.Note}
		err = s.resolveSchedule(ctx, &c, p.ScheduleSelection, from)
		return c, err
	case event.VerbResumeSchedule:
		c := command{verb: event.VerbResume, resume: &store.Resume{}}
		selection, err := decode.ReadScheduleSelection(body)
		if err != nil {
			return c, err
		}
		c.applySteps = s.resumeSchedule
		err = s.resolveSchedule(ctx, &c, selection, from)
		return c, err
	case event.VerbTriggerSchedule:
		return s.prepareTrigger(ctx, body, from)
	case event.VerbBackfillSchedule:
		return s.prepareBackfill(ctx, body, from)
	default:
		return command{}, fmt.Errorf("prepare: unknown verb %q", verb)
	}
}

func (s *Service) prepareCreateSchedule(ctx context.Context, b *decode.CreateSchedule, from origin) (command, error) {
	c := command{verb: event.VerbCreate, onConflict: b.OnConflict}
	if err := s.resolveSchedule(ctx, &c, b.ScheduleSelection, from); err != nil {
		return c, err
	}
	if err := from.requireCertain(); err != nil {
		return c, err
	}
	template, err := s.template(ctx, &c, &b.ScheduleFields, from)
	if err != nil {
		return c, err
	}
	created, next, err := define(b.Apply(schedule.Definition{Version: 1}), s.cfg.Zones.Load, from.received)
	if err == nil {
		c.spec = created.Row(template, next)
	}
	return c, err
}

func (s *Service) prepareUpdateSchedule(ctx context.Context, body []byte, from origin) (command, error) {
	c := command{verb: event.VerbUpdate}
	u, err := decode.ReadUpdateSchedule(body)
	if err != nil {
		return c, err
	}
	if err := s.resolveSchedule(ctx, &c, u.ScheduleSelection, from); err != nil {
		return c, err
	}
	if err := from.requireCertain(); err != nil {
		return c, err
	}
	c.applySteps = s.thenDeletePending(u.DeletePending, func(ctx context.Context, c *command) (outcome, error) {
		return s.changeSchedule(ctx, c, &u, from, len(body), func(row *timer.Timer, present *schedule.Schedule) (err error) {
			c.patch, err = s.schedulePatch(ctx, c, &u, from, row, present)
			return err
		})
	})
	return c, nil
}

func (s *Service) prepareDeleteSchedule(ctx context.Context, u *decode.UpdateSchedule, from origin) (command, error) {
	c := command{verb: event.VerbDelete}
	if u.IfVersion != 0 || u.DeletePending {
		c.applySteps = s.thenDeletePending(u.DeletePending, func(ctx context.Context, c *command) (outcome, error) {
			if u.IfVersion == 0 {
				return s.writeOne(ctx, c, smallOp)
			}
			return s.changeSchedule(ctx, c, u, from, smallOp, func(*timer.Timer, *schedule.Schedule) error { return nil })
		})
	}
	err := s.resolveSchedule(ctx, &c, u.ScheduleSelection, from)
	return c, err
}

// define checks a definition, and returns its first occurrence after an instant.
func define(d schedule.Definition, zones schedule.Zones, after timer.Millis) (*schedule.Schedule, timer.Millis, error) {
	s, err := schedule.Check(d, zones)
	if err != nil {
		return nil, 0, err
	}
	next, ok := s.After(after)
	if !ok {
		return nil, 0, timer.Invalid("specs", "nothing", "an occurrence after "+after.String()+", not excluded and before end")
	}
	return s, next.At, nil
}

// template returns the spec of the occurrences, checked like that of a timer.
func (s *Service) template(ctx context.Context, c *command, f *decode.ScheduleFields, from origin) (timer.Spec, error) {
	spec, err := f.Template(&c.namespace.Settings)
	if err == nil {
		err = s.checkSpec(ctx, c, &spec, from.received)
	}
	return spec, err
}

// resolveSchedule is resolve for the row of a schedule.
func (s *Service) resolveSchedule(ctx context.Context, c *command, selection decode.ScheduleSelection, from origin) error {
	return s.resolve(ctx, c, selection.Namespace, shard.ScheduleIDPrefix+selection.ID, from)
}

// scheduleAnswer returns the answer to an applied command for a schedule.
func scheduleAnswer(c *command, o *outcome) (answer, error) {
	a := answer{status: http.StatusOK}
	if !o.inTime {
		a.status = http.StatusAccepted
	}
	switch {
	case o.backfill != nil:
		a.body = o.backfill
	case !c.forSchedule(): // a trigger
		a.body, a.correlation = renderTimer(o.timer), o.timer.Correlation()
	case c.verb != event.VerbDelete:
		body, err := renderSchedule(c.namespace, o.timer)
		if err != nil {
			return answer{}, err
		}
		a.body = body
	case o.inTime:
		a.status = http.StatusNoContent
	default:
		a.body = api.LateDeletion{
			Namespace: c.namespaceName, ID: nameOf(c.id), TimerID: nameOf(c.id), Generation: o.timer.Generation.String(),
			Message: "deleted, but an occurrence may have been created",
		}
	}
	return a, nil
}

// nameOf returns the name of a schedule from the id of its row.
func nameOf(id string) string { return strings.TrimPrefix(id, shard.ScheduleIDPrefix) }

// GetSchedule implements api.ServerInterface.
func (h *handler) GetSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		selection, err := decode.ReadScheduleSelection(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, selection.Namespace)
		if err != nil {
			return answer{}, err
		}
		row, err := h.readSchedule(ctx, ns, selection.ID, from.received)
		if err != nil {
			return answer{}, err
		}
		rendered, err := renderSchedule(ns, &row)
		return answer{status: http.StatusOK, body: rendered}, err
	})
}

// readSchedule reads the row of a schedule, which may have ended.
func (s *Service) readSchedule(ctx context.Context, ns *store.Namespace, name string, now timer.Millis) (timer.Timer, error) {
	row, err := s.cfg.Store.Get(ctx, now, refOf(ns, shard.ScheduleIDPrefix+name))
	if errors.Is(err, store.ErrNotFound) {
		err = scheduleNotFound(ns.Name, name)
	}
	return row, err
}

// changeSchedule reads a schedule, prepares a command for its present state, and commits it. It repeats this if the
// schedule has changed in between.
func (s *Service) changeSchedule(
	ctx context.Context, c *command, u *decode.UpdateSchedule, from origin, size int, prepare func(*timer.Timer, *schedule.Schedule) error,
) (outcome, error) {
	if err := s.resolveSchedule(ctx, c, u.ScheduleSelection, from); err != nil {
		return outcome{}, err
	}
	for tries := 1; ; tries++ {
		row, err := s.cfg.Store.Get(ctx, from.received, c.ref)
		if errors.Is(err, store.ErrNotFound) || err == nil && row.Status.Finished() {
			return outcome{}, scheduleNotFound(c.namespaceName, u.ID)
		}
		if err != nil {
			return outcome{}, err
		}
		present, err := schedule.Parse(row.Schedule, s.cfg.Zones.Load)
		if err != nil {
			return outcome{}, err
		}
		if from.commandKey != "" && present.Command == from.commandKey {
			return outcome{timer: &row, inTime: true, replayed: true}, nil
		}
		if u.IfVersion != 0 && u.IfVersion != present.Version {
			return outcome{}, scheduleVersionConflict(&row, present.Version, u.IfVersion)
		}
		if err := prepare(&row, present); err != nil {
			return outcome{}, err
		}
		c.ifGeneration = row.Generation
		o, err := s.writeOne(ctx, c, size)
		refused := (*refusal)(nil)
		switch conflict := errors.As(err, &refused) && refused.code == api.ErrorCodeGenerationConflict; {
		case conflict && tries < scheduleTries:
			// An occurrence was created, or another client changed the schedule.
		case conflict:
			return outcome{}, &refusal{
				status: http.StatusServiceUnavailable, code: api.ErrorCodeUnavailable, details: details{},
				message: fmt.Sprintf("schedule %q in namespace %q changes too often; nothing was changed, try again later",
					u.ID, c.namespaceName),
			}
		default:
			return o, err
		}
	}
}

// scheduleTries bounds the tries to change a schedule. A schedule that catches up after an outage changes many times in a second.
const scheduleTries = 16

// schedulePatch returns the update of a schedule's row. If the instants of occurrences change, the next one is the first of the new
// definition that is after the present and after the last decision.
func (s *Service) schedulePatch(
	ctx context.Context, c *command, u *decode.UpdateSchedule, from origin, row *timer.Timer, present *schedule.Schedule,
) (timer.Patch, error) {
	d := u.Apply(present.Definition)
	d.Version++
	if from.commandKey != "" {
		d.Command = from.commandKey
	}
	state, err := schedule.ParseState(row.ScheduleState)
	if err != nil {
		return timer.Patch{}, err
	}
	var changed *schedule.Schedule
	next := row.ExecuteAt
	if u.ChangesOccurrences() {
		changed, next, err = define(d, s.cfg.Zones.Load, max(from.received, state.Last)) // the clock of another process may be ahead
	} else {
		changed, err = schedule.Check(d, s.cfg.Zones.Load)
	}
	if err != nil {
		return timer.Patch{}, err
	}
	template := present.Template(&row.Spec)
	if u.HasTemplate() {
		if template, err = s.template(ctx, c, &u.ScheduleFields, from); err != nil {
			return timer.Patch{}, err
		}
	}
	spec := changed.Row(template, next)
	p := timer.Patch{Schedule: &spec.Schedule}
	if u.ChangesOccurrences() {
		p.ExecuteAt = &spec.ExecuteAt
	}
	if u.HasTemplate() {
		p.Deliver, p.CallbackURL, p.CallbackTimeout = &spec.Deliver, &spec.CallbackURL, &spec.CallbackTimeout
		p.Retry = &timer.RetryPatch{
			MaxAttempts: &spec.Retry.MaxAttempts, MaxAttemptsDuration: &spec.Retry.MaxAttemptsDuration,
			InitialInterval: &spec.Retry.InitialInterval, BackoffMultiplier: &spec.Retry.BackoffMultiplier,
			MaxInterval: &spec.Retry.MaxInterval,
		}
		p.Payload, p.Request, p.Window, p.Headers = &spec.Payload, &spec.Request, &spec.Window, &spec.Headers
		p.OnDone, p.OnDead, p.Topic, p.EventKey = &spec.OnDone, &spec.OnDead, &spec.Topic, &spec.EventKey
	}
	return p, nil
}

// thenDeletePending returns a function that changes a schedule and then, if wanted, deletes its pending occurrences. A repetition does
// not change the schedule again.
func (s *Service) thenDeletePending(
	wanted bool, change func(context.Context, *command) (outcome, error),
) func(context.Context, *command) (outcome, error) {
	var changed *outcome
	return func(ctx context.Context, c *command) (outcome, error) {
		if changed == nil {
			o, err := change(ctx, c)
			if err != nil {
				return o, err
			}
			changed = &o
		}
		if !wanted || changed.prior == nil {
			return *changed, nil
		}
		return *changed, s.deletePending(ctx, c, changed)
	}
}

// deletePending deletes the unfinished occurrences that a schedule had created before a write. Its errors say that the write was
// applied.
func (s *Service) deletePending(ctx context.Context, c *command, o *outcome) error {
	state, err := schedule.ParseState(o.prior.ScheduleState)
	if err != nil {
		return err
	}
	items := make([]commit.Item, len(state.Recent))
	for i, at := range state.Recent {
		id := c.namespace.Shards.OccurrenceID(nameOf(c.id), at.String())
		items[i] = commit.Item{Op: store.Delete{Ref: refOf(c.namespace, id)}, Size: smallOp}
	}
	for _, committed := range s.submit(ctx, items) {
		err := committed.Err
		if err == nil && !errors.Is(committed.Written.Err, store.ErrNotFound) {
			err = committed.Written.Err
		}
		if err != nil {
			return &refusal{
				status: http.StatusGatewayTimeout, code: api.ErrorCodeOutcomeUnknown, cause: err,
				message: "the schedule was changed, but some of its pending occurrences may not be deleted: " + err.Error(),
			}
		}
	}
	return nil
}

// ListSchedules implements api.ServerInterface.
func (h *handler) ListSchedules(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		l, err := decode.ReadListSchedules(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, l.Namespace)
		if err != nil {
			return answer{}, err
		}
		l.Query.Namespace = *ns
		return h.pageAnswer(ctx, l.Query.Limit, timer.MaxPayload, func() ([]byte, error) {
			page, err := h.page(ctx, from.received, &l)
			if err != nil {
				return nil, err
			}
			result := api.SchedulePage{Schedules: []api.Schedule{}, NextCursor: decode.WriteCursor(page.Next)}
			for i := range page.Timers {
				one, err := renderSchedule(ns, &page.Timers[i])
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				if err != nil { // a later release wrote it, or its time zone does not exist in this one
					h.cfg.Logger.Error("schedule left out of a list", "error", err)
					continue
				}
				result.Schedules = append(result.Schedules, one)
			}
			return encode(result)
		})
	})
}

// resumeSchedule resumes a paused schedule, and starts a parked one again.
func (s *Service) resumeSchedule(ctx context.Context, c *command) (outcome, error) {
	o, err := s.writeOne(ctx, c, smallOp)
	if err == nil && o.timer.Status == timer.StatusParked {
		err = s.startParked(ctx, c, &o)
	}
	return o, err
}

// startParked starts a parked schedule again.
func (s *Service) startParked(ctx context.Context, c *command, o *outcome) error {
	all, err := s.redrive(ctx, []store.Rearm{{
		Ref: c.ref, Revision: s.cfg.Revisions.Next(), ExecuteAt: o.timer.ExecuteAt, IfGeneration: o.timer.Generation,
	}})
	if err == nil {
		err = all[0].Err
	}
	if err == nil {
		o.timer = &all[0].Timer
	}
	return err
}

// GetScheduleHistory implements api.ServerInterface.
func (h *handler) GetScheduleHistory(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		q, err := decode.ReadScheduleHistory(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, q.Namespace)
		if err != nil {
			return answer{}, err
		}
		entries, err := h.cfg.Store.History(ctx, from.received, refOf(ns, shard.ScheduleIDPrefix+q.ID), q.Limit)
		if err != nil {
			return answer{}, err
		}
		if len(entries) == 0 {
			if _, err := h.readSchedule(ctx, ns, q.ID, from.received); err != nil {
				return answer{}, err
			}
		}
		result := api.ScheduleHistory{Namespace: ns.Name, ID: q.ID, Decisions: make([]api.ScheduleDecision, len(entries))}
		for i := range entries {
			result.Decisions[i] = renderDecision(ns, q.ID, &entries[i])
		}
		return answer{status: http.StatusOK, body: result}, nil
	})
}
