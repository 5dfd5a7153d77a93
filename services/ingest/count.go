package ingest

import (
	"context"
	"net/http"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// Counts read in pages for at most CountTimeout. If the time is over after the first page, the answer contains what was counted
// and says so.

// keyBytes is the memory of a key in a page of keys, including that of the keys that the engine reads in addition.
const keyBytes = 128

// CountTimers implements api.ServerInterface.
func (h *handler) CountTimers(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		count, err := decode.ReadCount(body)
		if err != nil {
			return answer{}, err
		}
		q := count.Query
		ns, err := h.lookup(ctx, from, access.Read, count.Namespace)
		if err != nil {
			return answer{}, err
		}
		q.Namespace = *ns
		var result api.TimerCount
		read := false
		result.Truncated, err = h.counting(ctx, &read, func(ctx context.Context) error {
			return h.count(ctx, from.received, &q, func(n int) {
				result.Count += int64(n)
				read = true
			})
		})
		return answer{status: http.StatusOK, body: result}, err
	})
}

// ForecastTimers implements api.ServerInterface.
func (h *handler) ForecastTimers(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		f, err := decode.ReadForecast(body, from.received)
		if err != nil {
			return answer{}, err
		}
		ns, err := h.lookup(ctx, from, access.Read, f.Namespace)
		if err != nil {
			return answer{}, err
		}
		counts, complete := make([]int64, f.Buckets()), f.To
		bucket := func(at timer.Millis) *int64 { return &counts[int64(at-f.From)/f.Bucket.Milliseconds()] }
		last, atLast := f.From, int64(0) // the due time of the last key, and how many keys have it
		read := false                    // the keys of a due time before the last one were counted
		truncated, err := h.counting(ctx, &read, func(ctx context.Context) error {
			return h.dueKeys(ctx, *ns, f.From, f.To, func(keys []store.DueKey) {
				for _, k := range keys {
					if k.DueAt != last {
						last, atLast = k.DueAt, 0
					}
					atLast++
					*bucket(k.DueAt)++
				}
				read = read || last > f.From
			})
		})
		if truncated {
			// There may be more keys with the last due time. A forecast that continues there counts all of them.
			complete = last
			*bucket(last) -= atLast
		}
		return answer{status: http.StatusOK, body: api.TimerForecast{
			From: instant(f.From), To: instant(f.To), Bucket: timer.FormatDuration(f.Bucket),
			Counts: counts, Truncated: truncated, CompleteBefore: instant(complete),
		}}, err
	})
}

// counting calls count with a context that ends after CountTimeout. truncated is set if count failed because of that, after it
// had read something.
func (h *handler) counting(ctx context.Context, read *bool, count func(context.Context) error) (truncated bool, err error) {
	reserved, err := h.reserve(ctx, store.MaxDueKeys, keyBytes)
	if err != nil {
		return false, err
	}
	defer h.pages.Release(reserved)
	limited, cancel := context.WithTimeout(ctx, h.cfg.CountTimeout)
	defer cancel()
	err = count(limited)
	if err != nil && *read && limited.Err() != nil && ctx.Err() == nil {
		return true, nil
	}
	return false, err
}

// count calls add for each page of the timers that the query selects. Scheduled and retrying timers are counted by their keys,
// all others by their rows. The store has no index of scheduled timers only, so retrying ones, which usually are few, are
// subtracted.
func (h *handler) count(ctx context.Context, now timer.Millis, q *store.ListQuery, add func(n int)) error {
	rows := func(status timer.Status, add func(n int)) error {
		list := decode.List{Query: *q}
		list.Query.Status, list.Query.Limit, list.Query.WithoutPayloads = status, 1000, true
		for {
			page, err := h.page(ctx, now, &list)
			if err != nil {
				return err
			}
			add(len(page.Timers))
			if list.Query.After = page.Next; len(list.Query.After) == 0 {
				return nil
			}
		}
	}
	keys := func(skip int) error {
		return h.dueKeys(ctx, q.Namespace, q.DueFrom, q.DueBefore, func(keys []store.DueKey) {
			skipped := min(skip, len(keys))
			skip -= skipped
			add(len(keys) - skipped)
		})
	}
	switch q.Status {
	case "":
		if err := keys(0); err != nil {
			return err
		}
		if err := rows(timer.StatusParked, add); err != nil {
			return err
		}
		return rows(timer.StatusPaused, add)
	case timer.StatusScheduled:
		retrying := 0
		if err := rows(timer.StatusRetrying, func(n int) { retrying += n }); err != nil {
			return err
		}
		return keys(retrying)
	default:
		return rows(q.Status, add)
	}
}

// dueKeys calls visit for each page of the keys of scheduled and retrying timers that are due from a time on and, unless it
// is 0, before another. A page has at least one key.
func (h *handler) dueKeys(ctx context.Context, ns store.Namespace, from, before timer.Millis, visit func([]store.DueKey)) error {
	q := store.DueKeysQuery{Namespace: ns, After: store.MinKey(), Before: before, Limit: store.MaxDueKeys}
	if from != 0 {
		q.After = store.MaxKeyAt(from - 1)
	}
	for {
		page, err := h.cfg.Store.DueKeys(ctx, q)
		if err != nil {
			return err
		}
		if len(page.Keys) > 0 {
			visit(page.Keys)
			q.After = page.Keys[len(page.Keys)-1].Key
		}
		if !page.More {
			return nil
		}
	}
}
