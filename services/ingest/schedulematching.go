package ingest

import (
	"context"
	"net/http"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// Requests for all schedules that match a filter process one page, like those for timers.

// PauseMatchingSchedules implements api.ServerInterface.
func (h *handler) PauseMatchingSchedules(w http.ResponseWriter, r *http.Request) {
	h.pauseMatching(w, r, decode.ReadPauseSchedules, "schedules paused")
}

// ResumeMatchingSchedules implements api.ServerInterface. Parked schedules are started again like parked timers.
func (h *handler) ResumeMatchingSchedules(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadResumeSchedules, true,
		func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) (all []written, err error) {
			if m.Query.Status == timer.StatusParked {
				all, err = h.redriveAll(ctx, m, found, func(t *timer.Timer) timer.Millis { return t.ExecuteAt })
			} else {
				all, err = h.changeAll(ctx, m, found, func(*timer.Timer) command {
					return command{verb: event.VerbResume, resume: &store.Resume{}}
				})
			}
			if err == nil {
				h.audit(from, "schedules resumed", "namespace", m.Namespace, "status", string(m.Query.Status),
					"matched", len(found), "applied", applied(all))
			}
			return all, err
		})
}

// DeleteMatchingSchedules implements api.ServerInterface.
func (h *handler) DeleteMatchingSchedules(w http.ResponseWriter, r *http.Request) {
	h.serveMatching(w, r, decode.ReadDeleteSchedules, false,
		func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error) {
			all, err := h.changeAll(ctx, m, found, func(*timer.Timer) command { return command{verb: event.VerbDelete} })
			if err == nil {
				h.audit(from, "schedules deleted", "namespace", m.Namespace, "status", m.ScheduleStatus(),
					"matched", len(found), "applied", applied(all))
			}
			return all, err
		})
}
