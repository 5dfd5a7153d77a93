package ingest

import (
	"context"
	"math"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// Requests that create or compute occurrences of a schedule.

// prepareTrigger prepares the create of an occurrence at the time of the command, so that a repetition creates no other one.
func (s *Service) prepareTrigger(ctx context.Context, body []byte, from origin) (command, error) {
	c := command{verb: event.VerbCreate}
	selection, err := decode.ReadScheduleSelection(body)
	if err != nil {
		return c, err
	}
	c.applySteps = func(ctx context.Context, c *command) (outcome, error) {
		row, present, err := s.readDefinition(ctx, c, from)
		if err != nil {
			return outcome{}, err
		}
		at := from.received
		for next, ok := present.After(at - 1); ok && next.At == at; next, ok = present.After(at - 1) {
			at++ // the schedule itself creates the occurrence at that instant
		}
		put := present.Put(c.namespace, selection.ID, &row.Spec, at, from.received, 0)
		occurrence := command{
			verb: event.VerbCreate, onConflict: store.Keep,
			namespaceName: c.namespaceName, id: put.ID, namespace: c.namespace, ref: put.Ref, spec: put.Spec,
		}
		o, err := s.writeOne(ctx, &occurrence, smallOp+len(row.Payload))
		if err == nil {
			*c = occurrence // the answer is that of the occurrence
		}
		return o, err
	}
	if err := s.resolveSchedule(ctx, &c, selection, from); err != nil {
		return c, err
	}
	return c, from.requireCertain()
}

// maxBackfill bounds the occurrences of a backfill.
const maxBackfill = 1000

func (s *Service) prepareBackfill(ctx context.Context, body []byte, from origin) (command, error) {
	c := command{verb: event.VerbUpdate} // it counts in the quotas once for each occurrence
	b, err := decode.ReadBackfillSchedule(body)
	if err != nil {
		return c, err
	}
	c.applySteps = func(ctx context.Context, c *command) (outcome, error) {
		row, present, err := s.readDefinition(ctx, c, from)
		if err != nil {
			return outcome{}, err
		}
		if !row.Status.Finished() {
			b.To = min(b.To, row.ExecuteAt) // the schedule itself decides about this instant and later ones
		}
		result, err := s.backfill(ctx, c.namespace, present, row, &b, from.received)
		return outcome{timer: row, inTime: true, backfill: &result}, err
	}
	if err := s.resolveSchedule(ctx, &c, b.ScheduleSelection, from); err != nil {
		return c, err
	}
	if err := from.requireCertain(); err != nil {
		return c, err
	}
	return c, b.CheckPassed(from.received)
}

// readDefinition reads the row of the schedule of a command, which may have ended.
func (s *Service) readDefinition(ctx context.Context, c *command, from origin) (*timer.Timer, *schedule.Schedule, error) {
	row, err := s.readSchedule(ctx, c.namespace, nameOf(c.id), from.received)
	if err != nil {
		return nil, nil, err
	}
	present, err := schedule.Parse(row.Schedule, s.cfg.Zones.Load)
	return &row, present, err
}

// backfill creates the occurrences of a range, maxWritten at a time.
func (s *Service) backfill(
	ctx context.Context, ns *store.Namespace, present *schedule.Schedule, row *timer.Timer, b *decode.BackfillSchedule, now timer.Millis,
) (result api.ScheduleBackfill, err error) {
	var items []commit.Item
	at := b.From - 1
	for more := true; more; {
		next, ok := present.After(at)
		switch more = ok && next.At < b.To; {
		case !more:
		case result.Created+result.Kept+len(items) == maxBackfill:
			result.NextFrom, more = instant(next.At), false
		case ctx.Err() != nil:
			return result, ctx.Err()
		default:
			if err := s.useQuota(&command{verb: event.VerbCreate, namespace: ns}); err != nil && at < b.From {
				return result, err // nothing was created
			} else if err != nil {
				result.NextFrom, more = instant(next.At), false
				break
			}
			at = next.At
			put := present.Put(ns, b.ID, &row.Spec, at, now, s.cfg.Revisions.Next())
			put.OnConflict = store.Keep
			items = append(items, commit.Item{Op: put, Size: smallOp + len(put.Spec.Payload)})
		}
		if len(items) == maxWritten || !more {
			if err := s.fill(ctx, items, &result); err != nil {
				return result, err
			}
			items = items[:0]
		}
	}
	return result, nil
}

// fill creates occurrences and counts them.
func (s *Service) fill(ctx context.Context, items []commit.Item, result *api.ScheduleBackfill) error {
	for _, committed := range s.submit(ctx, items) {
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
			s, err = schedule.Check(p.Apply(schedule.Definition{}), h.cfg.Zones.Load)
		} else {
			if row, err = h.readSchedule(ctx, ns, p.ID, from.received); err == nil {
				s, err = schedule.Parse(row.Schedule, h.cfg.Zones.Load)
			}
		}
		if err != nil {
			return answer{}, err
		}
		result := api.SchedulePreview{TimeZone: s.Zone(), ZoneVersion: h.cfg.Zones.Version, Occurrences: []api.ScheduleOccurrence{}}
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
