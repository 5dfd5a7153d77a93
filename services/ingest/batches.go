package ingest

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// BatchCreateTimers implements api.ServerInterface.
func (h *handler) BatchCreateTimers(w http.ResponseWriter, r *http.Request) {
	var b decode.Create // one for all items, because it is large
	h.serveBatch(w, r, &batch{field: "timers", render: h.timerResults, prepare: func(
		ctx context.Context, item decode.Item, from origin,
	) (_ command, err error) {
		if b, err = item.Create(); err != nil {
			return command{verb: event.VerbCreate}, err
		}
		return h.prepareCreate(ctx, &b, from)
	}})
}

// BatchDeleteTimers implements api.ServerInterface.
func (h *handler) BatchDeleteTimers(w http.ResponseWriter, r *http.Request) {
	h.serveBatch(w, r, &batch{field: "timers", render: h.timerResults, prepare: func(
		ctx context.Context, item decode.Item, from origin,
	) (command, error) {
		b, err := item.Delete()
		if err != nil {
			return command{verb: event.VerbDelete}, err
		}
		return h.prepareDelete(ctx, &b, from)
	}})
}

// batch is a kind of batch: of creates or deletes of timers or schedules.
type batch struct {
	field   string // the member of the body that has the items
	prepare func(ctx context.Context, item decode.Item, from origin) (command, error)
	render  func(entries []entry) any
}

// entry is one item of a batch until its result is known.
type entry struct {
	command   command
	size      int
	refusal   *refusal // the answer, if set
	outcome   outcome
	unchanged bool
	// unanswered: the write failed for a reason that may pass, which is the refusal.
	unanswered bool
}

// serveBatch serves a batch. Batches are larger than other requests, so only a few are served concurrently. A batch
// takes its slot when its body is complete, so that slow uploads do not block other batches.
func (h *handler) serveBatch(w http.ResponseWriter, r *http.Request, b *batch) {
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
		items, err := decode.ReadBatch(body, b.field)
		if err != nil {
			return answer{}, err
		}
		entries := make([]entry, len(items))
		for i, item := range items {
			e := &entries[i]
			e.size = len(item)
			var err error
			if len(item) <= h.cfg.BodyLimit {
				e.command, err = b.prepare(ctx, item, from)
			} else {
				err = bodyTooLarge(h.cfg.BodyLimit)
			}
			if ctx.Err() != nil { // the exclusions of a schedule may need millions of steps
				return answer{}, batchTooSlow(h.cfg.RequestTimeout.String(), i, len(items))
			}
			e.refuseAt(b.field, i, err)
		}
		// Only now, because a batch that is too slow must not use the quotas.
		for i := range entries {
			if e := &entries[i]; e.refusal == nil {
				e.refuseAt(b.field, i, h.useQuota(&e.command))
			}
		}
		if err := h.applyAll(ctx, entries); err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusOK, body: b.render(entries)}, nil
	})
}

// refuseAt refuses the entry if err is not nil. Its place in the body is field[i].
func (e *entry) refuseAt(field string, i int, err error) {
	if err != nil {
		e.refusal = refuse(err).withPath(fmt.Sprintf("%s[%d]", field, i))
	}
}

// applyAll applies the entries that are not refused. It returns an error if none of them was applied, for reasons that
// may pass.
func (h *handler) applyAll(ctx context.Context, entries []entry) error {
	groups := inOrder(entries)
	for _, group := range groups {
		h.applyGroup(ctx, group)
	}
	var whole *refusal
	for _, group := range groups {
		for _, e := range group {
			if !e.unanswered {
				return nil
			}
			// If there are several reasons, the batch gets the one with the highest status, so an unknown outcome (504)
			// comes first.
			if whole == nil || e.refusal.status > whole.status {
				whole = e.refusal
			}
		}
	}
	if whole != nil {
		return whole
	}
	return nil
}

// inOrder returns the entries that are not refused, in groups that must be applied one after the other. The committer keeps the
// order of writes to one row. A command that needs several calls of the store has no place in this order, so if there is one, a group
// has at most one entry for each row.
func inOrder(entries []entry) [][]*entry {
	accepted, several := make([]*entry, 0, len(entries)), false
	for i := range entries {
		if e := &entries[i]; e.refusal == nil {
			accepted = append(accepted, e)
			several = several || e.command.applySteps != nil
		}
	}
	if !several {
		return [][]*entry{accepted}
	}
	var groups [][]*entry
	earlier := map[store.Ref]int{}
	for _, e := range accepted {
		at := earlier[e.command.ref]
		earlier[e.command.ref]++
		if at == len(groups) {
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], e)
	}
	return groups
}

// stepsInFlight is how many commands of a batch that need several calls of the store are applied concurrently.
const stepsInFlight = 16

// applyGroup applies entries in any order, except that writes to one row keep their order.
func (h *handler) applyGroup(ctx context.Context, group []*entry) {
	written := make([]*entry, 0, len(group))
	items := make([]commit.Item, 0, len(group))
	var steps errgroup.Group
	steps.SetLimit(stepsInFlight)
	for _, e := range group {
		if e.command.applySteps == nil {
			written = append(written, e)
			items = append(items, commit.Item{Op: e.command.op(h.cfg.Revisions.Next()), Size: e.size})
			continue
		}
		steps.Go(func() error {
			o, err := e.command.applySteps(ctx, &e.command)
			e.conclude(o, err, isTemporary(err))
			return nil // the entry has the error
		})
	}
	for i, committed := range h.submit(ctx, items) {
		e := written[i]
		if committed.Err != nil {
			e.conclude(outcome{}, committed.Err, isTemporary(committed.Err))
			continue
		}
		e.unchanged = committed.Written.Kept
		o, err := h.interpret(&e.command, committed.Written, committed.After)
		e.conclude(o, err, false)
	}
	_ = steps.Wait() // it has no error
}

// conclude records the result of an entry. unanswered: err may pass.
func (e *entry) conclude(o outcome, err error, unanswered bool) {
	if err == nil {
		e.outcome = o
		return
	}
	e.refusal, e.unanswered = refuse(err), unanswered
}

func (s *Service) submit(ctx context.Context, items []commit.Item) []commit.Outcome {
	if len(items) == 0 {
		return nil
	}
	ctx, span := s.cfg.Tracer.Child(ctx, trace.SpanKindInternal, "store")
	defer span.End()
	return s.committer.Submit(ctx, items...)
}

// timerResults returns the answer to a batch of timers.
func (h *handler) timerResults(entries []entry) any {
	results := api.BatchResults{Results: make([]api.BatchResult, len(entries))}
	for i := range entries {
		e, r := &entries[i], &results.Results[i]
		if e.refusal != nil {
			results.Failed++
			*r = api.BatchResult{Status: e.refusal.status, Error: h.itemError(e)}
			continue
		}
		results.Succeeded++
		t := e.outcome.timer
		*r = api.BatchResult{
			Status: e.status(), Namespace: e.command.namespaceName, ID: e.command.id, TimerID: e.command.id,
			Generation: t.Generation.String(), Kept: e.unchanged,
		}
		if e.command.verb != event.VerbDelete {
			r.DueAt = instant(t.DueAt)
		}
	}
	return results
}

// status returns the status that an applied entry would get as a single request.
func (e *entry) status() int {
	switch {
	case !e.outcome.inTime:
		return http.StatusAccepted
	case e.command.verb == event.VerbDelete:
		return http.StatusNoContent
	default:
		return http.StatusOK
	}
}

// itemError returns the error of a refused entry.
func (h *handler) itemError(e *entry) *api.Error {
	if e.refusal.code == api.ErrorCodeInternalError {
		h.cfg.Logger.Error("item of a batch failed", "namespace", e.command.namespaceName, "timer", e.command.id, "error", e.refusal.cause)
	}
	failure := h.renderError(e.refusal)
	return &failure
}
