package ingest

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// CreateTimer implements api.ServerInterface.
func (h *handler) CreateTimer(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		return h.apply(ctx, event.VerbCreate, body, from)
	})
}

// UpdateTimer implements api.ServerInterface.
func (h *handler) UpdateTimer(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		return h.apply(ctx, event.VerbUpdate, body, from)
	})
}

// DeleteTimer implements api.ServerInterface.
func (h *handler) DeleteTimer(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		return h.apply(ctx, event.VerbDelete, body, from)
	})
}

// RunTimerNow implements api.ServerInterface. It is an update of executeAt, which a paused timer refuses: it would not run.
func (h *handler) RunTimerNow(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		b, err := decode.ReadDelete(body) // a body with the same fields
		if err != nil {
			return answer{}, err
		}
		if err := from.requireCertain(); err != nil {
			return answer{}, err
		}
		c := command{verb: event.VerbUpdate, ifGeneration: b.IfGeneration, unlessPaused: true}
		c.patch = timer.Patch{ExecuteAt: &from.received, Window: new(time.Duration(0))}
		if err := h.resolveTimer(ctx, &c, b.Selection, from); err != nil {
			return answer{}, err
		}
		return h.commit(ctx, &c, len(body))
	})
}

// apply prepares and commits one command.
func (h *handler) apply(ctx context.Context, verb event.Verb, body []byte, from origin) (answer, error) {
	c, err := h.prepare(ctx, verb, body, from)
	if err == nil {
		err = h.useQuota(&c)
	}
	if err != nil {
		return answer{}, err
	}
	return h.commit(ctx, &c, len(body))
}

// commit commits a command whose body has size bytes.
func (h *handler) commit(ctx context.Context, c *command, size int) (answer, error) {
	tracing.SetTimer(ctx, c.namespaceName, c.id)
	o, err := h.writeOne(ctx, c, size)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: http.StatusOK, correlation: o.timer.Correlation()}
	if !o.inTime {
		a.status = http.StatusAccepted
	}
	switch {
	case c.verb != event.VerbDelete:
		a.body = renderTimer(o.timer)
	case o.inTime:
		a.status = http.StatusNoContent
	default:
		a.body = api.LateDeletion{
			Namespace: c.namespaceName, ID: c.id, TimerID: c.id, Generation: o.timer.Generation.String(),
			Message: "deleted, but its delivery may have gone out",
		}
	}
	return a, nil
}

// writeOne writes the operation of a command whose body has size bytes.
func (s *Service) writeOne(ctx context.Context, c *command, size int) (outcome, error) {
	committed := s.submit(ctx, []commit.Item{{Op: c.op(s.cfg.Revisions.Next()), Size: size}})[0]
	if committed.Err != nil {
		return outcome{}, committed.Err
	}
	return s.interpret(c, committed.Written, committed.After)
}

// applyOne applies a command whose body has size bytes.
func (s *Service) applyOne(ctx context.Context, c *command, size int) (outcome, error) {
	if c.applySteps != nil {
		return c.applySteps(ctx, c)
	}
	return s.writeOne(ctx, c, size)
}

// GetTimer implements api.ServerInterface.
func (h *handler) GetTimer(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		selection, err := decode.ReadSelection(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, selection.Namespace)
		if err != nil {
			return answer{}, err
		}
		t, err := h.get(ctx, ns, selection.ID, from.received)
		if err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, body: renderTimer(&t), correlation: t.Correlation()}, nil
	})
}

func (s *Service) get(ctx context.Context, ns *store.Namespace, id string, now timer.Millis) (timer.Timer, error) {
	if err := requireTimer(ns.Name, id); err != nil {
		return timer.Timer{}, err
	}
	t, err := s.cfg.Store.Get(ctx, now, refOf(ns, id))
	if errors.Is(err, store.ErrNotFound) {
		return t, timerNotFound(ns.Name, id)
	}
	return t, err
}

// ListTimers implements api.ServerInterface.
func (h *handler) ListTimers(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		list, err := decode.ReadList(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, list.Namespace)
		if err != nil {
			return answer{}, err
		}
		list.Query.Namespace = *ns
		list.Query.WithoutPayloads = list.Query.Status == timer.StatusDone // answers never contain them
		return h.pageAnswer(ctx, list.Query.Limit, timer.MaxPayload, func() ([]byte, error) {
			page, err := h.page(ctx, from.received, &list)
			if err != nil {
				return nil, err
			}
			return encodePage(&page)
		})
	})
}

// page returns one page of timers, without schedules, or one of schedules.
func (s *Service) page(ctx context.Context, now timer.Millis, l *decode.List) (store.Page, error) {
	page, err := s.rows(ctx, now, &l.Query)
	page.Timers = slices.DeleteFunc(page.Timers, func(t timer.Timer) bool { return !l.Keeps(&t) })
	return page, err
}

// rows returns one page of timers and schedules.
func (s *Service) rows(ctx context.Context, now timer.Millis, q *store.ListQuery) (store.Page, error) {
	page, err := s.cfg.Store.List(ctx, now, *q)
	if errors.Is(err, store.ErrInvalid) {
		// Only the store can check the cursor, and whether it supports a filter.
		var invalid *timer.InvalidError
		if errors.As(err, &invalid) && invalid.Field != "cursor" {
			return page, invalid
		}
		return page, timer.Invalid("cursor", decode.WriteCursor(q.After), decode.WantCursor)
	}
	return page, err
}

// GetTimerHistory implements api.ServerInterface.
func (h *handler) GetTimerHistory(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		q, err := decode.ReadHistory(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, q.Namespace)
		if err != nil {
			return answer{}, err
		}
		if err := requireTimer(ns.Name, q.ID); err != nil {
			return answer{}, err
		}
		entries, err := h.cfg.Store.History(ctx, from.received, refOf(ns, q.ID), q.Limit)
		if err != nil {
			return answer{}, err
		}
		if len(entries) == 0 {
			// A timer without attempts must be distinguished from a missing timer.
			if _, err := h.get(ctx, ns, q.ID, from.received); err != nil {
				return answer{}, err
			}
		}
		history := api.TimerHistory{
			Namespace: ns.Name, ID: q.ID, TimerID: q.ID, Attempts: make([]api.HistoryEntry, len(entries)),
		}
		for i := range entries {
			history.Attempts[i] = renderEntry(&entries[i])
		}
		return answer{status: http.StatusOK, body: history}, nil
	})
}
