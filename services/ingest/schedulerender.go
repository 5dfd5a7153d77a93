package ingest

import (
	"fmt"
	"net/http"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Conversion of schedules to the types of the API, and the refusals of requests for schedules.

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

func scheduleParked(t *timer.Timer) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeScheduleExists,
		details: details{"namespace": t.Namespace, "id": nameOf(t.ID)},
		message: fmt.Sprintf("schedule %q in namespace %q is parked, so it cannot be paused; resume it first", nameOf(t.ID), t.Namespace),
	}
}

func scheduleVersionConflict(t *timer.Timer, version, want int) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeVersionConflict,
		details: details{"namespace": t.Namespace, "id": nameOf(t.ID), "version": version},
		message: fmt.Sprintf("schedule %q in namespace %q has version %d, not ifVersion %d", nameOf(t.ID), t.Namespace, version, want),
	}
}
