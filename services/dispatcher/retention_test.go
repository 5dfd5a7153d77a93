package dispatcher_test

import (
	"context"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// Dead timers are kept for longer than other outcomes, because they can be retried.
func TestDeadTimersAreKeptForTheirOwnRetention(t *testing.T) {
	for name, c := range map[string]struct {
		change        func(*store.Settings)
		history, dead time.Duration
	}{
		"default": {func(*store.Settings) {}, 24 * time.Hour, 30 * 24 * time.Hour},
		"set": {func(s *store.Settings) {
			s.HistoryRetention, s.DeadRetention = 2*time.Hour, 3*time.Hour
		}, 2 * time.Hour, 3 * time.Hour},
		"payloads kept": {func(s *store.Settings) { s.KeepPayload = 48 * time.Hour }, 48 * time.Hour, 30 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.settle(c.change)
				w.answer = func(_ context.Context, c call) dispatcher.Answer {
					switch {
					case c.id == "done":
						return dispatcher.Answer{Status: 200}
					case c.attempt == 1:
						return dispatcher.Answer{Status: 500}
					default:
						return dispatcher.Answer{Status: 410}
					}
				}
				n := w.start()
				w.put("done", 0, nil)
				w.put("dead", 0, nil)
				w.pass(time.Minute)
				n.end()
				began := timer.SystemClock().Add(-time.Minute)
				at := func(after time.Duration) timer.Millis { return began.Add(after) }
				for _, id := range []string{"done", "dead"} {
					w.wantStatus(id, timer.Status(id))
				}
				_, done := w.store.Get(t.Context(), at(c.history-time.Second), w.ref("done"))
				_, gone := w.store.Get(t.Context(), at(c.history+time.Minute), w.ref("done"))
				if done != nil || gone == nil {
					t.Errorf("the one that is done: %v before its retention is over, %v after", done, gone)
				}
				_, dead := w.store.Get(t.Context(), at(c.dead-time.Second), w.ref("dead"))
				_, gone = w.store.Get(t.Context(), at(c.dead+time.Minute), w.ref("dead"))
				if dead != nil || gone == nil {
					t.Errorf("the dead one: %v before its retention is over, %v after", dead, gone)
				}
				// The earlier failed attempt has the retention of other outcomes.
				entries, err := w.store.History(t.Context(), at(min(c.history, 24*time.Hour)+time.Minute), w.ref("dead"), 10)
				if err != nil || len(entries) != 1 || entries[0].Outcome != store.OutcomeDead {
					t.Errorf("history after the other retention: %+v, %v", entries, err)
				}
			})
		})
	}
}

// TestPayloadsOfDoneTimersAreKeptIfTheNamespaceKeepsThem also checks that they are not kept by default.
func TestPayloadsOfDoneTimersAreKeptIfTheNamespaceKeepsThem(t *testing.T) {
	for _, keep := range []time.Duration{0, 7 * 24 * time.Hour} {
		t.Run(keep.String(), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.settle(func(s *store.Settings) { s.KeepPayload = keep })
				w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 200} }
				n := w.start()
				w.put("a", 0, nil)
				w.pass(time.Second)
				n.end()
				w.wantStatus("a", timer.StatusDone)
				out, err := w.store.Rearm(t.Context(), timer.SystemClock(), []store.Rearm{{Ref: w.ref("a"), Revision: 1 << 62}})
				if err != nil {
					t.Fatal(err)
				}
				if started := out[0].Err == nil; started != (keep > 0) {
					t.Errorf("the timer starts again: %v (%v)", started, out[0].Err)
				}
			})
		})
	}
}
