package ingest

import (
	"context"
	"math"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// Requests that create or compute occurrences of a schedule.

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
