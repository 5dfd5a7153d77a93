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
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// A schedule is a row of the store like that of a timer (I22), so its writes are those of timers, with the same guarantees.

// CreateSchedule implements api.ServerInterface.
func (h *handler) CreateSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		b, err := decode.ReadCreateSchedule(body)
		if err != nil {
			return answer{}, err
		}
		c := command{verb: event.VerbCreate, onConflict: b.OnConflict}
		if err := h.resolveSchedule(ctx, &c, b.ScheduleSelection, from); err != nil {
			return answer{}, err
		}
		if err := from.requireCertain(); err != nil {
			return answer{}, err
		}
		template, err := h.template(ctx, &c, &b.ScheduleFields, from)
		if err != nil {
			return answer{}, err
		}
		s, next, err := define(b.Apply(schedule.Definition{Version: 1}), from.received)
		if err != nil {
			return answer{}, err
		}
		c.spec = s.Row(template, next)
		if err := h.useQuota(&c); err != nil {
			return answer{}, err
		}
		return h.commitSchedule(ctx, &c, len(body))
	})
}

// define checks a definition, and returns its first occurrence after an instant.
func define(d schedule.Definition, after timer.Millis) (*schedule.Schedule, timer.Millis, error) {
	s, err := schedule.Check(d, zone.Load)
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

// commitSchedule commits a command for a schedule whose body has size bytes.
func (h *handler) commitSchedule(ctx context.Context, c *command, size int) (answer, error) {
	o, err := h.writeSchedule(ctx, c, size)
	if err != nil {
		return answer{}, err
	}
	return scheduleAnswer(c, &o)
}

func (h *handler) writeSchedule(ctx context.Context, c *command, size int) (outcome, error) {
	committed := h.submit(ctx, []commit.Item{{Op: c.op(h.cfg.Revisions.Next()), Size: size}})[0]
	if committed.Err != nil {
		return outcome{}, committed.Err
	}
	w := committed.Written
	switch {
	case errors.Is(w.Err, store.ErrNotFound):
		return outcome{}, scheduleNotFound(c.space, nameOf(c.id))
	case errors.Is(w.Err, store.ErrExists):
		return outcome{}, scheduleExists(&w.Timer)
	case errors.Is(w.Err, store.ErrConflict) && c.verb == event.VerbPause:
		return outcome{}, scheduleParked(&w.Timer)
	}
	return h.interpret(c, w, committed.After)
}

func scheduleAnswer(c *command, o *outcome) (answer, error) {
	a := answer{status: http.StatusOK}
	if !o.inTime {
		a.status = http.StatusAccepted
	}
	switch {
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
			Namespace: c.space, ID: nameOf(c.id), TimerID: nameOf(c.id), Generation: o.timer.Generation.String(),
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
		ns, row, err := h.readSchedule(ctx, selection, from, access.Read)
		if err != nil {
			return answer{}, err
		}
		rendered, err := renderSchedule(ns, &row)
		return answer{status: http.StatusOK, body: rendered}, err
	})
}

// readSchedule reads the row of a schedule.
func (h *handler) readSchedule(
	ctx context.Context, selection decode.ScheduleSelection, from origin, right access.Verb,
) (*store.Namespace, timer.Timer, error) {
	ns, err := h.lookup(ctx, from, right, selection.Namespace)
	if err == nil && right == access.Write {
		ns, err = h.requireOpen(ctx, ns)
	}
	if err != nil {
		return ns, timer.Timer{}, err
	}
	row, err := h.cfg.Store.Get(ctx, from.received, refOf(ns, shard.ScheduleIDPrefix+selection.ID))
	if errors.Is(err, store.ErrNotFound) {
		err = scheduleNotFound(ns.Name, selection.ID)
	}
	return ns, row, err
}

// UpdateSchedule implements api.ServerInterface.
func (h *handler) UpdateSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		u, err := decode.ReadUpdateSchedule(body)
		if err != nil {
			return answer{}, err
		}
		if err := from.requireCertain(); err != nil {
			return answer{}, err
		}
		c := command{verb: event.VerbUpdate}
		o, err := h.changeSchedule(ctx, &c, &u, from, len(body), func(row *timer.Timer, s *schedule.Schedule) (err error) {
			c.patch, err = h.schedulePatch(ctx, &c, &u, from, row, s)
			return err
		})
		if err != nil {
			return answer{}, err
		}
		if err := h.deletePending(ctx, &c, &o, u.DeletePending); err != nil {
			return answer{}, err
		}
		return scheduleAnswer(&c, &o)
	})
}

// DeleteSchedule implements api.ServerInterface.
func (h *handler) DeleteSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		u, err := decode.ReadDeleteSchedule(body)
		if err != nil {
			return answer{}, err
		}
		c := command{verb: event.VerbDelete}
		var o outcome
		if u.IfVersion == 0 {
			if err = h.resolveSchedule(ctx, &c, u.ScheduleSelection, from); err == nil {
				o, err = h.writeSchedule(ctx, &c, len(body))
			}
		} else {
			o, err = h.changeSchedule(ctx, &c, &u, from, len(body), func(*timer.Timer, *schedule.Schedule) error { return nil })
		}
		if err != nil {
			return answer{}, err
		}
		if err := h.deletePending(ctx, &c, &o, u.DeletePending); err != nil {
			return answer{}, err
		}
		return scheduleAnswer(&c, &o)
	})
}

// changeSchedule reads a schedule, prepares a command for its present state, and commits it. It repeats this if the
// schedule has changed in between.
func (h *handler) changeSchedule(
	ctx context.Context, c *command, u *decode.UpdateSchedule, from origin, size int, prepare func(*timer.Timer, *schedule.Schedule) error,
) (outcome, error) {
	if err := h.resolveSchedule(ctx, c, u.ScheduleSelection, from); err != nil {
		return outcome{}, err
	}
	for tries := 1; ; tries++ {
		row, err := h.cfg.Store.Get(ctx, from.received, c.ref)
		if errors.Is(err, store.ErrNotFound) || err == nil && row.Status.Finished() {
			return outcome{}, scheduleNotFound(c.space, u.ID)
		}
		if err != nil {
			return outcome{}, err
		}
		s, err := schedule.Parse(row.Schedule, zone.Load)
		if err != nil {
			return outcome{}, err
		}
		if u.IfVersion != 0 && u.IfVersion != s.Version {
			return outcome{}, scheduleVersionConflict(&row, s.Version, u.IfVersion)
		}
		if err := prepare(&row, s); err != nil {
			return outcome{}, err
		}
		c.ifGeneration = row.Generation
		o, err := h.writeSchedule(ctx, c, size)
		refused := (*refusal)(nil)
		switch conflict := errors.As(err, &refused) && refused.code == api.ErrorCodeGenerationConflict; {
		case conflict && tries < scheduleTries:
			// An occurrence was created, or another client changed the schedule.
		case conflict:
			return outcome{}, &refusal{
				status: http.StatusServiceUnavailable, code: api.ErrorCodeUnavailable, details: details{},
				message: fmt.Sprintf("schedule %q in namespace %q changes too often; nothing was changed, try again later", u.ID, c.space),
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
func (h *handler) schedulePatch(
	ctx context.Context, c *command, u *decode.UpdateSchedule, from origin, row *timer.Timer, present *schedule.Schedule,
) (timer.Patch, error) {
	d := u.Apply(present.Definition)
	d.Version++
	state, err := schedule.ParseState(row.ScheduleState)
	if err != nil {
		return timer.Patch{}, err
	}
	var s *schedule.Schedule
	next := row.ExecuteAt
	if u.ChangesOccurrences() {
		s, next, err = define(d, max(from.received, state.Last)) // the clock of another process may be ahead
	} else {
		s, err = schedule.Check(d, zone.Load)
	}
	if err != nil {
		return timer.Patch{}, err
	}
	template := present.Template(&row.Spec)
	if u.HasTemplate() {
		if template, err = h.template(ctx, c, &u.ScheduleFields, from); err != nil {
			return timer.Patch{}, err
		}
	}
	spec := s.Row(template, next)
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

// deletePending deletes the unfinished occurrences that a schedule had created before a write, if wanted. Its errors say that the write
// was applied.
func (h *handler) deletePending(ctx context.Context, c *command, o *outcome, wanted bool) error {
	if !wanted || o.prior == nil {
		return nil
	}
	state, err := schedule.ParseState(o.prior.ScheduleState)
	if err != nil {
		return err
	}
	items := make([]commit.Item, len(state.Recent))
	for i, at := range state.Recent {
		id := c.namespace.Shards.OccurrenceID(nameOf(c.id), at.String())
		items[i] = commit.Item{Op: store.Delete{Ref: refOf(c.namespace, id)}, Size: smallOp}
	}
	for _, committed := range h.submit(ctx, items) {
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
		q := store.ListQuery{CorrelationID: schedule.Mark, After: l.Cursor, Limit: l.Limit}
		ns, err := h.lookup(ctx, from, access.Read, l.Namespace)
		if err != nil {
			return answer{}, err
		}
		q.Namespace = *ns
		return h.pageAnswer(ctx, l.Limit, timer.MaxPayload, func() ([]byte, error) {
			page, err := h.rows(ctx, from.received, &q)
			if err != nil {
				return nil, err
			}
			result := api.SchedulePage{Schedules: []api.Schedule{}, NextCursor: decode.WriteCursor(page.Next)}
			for i := range page.Timers {
				if page.Timers[i].Schedule == "" {
					continue // a timer whose user gave it the correlation id
				}
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

// PauseSchedule implements api.ServerInterface.
func (h *handler) PauseSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		p, err := decode.ReadPauseSchedule(body)
		if err != nil {
			return answer{}, err
		}
		c := command{verb: event.VerbPause, pause: &store.Pause{By: from.by(), Note: p.Note}}
		if err := h.resolveSchedule(ctx, &c, p.ScheduleSelection, from); err != nil {
			return answer{}, err
		}
		a, err := h.commitSchedule(ctx, &c, len(body))
		if err == nil {
			h.audit(from, "schedule paused", "namespace", c.space, "schedule", p.ID, "note", p.Note)
		}
		return a, err
	})
}

// ResumeSchedule implements api.ServerInterface.
func (h *handler) ResumeSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		selection, err := decode.ReadScheduleSelection(body)
		if err != nil {
			return answer{}, err
		}
		c := command{verb: event.VerbResume, resume: &store.Resume{}}
		if err := h.resolveSchedule(ctx, &c, selection, from); err != nil {
			return answer{}, err
		}
		o, err := h.writeSchedule(ctx, &c, len(body))
		if err == nil && o.timer.Status == timer.StatusParked {
			err = h.startParked(ctx, &c, &o)
		}
		if err != nil {
			return answer{}, err
		}
		a, err := scheduleAnswer(&c, &o)
		if err == nil {
			h.audit(from, "schedule resumed", "namespace", c.space, "schedule", selection.ID)
		}
		return a, err
	})
}

// startParked starts a parked schedule again.
func (h *handler) startParked(ctx context.Context, c *command, o *outcome) error {
	all, err := h.redrive(ctx, []store.Rearm{{
		Ref: c.ref, Revision: h.cfg.Revisions.Next(), ExecuteAt: o.timer.ExecuteAt, IfGeneration: o.timer.Generation,
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
			if _, _, err := h.readSchedule(ctx, q.ScheduleSelection, from, access.Read); err != nil {
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
