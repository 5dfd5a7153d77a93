package ingest

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/trace"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// BatchCreateTimers implements api.ServerInterface.
func (h *handler) BatchCreateTimers(w http.ResponseWriter, r *http.Request) {
	var b decode.Create // one for all items, because it is large
	h.serveBatch(w, r, func(ctx context.Context, item decode.Item, from origin) (_ command, err error) {
		if b, err = item.Create(); err != nil {
			return command{verb: event.VerbCreate}, err
		}
		return h.prepareCreate(ctx, &b, from)
	})
}

// BatchDeleteTimers implements api.ServerInterface.
func (h *handler) BatchDeleteTimers(w http.ResponseWriter, r *http.Request) {
	h.serveBatch(w, r, func(ctx context.Context, item decode.Item, from origin) (command, error) {
		b, err := item.Delete()
		if err != nil {
			return command{verb: event.VerbDelete}, err
		}
		return h.prepareDelete(ctx, &b, from)
	})
}

// entry is one item of a batch until its result is known.
type entry struct {
	command   command
	size      int
	refusal   *refusal // the answer, if set
	outcome   outcome
	unchanged bool
}

// serveBatch serves a batch. Batches are larger than other requests, so only a few are served concurrently. A batch
// takes its slot when its body is complete, so that slow uploads do not block other batches.
func (h *handler) serveBatch(
	w http.ResponseWriter, r *http.Request, prepare func(ctx context.Context, item decode.Item, from origin) (command, error),
) {
	h.serveFrom(w, r, &h.batchBodies, h.cfg.RequestTimeout, func(ctx context.Context, body []byte, from origin) (answer, error) {
		select {
		case h.batches <- struct{}{}:
			defer func() { <-h.batches }()
		default:
			return answer{}, &refusal{
				status: http.StatusTooManyRequests, code: api.ErrorCodeRateLimited, details: details{"limit": cap(h.batches)},
				message: fmt.Sprintf("%d batches are being served already; nothing was applied, try again later", cap(h.batches)),
			}
		}
		items, err := decode.ReadBatch(body)
		if err != nil {
			return answer{}, err
		}
		entries := make([]entry, len(items))
		for i, item := range items {
			e := &entries[i]
			e.size = len(item)
			var err error
			if len(item) <= h.cfg.BodyLimit {
				e.command, err = prepare(ctx, item, from)
			} else {
				err = bodyTooLarge(h.cfg.BodyLimit)
			}
			if err == nil {
				err = h.useQuota(&e.command)
			}
			if err != nil {
				e.refusal = refuse(err).withPath(fmt.Sprintf("timers[%d]", i))
			}
		}
		if err := h.applyAll(ctx, entries); err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, body: h.renderBatch(entries)}, nil
	})
}

// applyAll commits the entries that are not refused. It returns an error if none of them was applied, for reasons that
// may pass.
func (h *handler) applyAll(ctx context.Context, entries []entry) error {
	accepted := make([]*entry, 0, len(entries))
	items := make([]commit.Item, 0, len(entries))
	for i := range entries {
		if e := &entries[i]; e.refusal == nil {
			accepted = append(accepted, e)
			items = append(items, commit.Item{Op: e.command.op(h.cfg.Revisions.Next()), Size: e.size})
		}
	}
	var whole *refusal
	taken := len(items) == 0
	for i, committed := range h.submit(ctx, items) {
		e := accepted[i]
		err := committed.Err
		if err == nil {
			taken = true
			e.unchanged = committed.Written.Kept
			e.outcome, err = h.interpret(&e.command, committed.Written, committed.After)
		}
		if err == nil {
			continue
		}
		e.refusal = refuse(err)
		// If there are several reasons, the batch gets the one with the highest status, so an unknown outcome (504)
		// comes first.
		if whole == nil || e.refusal.status > whole.status {
			whole = e.refusal
		}
	}
	if !taken {
		return whole
	}
	return nil
}

func (s *Service) submit(ctx context.Context, items []commit.Item) []commit.Outcome {
	if len(items) == 0 {
		return nil
	}
	ctx, span := s.cfg.Tracer.Child(ctx, trace.SpanKindInternal, "store")
	defer span.End()
	return s.committer.Submit(ctx, items...)
}

func (h *handler) renderBatch(entries []entry) api.BatchResults {
	results := api.BatchResults{Results: make([]api.BatchResult, len(entries))}
	for i := range entries {
		e, r := &entries[i], &results.Results[i]
		if e.refusal != nil {
			results.Failed++
			failure := h.renderError(e.refusal)
			*r = api.BatchResult{Status: e.refusal.status, Error: &failure}
			continue
		}
		results.Succeeded++
		t := e.outcome.timer
		*r = api.BatchResult{
			Status: http.StatusOK, Namespace: e.command.space, ID: e.command.id, TimerID: e.command.id,
			Generation: t.Generation.String(), Kept: e.unchanged,
		}
		switch deleted := e.command.verb == event.VerbDelete; {
		case !e.outcome.inTime:
			r.Status = http.StatusAccepted
		case deleted:
			r.Status = http.StatusNoContent
		}
		if e.command.verb != event.VerbDelete {
			r.DueAt = instant(t.DueAt)
		}
	}
	return results
}
