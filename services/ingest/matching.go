package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// Requests on all timers that a filter selects work on one page: they list it, write each timer under the
// generation that was listed, and look again at those that had changed.

// DeleteMatchingTimers implements api.ServerInterface.
func (h *handler) DeleteMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadDeleteMatching,
		func(ctx context.Context, m *decode.Matching, _ timer.Millis, found []timer.Timer) ([]written, error) {
			return h.writeEach(ctx, m, found, func(*timer.Timer) command { return command{verb: event.VerbDelete} })
		})
}

// RescheduleMatchingTimers implements api.ServerInterface.
func (h *handler) RescheduleMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadRescheduleMatching,
		func(ctx context.Context, m *decode.Matching, received timer.Millis, found []timer.Timer) ([]written, error) {
			return h.writeEach(ctx, m, found, func(t *timer.Timer) command {
				at := min(max(m.When.For(t.ExecuteAt, received), timer.MinMillis), timer.MaxMillis)
				return command{verb: event.VerbUpdate, patch: timer.Patch{ExecuteAt: &at}}
			})
		})
}

// RetryMatchingTimers implements api.ServerInterface.
func (h *handler) RetryMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadRetryMatching,
		func(ctx context.Context, m *decode.Matching, received timer.Millis, found []timer.Timer) ([]written, error) {
			items := make([]store.Rearm, len(found))
			for i := range found {
				items[i] = store.Rearm{
					Ref: refOf(&m.Query.Namespace, found[i].ID), Revision: h.cfg.Revisions.Next(),
					ExecuteAt: m.When.For(found[i].ExecuteAt, received), IfGeneration: found[i].Generation,
				}
			}
			return h.rearmEach(ctx, items)
		})
}

// rearmEach arms timers again, a few at a time.
func (h *handler) rearmEach(ctx context.Context, items []store.Rearm) ([]written, error) {
	out := make([]written, 0, len(items))
	for some := range slices.Chunk(items, maxWritten) {
		rearmed, err := h.rearm(ctx, some)
		for i := range rearmed {
			one := written{}
			switch failure := rearmed[i].Err; {
			case err != nil: // of the whole call
			case failure == nil:
				one = written{applied: true, inTime: true}
			case !errors.Is(failure, store.ErrNotFound) && !errors.Is(failure, store.ErrConflict):
				err = failure
			}
			out = append(out, one)
		}
		if err != nil {
			certain := !errors.Is(err, store.ErrOutcomeUnknown) && !errors.Is(err, store.ErrClosed)
			return nil, inPart(append(out, make([]written, len(items)-len(out))...), len(items)-applied(out), certain, refuse(err))
		}
	}
	return out, nil
}

// applied counts the timers that were changed.
func applied(all []written) int {
	n := 0
	for _, one := range all {
		if one.applied {
			n++
		}
	}
	return n
}

// written is what became of one timer of a page.
type written struct{ applied, inTime bool }

// serveMatching lists a page and lets write change what is on it.
func (h *handler) serveMatching(
	w http.ResponseWriter, r *http.Request, read func(body []byte) (decode.Matching, error),
	write func(ctx context.Context, m *decode.Matching, received timer.Millis, found []timer.Timer) ([]written, error),
) {
	h.serve(w, r, func(ctx context.Context, body []byte, from source) (answer, error) {
		m, err := read(body)
		if err != nil {
			return answer{}, err
		}
		if m.Query.Namespace, err = h.lookup(ctx, m.Namespace); err != nil {
			return answer{}, err
		}
		reserved, err := h.reserve(ctx, min(m.Query.Limit, maxWritten), timer.MaxPayload)
		if err != nil {
			return answer{}, err
		}
		defer h.pages.Release(reserved)
		m.Query.WithoutPayloads = true
		page, err := h.page(ctx, from.received, &m.Query)
		if err != nil {
			return answer{}, err
		}
		result := api.MatchingPage{Matched: len(page.Timers), NextCursor: decode.WriteCursor(page.Next)}
		if len(page.Timers) > 0 {
			all, err := write(ctx, &m, from.received, page.Timers)
			if err != nil {
				return answer{}, err
			}
			for _, one := range all {
				if one.applied {
					result.Applied++
				}
				if one.applied && !one.inTime {
					result.Late++
				}
			}
			result.Skipped = result.Matched - result.Applied
		}
		return answer{status: http.StatusOK, body: result}, nil
	})
}

// rounds bounds how often a timer that changes under a filter is tried again.
const rounds = 3

// writeEach applies the command that change makes for each timer. The timers keep what the filter asks
// for, or are left alone: a generation that is another than listed is judged by what it has become.
func (h *handler) writeEach(
	ctx context.Context, m *decode.Matching, found []timer.Timer, change func(*timer.Timer) command,
) ([]written, error) {
	out := make([]written, len(found))
	places := make([]int, len(found))
	for i := range places {
		places[i] = i
	}
	// What the store did not take, or did not answer for.
	var failure *refusal
	failed, certain := 0, true
	fail := func(err error) {
		r := refuse(err)
		if failed++; failure == nil || r.status > failure.status {
			failure = r
		}
		certain = certain && !errors.Is(err, store.ErrOutcomeUnknown) && !errors.Is(err, store.ErrClosed)
	}
	for range rounds {
		var changed []int
		for some := range slices.Chunk(places, maxWritten) {
			commands, items := h.commandsFor(m, found, some, change)
			for i, committed := range h.submit(ctx, items) {
				place := some[i]
				if committed.Err != nil {
					fail(committed.Err)
					continue
				}
				w := &committed.Written
				conflict := errors.Is(w.Err, store.ErrConflict)
				o, err := h.judge(&commands[i], w, committed.After)
				switch {
				case conflict && m.Query.Selects(&w.Timer):
					found[place] = w.Timer
					found[place].Payload = nil
					changed = append(changed, place)
				case conflict:
				case err == nil:
					out[place] = written{applied: true, inTime: o.inTime}
				case refuse(err).status >= http.StatusInternalServerError:
					fail(err)
				}
			}
		}
		if places = changed; len(places) == 0 {
			break
		}
	}
	if failed > 0 {
		return nil, inPart(out, failed, certain, failure)
	}
	return out, nil
}

// commandsFor makes the commands for the timers at some places.
func (h *handler) commandsFor(
	m *decode.Matching, found []timer.Timer, some []int, change func(*timer.Timer) command,
) ([]command, []commit.Item) {
	commands, items := make([]command, len(some)), make([]commit.Item, len(some))
	for i, place := range some {
		t := &found[place]
		c := &commands[i]
		*c = change(t)
		c.namespace, c.id, c.ref = m.Query.Namespace, t.ID, refOf(&m.Query.Namespace, t.ID)
		c.ifGeneration = t.Generation
		items[i] = commit.Item{Op: c.op(h.cfg.Revisions.Next()), Size: smallOp}
	}
	return commands, items
}

// inPart is the answer where writes of a page failed: "nothing was applied" only if that is so.
func inPart(all []written, failed int, certain bool, failure *refusal) error {
	applied := applied(all)
	if applied == 0 && certain {
		return failure
	}
	return &refusal{
		status: http.StatusGatewayTimeout, code: api.ErrorCodeOutcomeUnknown, cause: failure,
		details: details{"matched": len(all), "applied": applied, "failed": failed},
		message: fmt.Sprintf("of the page's %d timers %d were changed; for %d the store's answer is missing or it did not take them, "+
			"so that they may be changed or not", len(all), applied, failed),
	}
}

// smallOp is about what an operation without a payload holds, in bytes.
const smallOp = 256
