package ingest

import (
	"context"
	"errors"
	"fmt"
	"math"
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
		err = s.checkURLs(spec.CallbackURL, spec.OnDone, spec.OnDead)
	}
	if err == nil {
		err = s.checkTopic(ctx, c, spec.Topic, from.received)
	}
	if err == nil {
		err = s.checkFlow(ctx, c, spec.FlowKey, from.received)
	}
	if err == nil {
		err = checkPayload(c.namespace, spec.Payload)
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
	w := &committed.Written
	switch {
	case errors.Is(w.Err, store.ErrNotFound):
		return outcome{}, scheduleNotFound(c.space, nameOf(c.id))
	case errors.Is(w.Err, store.ErrExists):
		return outcome{}, scheduleExists(&w.Timer)
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
		body, err := renderSchedule(c.namespace, &o.timer)
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

// changeSchedule reads a schedule, prepares a command for its present state, and commits it. If the schedule has changed meanwhile, it
// begins again.
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
		o.timer = all[0].Timer
	}
	return err
}

// TriggerSchedule implements api.ServerInterface.
func (h *handler) TriggerSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		selection, err := decode.ReadScheduleSelection(body)
		if err != nil {
			return answer{}, err
		}
		if err := from.requireCertain(); err != nil {
			return answer{}, err
		}
		ns, row, err := h.readSchedule(ctx, selection, from, access.Write)
		if err != nil {
			return answer{}, err
		}
		s, err := schedule.Parse(row.Schedule, zone.Load)
		if err != nil {
			return answer{}, err
		}
		at := from.received
		if at%1000 == 0 {
			at++ // most schedules have occurrences at whole seconds only
		}
		put := s.Put(ns, selection.ID, &row.Spec, at, from.received, 0)
		c := command{
			verb: event.VerbCreate, space: ns.Name, id: put.ID, namespace: ns, ref: put.Ref, spec: put.Spec, onConflict: store.Keep,
		}
		if err := h.useQuota(&c); err != nil {
			return answer{}, err
		}
		return h.commit(ctx, &c, len(body)+len(row.Payload))
	})
}

// maxBackfill bounds the occurrences of a backfill.
const maxBackfill = 1000

// BackfillSchedule implements api.ServerInterface.
func (h *handler) BackfillSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		b, err := decode.ReadBackfillSchedule(body, from.received)
		if err != nil {
			return answer{}, err
		}
		if err := from.requireCertain(); err != nil {
			return answer{}, err
		}
		ns, row, err := h.readSchedule(ctx, b.ScheduleSelection, from, access.Write)
		if err != nil {
			return answer{}, err
		}
		s, err := schedule.Parse(row.Schedule, zone.Load)
		if err != nil {
			return answer{}, err
		}
		if !row.Status.Finished() {
			b.To = min(b.To, row.ExecuteAt) // the schedule itself decides about this instant and later ones
		}
		result, err := h.backfill(ctx, ns, s, &row, &b, from.received)
		if err != nil {
			return answer{}, err
		}
		h.audit(from, "schedule backfilled", "namespace", ns.Name, "schedule", b.ID, "from", b.From.String(), "to", b.To.String(),
			"created", result.Created)
		return answer{status: http.StatusOK, body: result}, nil
	})
}

// backfill creates the occurrences of a range, maxWritten at a time.
func (h *handler) backfill(
	ctx context.Context, ns *store.Namespace, s *schedule.Schedule, row *timer.Timer, b *decode.BackfillSchedule, now timer.Millis,
) (result api.ScheduleBackfill, err error) {
	var items []commit.Item
	at := b.From - 1
	for more := true; more; {
		next, ok := s.After(at)
		switch more = ok && next.At < b.To; {
		case !more:
		case result.Created+result.Kept+len(items) == maxBackfill:
			result.NextFrom, more = instant(next.At), false
		case ctx.Err() != nil:
			return result, ctx.Err()
		default:
			if err := h.useQuota(&command{verb: event.VerbCreate, namespace: ns}); err != nil && at < b.From {
				return result, err // nothing was created
			} else if err != nil {
				result.NextFrom, more = instant(next.At), false
				break
			}
			at = next.At
			put := s.Put(ns, b.ID, &row.Spec, at, now, h.cfg.Revisions.Next())
			put.OnConflict = store.Keep
			items = append(items, commit.Item{Op: put, Size: smallOp + len(put.Spec.Payload)})
		}
		if len(items) == maxWritten || !more {
			if err := h.fill(ctx, items, &result); err != nil {
				return result, err
			}
			items = items[:0]
		}
	}
	return result, nil
}

// fill creates occurrences and counts them.
func (h *handler) fill(ctx context.Context, items []commit.Item, result *api.ScheduleBackfill) error {
	for _, committed := range h.submit(ctx, items) {
		err := committed.Err
		if err == nil {
			err = committed.Written.Err
		}
		switch {
		case err != nil:
			return err
		case committed.Written.Kept:
			result.Kept++
		default:
			result.Created++
		}
	}
	return nil
}

// PreviewSchedule implements api.ServerInterface.
func (h *handler) PreviewSchedule(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		p, err := decode.ReadPreviewSchedule(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, p.Namespace)
		if err != nil {
			return answer{}, err
		}
		var s *schedule.Schedule
		var row timer.Timer
		if p.ID == "" {
			s, err = schedule.Check(p.Apply(schedule.Definition{}), zone.Load)
		} else {
			if _, row, err = h.readSchedule(ctx, p.ScheduleSelection, from, access.Read); err == nil {
				s, err = schedule.Parse(row.Schedule, zone.Load)
			}
		}
		if err != nil {
			return answer{}, err
		}
		result := api.SchedulePreview{TimeZone: s.Zone(), ZoneVersion: zone.Version, Occurrences: []api.ScheduleOccurrence{}}
		at := p.From
		if at == 0 {
			at = from.received
		}
		limit := p.Limit
		if p.ID != "" {
			limit = min(limit, remaining(s, &row))
		}
		for range limit {
			next, ok := s.After(at)
			if !ok || ctx.Err() != nil {
				break
			}
			at = next.At
			o := api.ScheduleOccurrence{At: instant(at), Local: next.Local, Remark: api.ScheduleOccurrenceRemark(next.Remark)}
			if p.ID != "" {
				o.TimerID = ns.Shards.OccurrenceID(p.ID, at.String())
			}
			result.Occurrences = append(result.Occurrences, o)
		}
		return answer{status: http.StatusOK, body: result}, ctx.Err()
	})
}

// remaining returns how many occurrences a schedule may still create.
func remaining(s *schedule.Schedule, row *timer.Timer) int {
	state, err := schedule.StateOf(row)
	switch {
	case row.Status.Finished():
		return 0
	case err != nil || s.Count == 0:
		return math.MaxInt
	default:
		return max(s.Count-state.Created, 0)
	}
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

func renderDecision(ns *store.Namespace, name string, e *store.HistoryEntry) api.ScheduleDecision {
	d := api.ScheduleDecision{
		At: instant(e.ExecuteAt), DecidedAt: instant(e.FinishedAt), NextAt: optionalInstant(e.NextAt), Reason: e.Error,
		Decision: api.ScheduleDecisionDecision(schedule.DecisionOf(e.Error)),
	}
	if d.Decision == api.ScheduleDecisionDecisionCreated {
		d.TimerID = ns.Shards.OccurrenceID(name, e.ExecuteAt.String())
	}
	return d
}

func renderSchedule(ns *store.Namespace, t *timer.Timer) (api.Schedule, error) {
	s, err := schedule.Parse(t.Schedule, zone.Load)
	if err != nil {
		return api.Schedule{}, fmt.Errorf("schedule %q in namespace %q: %w", nameOf(t.ID), t.Namespace, err)
	}
	state, err := schedule.StateOf(t)
	if err != nil {
		return api.Schedule{}, fmt.Errorf("schedule %q in namespace %q: %w", nameOf(t.ID), t.Namespace, err)
	}
	d := &s.Definition
	out := api.Schedule{
		Namespace: t.Namespace, ID: nameOf(t.ID), Status: api.ScheduleStatusActive, Version: d.Version, Created: state.Created,
		TimeZone: s.Zone(), Start: optionalInstant(d.Start), End: optionalInstant(d.End),
		Gap: api.ScheduleGap(s.Gaps()), Repeated: api.ScheduleRepeated(s.Overlaps()), Count: d.Count,
		Overlap: api.ScheduleOverlap(d.OnOverlap), CatchUp: api.ScheduleCatchUp(d.CatchUp),
		CatchUpWindow: optionalDuration(d.CatchUpWindow),
		PauseOnDead:   d.PauseOnDead, Timer: renderTemplate(s, t), Pause: renderPause(t.Pause),
		CreatedAt: instant(t.CreatedAt), UpdatedAt: instant(t.UpdatedAt), NextAt: instant(t.ExecuteAt),
	}
	switch {
	case t.Status.Finished():
		out.Status, out.NextAt = api.ScheduleStatusEnded, api.Instant{}
	case t.Status == timer.StatusPaused:
		out.Status = api.ScheduleStatusPaused
	case t.Status == timer.StatusParked:
		out.Status = api.ScheduleStatusParked
	}
	for _, spec := range d.Specs {
		out.Specs = append(out.Specs, api.ScheduleSpec{
			Cron: spec.Cron, Rrule: spec.RRule, Dates: spec.Dates, Every: optionalDuration(spec.Every),
			Anchor: optionalInstant(spec.Anchor),
		})
	}
	for _, e := range d.Exclude {
		out.Exclude = append(out.Exclude, api.ScheduleExclusion{From: e.From, Until: e.Until, Rrule: e.RRule})
	}
	for _, at := range state.Recent {
		out.Recent = append(out.Recent, ns.Shards.OccurrenceID(out.ID, at.String()))
	}
	return out, nil
}

// renderTemplate returns the fields of the occurrences in the form of a create.
func renderTemplate(s *schedule.Schedule, row *timer.Timer) api.CreateTimerRequest {
	t := timer.Timer{Spec: s.Template(&row.Spec)}
	out := api.CreateTimerRequest{
		Deliver: api.Deliver(t.Way()), CallbackURL: t.CallbackURL, CallbackTimeout: timer.FormatDuration(t.CallbackTimeout),
		RetryPolicy: renderRetryInput(&t.Retry), CorrelationID: t.CorrelationID, Headers: t.Headers.Map(), Topic: t.Topic, Key: t.EventKey,
		Request: renderRequest(&t, true), Window: optionalDuration(t.Window), ExpireAfter: optionalDuration(t.ExpireAfter),
		FlowKey: t.FlowKey, OnDone: t.OnDone, OnDead: t.OnDead,
	}
	if !t.Request.Raw() {
		out.Payload = t.Payload
	}
	return out
}

func renderRetryInput(p *timer.RetryPolicy) api.RetryPolicyInput {
	return api.RetryPolicyInput{
		MaxAttempts: api.Set(p.MaxAttempts), MaxAttemptsDuration: api.Set(timer.FormatDuration(p.MaxAttemptsDuration)),
		InitialInterval: api.Set(timer.FormatDuration(p.InitialInterval)), BackoffMultiplier: api.Set(p.BackoffMultiplier),
		MaxInterval: api.Set(timer.FormatDuration(p.MaxInterval)),
	}
}

func scheduleNotFound(namespace, id string) *refusal {
	return &refusal{
		status: http.StatusNotFound, code: api.ErrorCodeScheduleNotFound, details: details{"namespace": namespace, "id": id},
		message: fmt.Sprintf("there is no schedule %q in namespace %q", id, namespace),
	}
}

func scheduleExists(t *timer.Timer) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeScheduleExists,
		details: details{"namespace": t.Namespace, "id": nameOf(t.ID)},
		message: fmt.Sprintf("schedule %q exists in namespace %q, and onConflict is fail", nameOf(t.ID), t.Namespace),
	}
}

func scheduleVersionConflict(t *timer.Timer, version, want int) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeVersionConflict,
		details: details{"namespace": t.Namespace, "id": nameOf(t.ID), "version": version},
		message: fmt.Sprintf("schedule %q in namespace %q has version %d, not ifVersion %d", nameOf(t.ID), t.Namespace, version, want),
	}
}
