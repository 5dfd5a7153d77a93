package ingest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// Deletion of a namespace. The first request marks the namespace, and every request deletes a page of its timers. The
// namespace itself is removed when it is empty and the mark is so old that every process has read it (store.Directory): until
// then, another process may create timers in it.
const (
	deletionPage  = 500
	deletionGrace = time.Minute
	deletionPause = time.Second
	// deletionCount bounds the counts of a dry run.
	deletionCount = 10_000
)

// DeleteNamespace implements api.ServerInterface.
func (h *handler) DeleteNamespace(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		d, err := decode.ReadNamespaceDelete(body)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.namespace(ctx, from, access.Admin, d.Name)
		if err != nil {
			return answer{}, err
		}
		if d.IfVersion != 0 && ns.Version != d.IfVersion && ns.Settings.DeletingSince == 0 {
			return answer{}, versionConflict(&ns, d.IfVersion)
		}
		reserved, err := h.reserve(ctx, maxWritten, timer.MaxPayload)
		if err != nil {
			return answer{}, err
		}
		defer h.pages.Release(reserved)
		var result api.NamespaceDeletion
		if d.DryRun {
			result.DryRun = true
			result.Pending, result.Finished, err = h.countTimers(ctx, from, ns)
			return answer{status: http.StatusOK, body: result}, err
		}
		if err := from.requireCertain(); err != nil {
			return answer{}, err
		}
		if ns, err = h.markDeleting(ctx, from, ns, d.IfVersion); err != nil {
			return answer{}, err
		}
		found, err := h.deletePage(ctx, from, ns, &result)
		if err != nil {
			return answer{}, err
		}
		age := from.received.Sub(ns.Settings.DeletingSince)
		switch {
		case found == 0 && age >= deletionGrace:
			err = h.removeNamespace(ctx, from, ns, &result)
		case found == 0:
			result.RetryAfter = timer.FormatDuration(deletionGrace - age)
		case result.PendingDeleted+result.FinishedPurged == 0:
			result.RetryAfter = timer.FormatDuration(deletionPause)
		}
		return answer{status: http.StatusOK, body: result}, err
	})
}

// countTimers counts the pending and the finished timers, each up to deletionCount.
func (h *handler) countTimers(ctx context.Context, from origin, ns store.Namespace) (pending, finished int, err error) {
	if pending, err = h.cfg.Store.CountLive(ctx, ns, deletionCount); err != nil {
		return 0, 0, err
	}
	for _, status := range []timer.Status{timer.StatusDead, timer.StatusDone} {
		q := store.ListQuery{Namespace: ns, Status: status, Limit: 1000, WithoutPayloads: true}
		for finished < deletionCount {
			page, err := h.rows(ctx, from.received, &q)
			if err != nil {
				return 0, 0, err
			}
			finished += len(page.Timers)
			if q.After = page.Next; len(q.After) == 0 {
				break
			}
		}
	}
	return pending, min(finished, deletionCount), nil
}

// markDeleting marks the namespace, unless it is marked already.
func (h *handler) markDeleting(ctx context.Context, from origin, ns store.Namespace, ifVersion int64) (store.Namespace, error) {
	for ns.Settings.DeletingSince == 0 {
		if ifVersion != 0 && ns.Version != ifVersion {
			return ns, versionConflict(&ns, ifVersion)
		}
		ns.Settings.DeletingSince, ns.UpdatedAt = from.received, max(from.received, ns.UpdatedAt+1)
		marked, err := h.cfg.Store.UpdateNamespace(ctx, ns)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return ns, namespaceNotFound(ns.Name)
		case err != nil && !errors.Is(err, store.ErrConflict):
			return ns, commit.WriteError(err, 0, 0)
		case err == nil:
			h.cfg.Directory.Learn(marked)
			h.audit(from, "namespace deletion started", "namespace", ns.Name, "version", marked.Version)
		}
		ns = marked // after a conflict, the present state
	}
	return ns, nil
}

// deletePage deletes one page each of pending, dead and done timers, schedules included. It returns how many it found. A timer
// that ends in the meantime is found by the later lists.
func (h *handler) deletePage(ctx context.Context, from origin, ns store.Namespace, result *api.NamespaceDeletion) (int, error) {
	m := decode.Matching{List: decode.List{Query: store.ListQuery{Namespace: ns, Limit: deletionPage, WithoutPayloads: true}}}
	page, err := h.rows(ctx, from.received, &m.Query)
	if err != nil {
		return 0, err
	}
	found := len(page.Timers)
	deleted, err := h.changeAll(ctx, &m, page.Timers, func(*timer.Timer) command { return command{verb: event.VerbDelete} })
	if err != nil {
		return 0, err
	}
	result.PendingDeleted = applied(deleted)
	for _, one := range deleted {
		if one.late {
			result.Late++
		}
	}
	var failed failures
	for _, status := range []timer.Status{timer.StatusDead, timer.StatusDone} {
		page, err := h.rows(ctx, from.received, &store.ListQuery{
			Namespace: ns, Status: status, Limit: deletionPage, WithoutPayloads: true,
		})
		if err != nil {
			return 0, err
		}
		purged, some := h.forgetAll(ctx, &ns, page.Timers)
		found += len(page.Timers)
		result.FinishedPurged += applied(purged)
		if _, err = some.of(purged); err != nil {
			failed = some
		}
	}
	if result.PendingDeleted+result.FinishedPurged > 0 {
		h.audit(from, "timers of a namespace deleted", "namespace", ns.Name, "pending", result.PendingDeleted,
			"late", result.Late, "finished", result.FinishedPurged)
	}
	if failed.count > 0 {
		return 0, failed.worst
	}
	return found, nil
}

// removeNamespace removes an empty namespace.
func (h *handler) removeNamespace(ctx context.Context, from origin, ns store.Namespace, result *api.NamespaceDeletion) error {
	if err := h.removeFlows(ctx, ns.Name); err != nil {
		return err
	}
	err := h.cfg.Store.DeleteNamespace(ctx, ns)
	switch {
	case errors.Is(err, store.ErrConflict):
		result.RetryAfter = timer.FormatDuration(deletionPause)
		return nil
	case errors.Is(err, store.ErrNotFound):
		return namespaceNotFound(ns.Name)
	case err != nil:
		return commit.WriteError(err, 0, 0)
	}
	h.audit(from, "namespace deleted", "namespace", ns.Name, "version", ns.Version)
	result.Deleted = true
	// A dispatcher may have written a state after the first removal.
	if err := h.removeFlows(ctx, ns.Name); err != nil {
		h.cfg.Logger.Warn("namespace deleted, but the state of its flows could not be removed", "error", err)
	}
	if err := h.cfg.Directory.Refresh(ctx); err != nil {
		h.cfg.Logger.Warn("namespace deleted, but this process could not refresh its list of namespaces", "error", err)
	}
	return nil
}
