package ingest

import (
	"context"
	"net/http"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// clockAnswerTime is the time for the answer after a move of the test clock has ended.
const clockAnswerTime = 5 * time.Second

// GetClock implements api.ServerInterface.
func (h *handler) GetClock(w http.ResponseWriter, r *http.Request) {
	h.serveClock(w, r, access.Read, h.cfg.RequestTimeout, func(ctx context.Context, body []byte) (testclock.State, error) {
		if err := decode.ReadNothing(body); err != nil {
			return testclock.State{}, err
		}
		return h.cfg.TestClock.State(ctx)
	})
}

// AdvanceClock implements api.ServerInterface.
func (h *handler) AdvanceClock(w http.ResponseWriter, r *http.Request) {
	h.serveMove(w, r, func(ctx context.Context, body []byte) (testclock.State, error) {
		a, err := decode.ReadClockAdvance(body)
		if err != nil {
			return testclock.State{}, err
		}
		return h.cfg.TestClock.Advance(ctx, a.By, a.Timeout)
	})
}

// SetClock implements api.ServerInterface.
func (h *handler) SetClock(w http.ResponseWriter, r *http.Request) {
	h.serveMove(w, r, func(ctx context.Context, body []byte) (testclock.State, error) {
		s, err := decode.ReadClockSet(body)
		if err != nil {
			return testclock.State{}, err
		}
		return h.cfg.TestClock.Set(ctx, s.Time, s.Timeout)
	})
}

// serveMove serves a request that moves the test clock. It may take longer than the server allows for other requests.
func (h *handler) serveMove(
	w http.ResponseWriter, r *http.Request, route func(ctx context.Context, body []byte) (testclock.State, error),
) {
	const limit = decode.MaxMoveTimeout + clockAnswerTime
	h.serveClock(w, r, access.Admin, limit, func(ctx context.Context, body []byte) (testclock.State, error) {
		// The server's write deadline would cut the answer. A connection without deadlines is not cut.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit))
		return route(ctx, body)
	})
}

func (h *handler) serveClock(
	w http.ResponseWriter, r *http.Request, right access.Verb, timeout time.Duration,
	route func(ctx context.Context, body []byte) (testclock.State, error),
) {
	h.serveFrom(w, r, &h.bodies, timeout, func(ctx context.Context, body []byte, from origin) (answer, error) {
		if err := from.requireEverywhere(right); err != nil {
			return answer{}, err
		}
		if h.cfg.TestClock == nil {
			return answer{}, &refusal{
				status: http.StatusNotFound, code: api.ErrorCodeNotFound, details: details{"path": r.URL.Path},
				message: "the service runs on the machine's clock, which cannot be moved: start timerbus dev with --test-clock",
			}
		}
		state, err := route(ctx, body)
		if err != nil {
			return answer{}, err
		}
		out := api.TestClock{Now: instant(state.Now), Ahead: timer.FormatDuration(state.Offset.Round(time.Millisecond))}
		if state.NextDueAt != timer.Never {
			out.NextDueAt = instant(state.NextDueAt)
		}
		return answer{status: http.StatusOK, body: out}, nil
	})
}

// clockNotQuiet is the refusal if timers were still due when the time for a move of the test clock ended.
func clockNotQuiet(e *testclock.NotQuietError) *refusal {
	d := details{"now": e.Now, "target": e.Target}
	if e.NextDueAt != timer.Never {
		d["nextDueAt"] = e.NextDueAt
	}
	return &refusal{
		status: http.StatusGatewayTimeout, code: api.ErrorCodeClockNotQuiet, details: d, message: e.Error(),
	}
}
