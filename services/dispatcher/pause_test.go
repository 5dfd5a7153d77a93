package dispatcher_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestI20_TimersThatArePausedWhileTheirCallbackRuns: the success ends the timer, the failure is not recorded, and a timer that its
// answer reschedules is not delivered before its resume, although the dispatcher sends a hint.
func TestI20_TimersThatArePausedWhileTheirCallbackRuns(t *testing.T) {
	for answer, want := range map[string]timer.Status{"done": timer.StatusDone, "fails": timer.StatusPaused, "again": timer.StatusPaused} {
		inWorld(t, func(w *world) {
			w.answer = func(_ context.Context, c call) dispatcher.Answer {
				time.Sleep(time.Second)
				switch {
				case len(w.called(answer)) > 1 || answer == "done":
					return dispatcher.Answer{Status: 204}
				case answer == "again":
					at := c.at.Add(5 * time.Second)
					return dispatcher.Answer{Status: 200, Body: []byte(`{"nextExecuteAt":"` + at.String() + `"}`)}
				default:
					return dispatcher.Answer{Status: 500}
				}
			}
			n := w.start()
			defer n.end()
			first := w.put(answer, 0, nil)
			w.pass(500 * time.Millisecond)
			w.write(store.Pause{Ref: w.ref(answer), Revision: w.revisions.Next()})
			w.pass(10 * time.Second)
			if answer == "again" {
				w.again(answer) // as a scheduler does that gets the hint
			}
			w.pass(time.Minute)
			w.wantCalls(answer, 1)
			got := w.wantStatus(answer, want)
			if answer == "fails" && got.Attempts != 0 || answer == "again" && got.Generation == first.Generation {
				t.Errorf("%s: %+v", answer, got)
			}
			if answer == "done" {
				return
			}
			w.write(store.Resume{Ref: w.ref(answer), Revision: w.revisions.Next()})
			w.pass(time.Minute)
			w.wantCalls(answer, 2)
			if last := w.called(answer)[1]; last.attempt != 1 {
				t.Errorf("%s: attempt %d after the resume", answer, last.attempt)
			}
			w.wantStatus(answer, timer.StatusDone)
		})
	}
}

// TestI20_SkippedTimersExpire without a call.
func TestI20_SkippedTimersExpire(t *testing.T) {
	inWorld(t, func(w *world) {
		n := w.start()
		defer n.end()
		w.put("a", 10*time.Second, nil)
		w.write(store.Pause{Ref: w.ref("a"), Revision: w.revisions.Next()})
		w.pass(time.Minute)
		w.write(store.Resume{Ref: w.ref("a"), Revision: w.revisions.Next(), Skip: true})
		w.pass(time.Minute)
		w.wantCalls("a", 0)
		if got := w.wantStatus("a", timer.StatusDead); !strings.HasPrefix(got.LastError, timer.ExpiredError+"its time passed while it was paused") {
			t.Errorf("%s", got.LastError)
		}
	})
}
