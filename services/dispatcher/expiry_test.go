package dispatcher_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// lastOutcome returns the newest entry of a timer's history.
func (w *world) lastOutcome(id string) store.HistoryEntry {
	w.t.Helper()
	entries, err := w.store.History(w.t.Context(), timer.SystemClock(), w.ref(id), 1)
	w.must(err)
	if len(entries) == 0 {
		w.t.Fatalf("%s has no history", id)
	}
	return entries[0]
}

// TestI18_AnExpiredTimerIsNotDelivered: dispatchers were away at the due times.
func TestI18_AnExpiredTimerIsNotDelivered(t *testing.T) {
	inWorld(t, func(w *world) {
		expire := func(d time.Duration) func(*timer.Spec) { return func(s *timer.Spec) { s.ExpireAfter = d } }
		within := func(d time.Duration) func(*timer.Spec) {
			return func(s *timer.Spec) { s.Retry.MaxAttemptsDuration = d }
		}
		w.put("expired", 0, expire(time.Minute))
		w.put("just expired", 0, expire(10*time.Minute))
		w.put("in time", 0, expire(10*time.Minute+time.Second))
		w.put("no first attempt", 0, within(10*time.Minute))
		w.put("a first attempt", 0, within(11*time.Minute))
		w.put("event", 0, func(s *timer.Spec) { s.CallbackURL, s.ExpireAfter = "", time.Minute })
		time.Sleep(10*time.Minute - step) // pass begins with a step
		n := w.start()
		w.pass(step)
		w.pass(time.Second)
		n.end()
		for id, field := range map[string]string{
			"expired": "expireAfter 1m", "just expired": "expireAfter 10m", "no first attempt": "maxAttemptsDuration 10m",
			"event": "expireAfter 1m",
		} {
			w.wantCalls(id, 0)
			if dead := w.wantStatus(id, timer.StatusDead); dead.LastError != "expired: not delivered within "+field {
				t.Errorf("%s is dead with %q", id, dead.LastError)
			}
			if e := w.lastOutcome(id); e.Outcome.Reported(e.Error) != store.OutcomeExpired || e.Attempt != 1 {
				t.Errorf("%s: history %+v", id, e)
			}
			if events := w.events(id); !slices.Equal(events, []string{"result", "dead"}) {
				t.Errorf("%s: events %q", id, events)
			}
		}
		for _, id := range []string{"in time", "a first attempt"} {
			w.wantCalls(id, 1)
			w.wantStatus(id, timer.StatusDone)
		}
	})
}

// TestI18_ARetryDoesNotOutliveTheTimer: the outcome is written when the timer expires, not at the later time of the retry.
func TestI18_ARetryDoesNotOutliveTheTimer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.answer = func(context.Context, call) dispatcher.Answer {
			return dispatcher.Answer{Status: http.StatusServiceUnavailable}
		}
		n := w.start()
		made := w.put("a", 0, func(s *timer.Spec) { s.ExpireAfter = 2 * time.Minute })
		w.pass(3 * time.Minute)
		n.end()
		w.wantCalls("a", 3) // after 0, 30 and 90 s; the next one would be after 210 s
		dead := w.wantStatus("a", timer.StatusDead)
		if !strings.HasPrefix(dead.LastError, timer.ExpiredError) {
			t.Errorf("dead with %q", dead.LastError)
		}
		if late := dead.ExecutedAt.Sub(made.ExecuteAt); late < 2*time.Minute || late > 2*time.Minute+time.Second {
			t.Errorf("expired after %v", late)
		}
	})
}

// TestARetryOfAnExpiredTimerIsDelivered: timers/retry sets executeAt, from which expireAfter counts.
func TestARetryOfAnExpiredTimerIsDelivered(t *testing.T) {
	inWorld(t, func(w *world) {
		w.put("a", 0, func(s *timer.Spec) { s.ExpireAfter = time.Minute })
		time.Sleep(time.Hour)
		n := w.start()
		w.pass(step)
		w.pass(time.Second)
		w.wantStatus("a", timer.StatusDead)
		now := timer.SystemClock()
		out, err := w.store.Rearm(t.Context(), now, []store.Rearm{{Ref: w.ref("a"), Revision: w.revisions.Next(), ExecuteAt: now}})
		w.must(err)
		w.must(out[0].Err)
		w.pass(time.Second)
		n.end()
		w.wantCalls("a", 1)
		w.wantStatus("a", timer.StatusDone)
	})
}
