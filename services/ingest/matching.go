package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// Requests for all timers that match a filter process one page: they list it, write each timer with the listed
// generation as guard, and check timers that have changed since against the filter again.

// DeleteMatchingTimers implements api.ServerInterface.
func (h *handler) DeleteMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadDeleteMatching, false,
		func(ctx context.Context, m *decode.Matching, _ origin, found []timer.Timer) ([]written, error) {
			return h.changeAll(ctx, m, found, func(*timer.Timer) command { return command{verb: event.VerbDelete} })
		})
}

// RescheduleMatchingTimers implements api.ServerInterface.
func (h *handler) RescheduleMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadRescheduleMatching, true,
		func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error) {
			return h.changeAll(ctx, m, found, func(t *timer.Timer) command {
				at := min(max(m.When.For(t.ExecuteAt, from.received), timer.MinMillis), timer.MaxMillis)
				return command{verb: event.VerbUpdate, patch: timer.Patch{ExecuteAt: &at, Window: new(time.Duration(0))}}
			})
		})
}

// RetryMatchingTimers implements api.ServerInterface.
func (h *handler) RetryMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadRetryMatching, true,
		func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error) {
			if m.DryRun {
				return h.tryRedrive(ctx, m, from.received, found)
			}
			return h.redriveAll(ctx, m, found, func(t *timer.Timer) timer.Millis { return m.When.For(t.ExecuteAt, from.received) })
		})
}

// PurgeMatchingTimers implements api.ServerInterface.
func (h *handler) PurgeMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadPurgeMatching, false,
		func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error) {
			if m.DryRun {
				return slices.Repeat([]written{{applied: true}}, len(found)), nil
			}
			all, failed := h.forgetAll(ctx, &m.Query.Namespace, found)
			h.audit(from, "timers purged", "namespace", m.Namespace, "status", string(m.Query.Status),
				"matched", len(found), "applied", applied(all), "failed", failed.count)
			return failed.of(all)
		})
}

// forgetAll removes finished timers from history, maxWritten at a time.
func (h *handler) forgetAll(ctx context.Context, ns *store.Namespace, found []timer.Timer) ([]written, failures) {
	out := make([]written, len(found))
	var failed failures
	for from := 0; from < len(found); from += maxWritten {
		some := found[from:min(from+maxWritten, len(found))]
		items := make([]store.Forget, len(some))
		for i := range some {
			items[i] = store.Forget{Ref: refOf(ns, some[i].ID), Generation: some[i].Generation}
		}
		now, err := h.writeNow()
		var errs []error
		if err == nil {
			errs, err = h.cfg.Store.Forget(ctx, now, items)
			err = commit.WriteError(err, len(errs), len(items))
		}
		if err != nil { // an error of the whole call; the rest is not tried
			failed.add(err, len(found)-from)
			break
		}
		var purged []changes.Change
		for i, err := range errs {
			switch {
			case err == nil:
				out[from+i] = written{applied: true}
				purged = append(purged, changeOf(changes.Purged, &some[i], now))
			case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict):
				failed.add(err, 1)
			}
		}
		h.cfg.Changes.Add(purged...)
	}
	return out, failed
}

// readsInFlight is how many timers of a page a dry run reads concurrently.
const readsInFlight = 16

// tryRedrive returns which timers a redrive would schedule. History also has the dead timers that have been scheduled again since.
func (h *handler) tryRedrive(ctx context.Context, m *decode.Matching, now timer.Millis, found []timer.Timer) ([]written, error) {
	out := make([]written, len(found))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(readsInFlight)
	for i := range found {
		reads.Go(func() error {
			switch t, err := h.cfg.Store.Get(ctx, now, refOf(&m.Query.Namespace, found[i].ID)); {
			case err == nil:
				out[i].applied = t.Generation == found[i].Generation && t.Status == m.Query.Status
			case !errors.Is(err, store.ErrNotFound):
				return err
			}
			return nil
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// redriveAll redrives timers, maxWritten at a time. at returns the new time of one.
func (h *handler) redriveAll(
	ctx context.Context, m *decode.Matching, found []timer.Timer, at func(*timer.Timer) timer.Millis,
) ([]written, error) {
	items := make([]store.Rearm, len(found))
	for i := range found {
		items[i] = store.Rearm{
			Ref: refOf(&m.Query.Namespace, found[i].ID), Revision: h.cfg.Revisions.Next(),
			ExecuteAt: at(&found[i]), IfGeneration: found[i].Generation,
		}
	}
	out := make([]written, len(items))
	var failed failures
	for from := 0; from < len(items); from += maxWritten {
		rearmed, err := h.redrive(ctx, items[from:min(from+maxWritten, len(items))])
		if err != nil { // an error of the whole call; the rest is not tried
			failed.add(err, len(items)-from)
			break
		}
		for i := range rearmed {
			switch err := rearmed[i].Err; {
			case err == nil:
				out[from+i] = written{applied: true}
			case !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict):
				failed.add(err, 1)
			}
		}
	}
	return failed.of(out)
}

// written is the result of one timer of a page.
type written struct {
	applied bool
	// late: an earlier delivery of a timer that was changed may have begun. A pause also says so of a timer that was paused before.
	late bool
	// resumedTo is the time that a resume assigned to a timer whose time had passed; 0 for other timers.
	resumedTo timer.Millis
}

func applied(all []written) int {
	n := 0
	for _, one := range all {
		if one.applied {
			n++
		}
	}
	return n
}

// serveMatching lists a page and calls write to change its timers. If open is set, it refuses namespaces that are being deleted.
func (h *handler) serveMatching(
	w http.ResponseWriter, r *http.Request, read func(body []byte) (decode.Matching, error), open bool,
	write func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error),
) {
	h.serveMatchingAs(w, r, read, open, write, func(p *api.MatchingPage) any { return *p })
}

// serveMatchingAs is serveMatching with another body of the answer.
func (h *handler) serveMatchingAs(
	w http.ResponseWriter, r *http.Request, read func(body []byte) (decode.Matching, error), open bool,
	write func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error),
	render func(*api.MatchingPage) any,
) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		m, err := read(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Write, m.Namespace)
		if err == nil && open {
			err = requireOpen(ns)
		}
		if err != nil {
			return answer{}, err
		}
		m.Query.Namespace = *ns
		reserved, err := h.reserve(ctx, min(m.Query.Limit, maxWritten), timer.MaxPayload)
		if err != nil {
			return answer{}, err
		}
		defer h.pages.Release(reserved)
		m.Query.WithoutPayloads = true
		page, err := h.page(ctx, from.received, &m.List)
		if err != nil {
			return answer{}, err
		}
		if m.Filtered() {
			page.Timers = slices.DeleteFunc(page.Timers, func(t timer.Timer) bool { return !m.Selects(&t) })
		}
		result := api.MatchingPage{Matched: len(page.Timers), NextCursor: decode.WriteCursor(page.Next)}
		if len(page.Timers) > 0 {
			if err := from.requireCertain(); err != nil {
				return answer{}, err
			}
			all, err := write(ctx, &m, from, page.Timers)
			if err != nil {
				return answer{}, err
			}
			result.Applied = applied(all)
			for _, one := range all {
				if one.late {
					result.Late++
				}
			}
			result.Skipped = result.Matched - result.Applied
		}
		return answer{status: http.StatusOK, body: render(&result)}, nil
	})
}

// maxTries bounds how often a timer that changes concurrently is tried.
const maxTries = 3

// changeAll applies the command returned by change to each timer. If a timer has another generation than listed, it is
// tried again if it still matches the filter, and left unchanged otherwise.
func (h *handler) changeAll(
	ctx context.Context, m *decode.Matching, found []timer.Timer, change func(*timer.Timer) command,
) ([]written, error) {
	out := make([]written, len(found))
	places := make([]int, len(found))
	for i := range places {
		places[i] = i
	}
	var failed failures
	for range maxTries {
		var changed []int
		for some := range slices.Chunk(places, maxWritten) {
			commands, items := h.commandsFor(m, found, some, change)
			for i, committed := range h.submit(ctx, items) {
				place := some[i]
				if committed.Err != nil {
					failed.add(committed.Err, 1)
					continue
				}
				w := committed.Written
				conflict := errors.Is(w.Err, store.ErrConflict)
				o, err := h.interpret(&commands[i], w, committed.After)
				switch {
				case conflict && !commands[i].wants(&w.Timer) && m.Selects(&w.Timer):
					found[place] = w.Timer
					found[place].Payload = nil
					changed = append(changed, place)
				case conflict:
				case err == nil:
					late := !o.inTime && (!w.Kept || commands[i].verb == event.VerbPause)
					out[place] = written{applied: !w.Kept, late: late}
					if o.timer.ResumedFrom != 0 {
						out[place].resumedTo = o.timer.DueAt
					}
				case refuse(err).status >= http.StatusInternalServerError:
					failed.add(err, 1)
				}
			}
		}
		if places = changed; len(places) == 0 {
			break
		}
	}
	return failed.of(out)
}

// commandsFor returns the commands for the timers at some indexes.
func (h *handler) commandsFor(
	m *decode.Matching, found []timer.Timer, some []int, change func(*timer.Timer) command,
) ([]command, []commit.Item) {
	commands, items := make([]command, len(some)), make([]commit.Item, len(some))
	for i, place := range some {
		t := &found[place]
		c := &commands[i]
		*c = change(t)
		c.namespaceName, c.id, c.namespace, c.ref = t.Namespace, t.ID, &m.Query.Namespace, refOf(&m.Query.Namespace, t.ID)
		c.ifGeneration = t.Generation
		items[i] = commit.Item{Op: c.op(h.cfg.Revisions.Next()), Size: smallOp}
	}
	return commands, items
}

// failures counts the timers of a page whose write the store refused or did not answer.
type failures struct {
	count   int
	unknown bool // some of them may be changed
	worst   *refusal
}

func (f *failures) add(err error, timers int) {
	f.count += timers
	f.unknown = f.unknown || errors.Is(err, store.ErrOutcomeUnknown) || errors.Is(err, store.ErrClosed)
	if r := refuse(err); f.worst == nil || r.status > f.worst.status {
		f.worst = r
	}
}

// of returns the result of a page, or an error if writes failed: "nothing was applied" only if that is certain.
func (f *failures) of(all []written) ([]written, error) {
	if f.count == 0 {
		return all, nil
	}
	applied := applied(all)
	if applied == 0 && !f.unknown {
		return nil, f.worst
	}
	return nil, &refusal{
		status: http.StatusGatewayTimeout, code: api.ErrorCodeOutcomeUnknown, cause: f.worst,
		details: details{"matched": len(all), "applied": applied, "failed": f.count},
		message: fmt.Sprintf("%d of the page's %d matches were changed; %d may have been: the write failed or its answer is missing",
			applied, len(all), f.count),
	}
}

// smallOp is the approximate size of an operation without a payload, in bytes.
const smallOp = 256
