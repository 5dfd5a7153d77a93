package ingest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest/internal/decode"
)

// A pause and a resume are writes of rows, like an update, and have the same guarantee (I7, I20).

// PauseTimer implements api.ServerInterface.
func (h *handler) PauseTimer(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		c, err := h.prepare(ctx, event.VerbPause, body, from)
		if err != nil {
			return answer{}, err
		}
		a, err := h.commit(ctx, &c, len(body))
		if err == nil {
			h.audit(from, "timer paused", "namespace", c.namespaceName, "timer", c.id, "note", c.pause.Note)
		}
		return a, err
	})
}

// ResumeTimer implements api.ServerInterface.
func (h *handler) ResumeTimer(w http.ResponseWriter, r *http.Request) {
	h.serve(w, r, func(ctx context.Context, body []byte, from origin) (answer, error) {
		c, err := h.prepare(ctx, event.VerbResume, body, from)
		if err != nil {
			return answer{}, err
		}
		a, err := h.commit(ctx, &c, len(body))
		if err == nil {
			h.audit(from, "timer resumed", "namespace", c.namespaceName, "timer", c.id, "skip", c.resume.Skip)
		}
		return a, err
	})
}

func (s *Service) preparePause(ctx context.Context, b *decode.Pause, from origin) (command, error) {
	c := command{verb: event.VerbPause, ifGeneration: b.IfGeneration, pause: &store.Pause{By: from.by(), Note: b.Note}}
	err := s.resolveTimer(ctx, &c, b.Selection, from)
	return c, err
}

// prepareResume does not set the time of the resume, so an overdue timer is due at the commit.
func (s *Service) prepareResume(ctx context.Context, b *decode.Resume, from origin) (command, error) {
	c := command{verb: event.VerbResume, ifGeneration: b.IfGeneration, resume: &store.Resume{Skip: b.Skip}}
	err := s.resolveTimer(ctx, &c, b.Selection, from)
	return c, err
}

// PauseMatchingTimers implements api.ServerInterface.
func (h *handler) PauseMatchingTimers(w http.ResponseWriter, r *http.Request) {
	h.pauseMatching(w, r, decode.ReadPauseMatching, "timers paused")
}

// pauseMatching pauses the timers or the schedules on a page of a filter. action is the audit entry.
func (h *handler) pauseMatching(
	w http.ResponseWriter, r *http.Request, readPause func(body []byte) (decode.PauseMatching, error), action string,
) {
	var note string
	read := func(body []byte) (decode.Matching, error) {
		b, err := readPause(body)
		note = b.Note
		return b.Matching, err
	}
	h.serveMatching(w, r, read, true,
		func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error) {
			all, err := h.changeAll(ctx, m, found, func(*timer.Timer) command {
				return command{verb: event.VerbPause, pause: &store.Pause{By: from.by(), Note: note}}
			})
			if err == nil {
				h.audit(from, action, "namespace", m.Namespace, "matched", len(found), "applied", applied(all), "note", note)
			}
			return all, err
		})
}

// ResumeMatchingTimers implements api.ServerInterface.
func (h *handler) ResumeMatchingTimers(w http.ResponseWriter, r *http.Request) {
	var b decode.ResumeMatching
	var next timer.Millis // with a rate, when the first timer of the next page is due
	read := func(body []byte) (_ decode.Matching, err error) {
		b, err = decode.ReadResumeMatching(body)
		return b.Matching, err
	}
	h.serveMatchingAs(w, r, read, true,
		func(ctx context.Context, m *decode.Matching, from origin, found []timer.Timer) ([]written, error) {
			start := max(from.received, b.StartAt)
			delays := resumeDelays(found, from.received, b.Rate)
			all, err := h.changeAll(ctx, m, found, func(t *timer.Timer) command {
				return command{verb: event.VerbResume, resume: &store.Resume{At: start, Delay: delays[t.UUID], Skip: b.Skip}}
			})
			next = nextStart(all, start, b.Rate)
			if err == nil {
				h.audit(from, "timers resumed", "namespace", m.Namespace, "matched", len(found), "applied", applied(all),
					"skip", b.Skip, "rate", b.Rate)
			}
			return all, err
		},
		func(p *api.MatchingPage) any {
			return api.ResumePage{
				Matched: p.Matched, Applied: p.Applied, Skipped: p.Skipped, NextCursor: p.NextCursor,
				NextStartAt: optionalInstant(max(next, b.StartAt)),
			}
		})
}

// resumeDelays returns the delays of the overdue timers of a page, so that rate of them become due in a second. It sorts the page, so that
// they are written in the order of their times. If the rate is 0, there are no delays.
func resumeDelays(found []timer.Timer, now timer.Millis, rate int) map[timer.UUID]time.Duration {
	slices.SortFunc(found, func(a, b timer.Timer) int { return cmp.Or(cmp.Compare(a.DueAt, b.DueAt), a.UUID.Compare(b.UUID)) })
	delays := map[timer.UUID]time.Duration{}
	for i := 0; rate > 0 && i < len(found) && found[i].DueAt <= now; i++ {
		delays[found[i].UUID] = time.Duration(i) * time.Second / time.Duration(rate)
	}
	return delays
}

// nextStart returns when the first timer of the next page is due: after the last one of this page that got a new time.
func nextStart(all []written, start timer.Millis, rate int) timer.Millis {
	if rate == 0 {
		return 0
	}
	next := start
	for i := range all {
		// A timer that was changed after it was listed may be due at a time that the resume did not assign.
		if at := all[i].resumedTo; all[i].applied && at != 0 {
			next = max(next, at.Add(max(time.Second/time.Duration(rate), time.Millisecond))) // times are milliseconds
		}
	}
	return min(next, timer.MaxMillis)
}

func timerPaused(t *timer.Timer) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeTimerExists, details: presentState(t),
		message: fmt.Sprintf("timer %q in namespace %q has status %s; resume it before it is run", t.ID, t.Namespace, t.Status),
	}
}

func timerParked(t *timer.Timer) *refusal {
	return &refusal{
		status: http.StatusConflict, code: api.ErrorCodeTimerExists, details: presentState(t),
		message: fmt.Sprintf("timer %q in namespace %q has status %s; only scheduled and retrying timers can be paused",
			t.ID, t.Namespace, t.Status),
	}
}
