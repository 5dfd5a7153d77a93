package ingest

import (
	"context"
	"fmt"
	"net/http"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// BatchCreateSchedules implements api.ServerInterface.
func (h *handler) BatchCreateSchedules(w http.ResponseWriter, r *http.Request) {
	var b decode.CreateSchedule // one for all items, because it is large
	h.serveBatch(w, r, &batch{field: "schedules", render: h.scheduleResults, prepare: func(
		ctx context.Context, item decode.Item, from origin,
	) (_ command, err error) {
		if b, err = item.CreateSchedule(); err != nil {
			return command{verb: event.VerbCreate}, err
		}
		return h.prepareCreateSchedule(ctx, &b, from)
	}})
}

// BatchDeleteSchedules implements api.ServerInterface.
func (h *handler) BatchDeleteSchedules(w http.ResponseWriter, r *http.Request) {
	h.serveBatch(w, r, &batch{field: "schedules", render: h.scheduleResults, prepare: func(
		ctx context.Context, item decode.Item, from origin,
	) (command, error) {
		b, err := item.DeleteSchedule()
		if err != nil {
			return command{verb: event.VerbDelete}, err
		}
		return h.prepareDeleteSchedule(ctx, &b, from)
	}})
}

// scheduleResults returns the answer to a batch of schedules.
func (h *handler) scheduleResults(entries []entry) any {
	results := api.ScheduleBatchResults{Results: make([]api.ScheduleBatchResult, len(entries))}
	for i := range entries {
		e, r := &entries[i], &results.Results[i]
		if e.refusal != nil {
			results.Failed++
			*r = api.ScheduleBatchResult{Status: e.refusal.status, Error: h.itemError(e)}
			continue
		}
		results.Succeeded++
		row := e.outcome.timer
		*r = api.ScheduleBatchResult{
			Status: e.status(), Namespace: e.command.namespaceName, ID: nameOf(e.command.id),
			Version: schedule.VersionOf(row.Schedule), Kept: e.unchanged,
		}
		if e.command.verb != event.VerbDelete {
			r.NextAt = instant(row.ExecuteAt)
		}
	}
	return results
}

// batchTooSlow is the refusal of a batch of which only some items were prepared within the timeout of a request. A repetition would be
// refused, too, so its status is none of those that clients repeat.
func batchTooSlow(timeout string, prepared, items int) *refusal {
	return &refusal{
		status: http.StatusRequestEntityTooLarge, code: api.ErrorCodePayloadTooLarge,
		details: details{"prepared": prepared, "items": items},
		message: fmt.Sprintf("only %d of %d items could be checked within %s; nothing was applied, send smaller batches",
			prepared, items, timeout),
	}
}
