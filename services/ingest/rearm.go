package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// RetryTimer implements api.ServerInterface.
func (h *handler) RetryTimer(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		b, err := decode.ReadRetry(body)
		if err != nil {
			return answer{}, err
		}
		if err := from.requireCertain(); err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Write, b.Namespace)
		if err == nil {
			err = requireOpen(ns)
		}
		if err == nil {
			err = requireTimer(ns.Name, b.ID)
		}
		if err != nil {
			return answer{}, err
		}
		all, err := h.redrive(ctx, []store.Rearm{{
			Ref: refOf(ns, b.ID), Revision: h.cfg.Revisions.Next(),
			ExecuteAt: b.When.For(0, from.received), IfGeneration: b.IfGeneration,
		}})
		if err != nil {
			return answer{}, err
		}
		t := &all[0].Timer
		switch err := all[0].Err; {
		case err == nil:
			return answer{status: http.StatusOK, body: renderTimer(t), correlation: t.Correlation()}, nil
		case errors.Is(err, store.ErrNotFound):
			return answer{}, h.notRearmed(ctx, ns, b.ID, from.received)
		case errors.Is(err, store.ErrConflict) && b.IfGeneration != 0 && t.Generation != b.IfGeneration:
			return answer{}, generationConflict(t, b.IfGeneration)
		case errors.Is(err, store.ErrConflict):
			return answer{}, timerAlive(t)
		default:
			return answer{}, err
		}
	})
}

// notRearmed returns why a timer that is neither live nor dead was not started again.
func (s *Service) notRearmed(ctx context.Context, ns *store.Namespace, id string, now timer.Millis) error {
	t, err := s.get(ctx, ns, id, now)
	if err != nil || t.Status != timer.StatusDone {
		return cmp.Or(err, error(timerNotFound(ns.Name, id)))
	}
	why := "its payload was not kept, because it was done before the setting keepPayload of the namespace was set"
	if ns.Settings.KeepPayload == 0 {
		why = `its payload is not kept: set keepPayload of the namespace, such as "7d", so that timers that are done later can be retried`
	}
	refused := timerNotFound(ns.Name, id)
	refused.message = fmt.Sprintf("timer %q in namespace %q is done, and %s", id, ns.Name, why)
	return refused
}

func timerAlive(t *timer.Timer) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeTimerExists, details: presentState(t),
		message: fmt.Sprintf("timer %q in namespace %q has status %s; only finished and parked timers can be retried",
			t.ID, t.Namespace, t.Status),
	}
}

// redrive redrives timers and sends hints for the ones due soon. As for all writes, it decides by the time after the
// commit, and also sends hints after an unknown outcome.
func (s *Service) redrive(ctx context.Context, items []store.Rearm) ([]store.Written, error) {
	now, err := s.writeNow()
	if err != nil {
		return nil, err
	}
	all, err := s.cfg.Store.Rearm(ctx, now, items)
	err = commit.WriteError(err, len(all), len(items))
	unknown := errors.Is(err, store.ErrOutcomeUnknown)
	if err != nil && !unknown {
		return nil, err
	}
	horizon := s.timeAfterWrite().Add(s.cfg.HintWindow)
	hints, retried := make([]event.Hint, 0, len(items)), []changes.Change{}
	for i, item := range items {
		h := event.Hint{
			Shard: item.Ref.Shard, UUID: item.Ref.UUID, Revision: item.Revision, Generation: timer.Generation(item.Revision),
			Attempt: 1, DueAt: max(now, item.ExecuteAt), UpdatedAt: now,
		}
		switch {
		case unknown, errors.Is(all[i].Err, store.ErrOutcomeUnknown):
		case all[i].Err != nil:
			continue
		default:
			h = hintOf(item.Ref, &all[i].Timer)
			retried = append(retried, changeOf(changes.Retried, &all[i].Timer, now))
		}
		if h.DueAt <= horizon {
			hints = append(hints, h)
		}
	}
	s.hints.Add(hints)
	s.cfg.Changes.Add(retried...)
	return all, err
}
