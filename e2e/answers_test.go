package e2e_test

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/pkg/client"
)

// answerCase is one line of the answer table: the receiver's answers and the resulting outcomes.
type answerCase struct {
	name    string
	answers []receiver.Answer // then 200
	// change, if set, changes the request.
	change func(*client.CreateTimerRequest)
	// outcomes are those in history, oldest first. The timer has 2 attempts, 100 ms apart.
	outcomes []string
	// calls is the total number of callbacks.
	calls int
	// gap and most are the bounds of the time between the first two callbacks.
	gap, most time.Duration
	// says is part of the first failure's reason.
	says string
}

const retried = 90 * time.Millisecond // 100 ms, less the jitter

func answerTable() []answerCase {
	status := func(code int) []receiver.Answer { return []receiver.Answer{{Status: code}} }
	body := func(text string) []receiver.Answer { return []receiver.Answer{{Body: text}} }
	next := func(text string, in time.Duration) []receiver.Answer {
		at := time.Now().UTC().Add(in).Format(time.RFC3339Nano)
		return body(strings.ReplaceAll(text, "T", at))
	}
	retryAfter := func(seconds string) []receiver.Answer {
		return []receiver.Answer{{Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": seconds}}}
	}
	done := []string{"done"}
	failed := []string{"failed", "done"}
	again := []string{"rescheduled", "done"}
	dead := []string{"dead"}
	cap5s := func(r *client.CreateTimerRequest) { r.RetryPolicy.MaxInterval = client.Set("5s") }
	return []answerCase{
		{name: "200 empty", outcomes: done, calls: 1},
		{name: "204", answers: status(204), outcomes: done, calls: 1},
		{name: "200 not JSON", answers: body("thanks!"), outcomes: done, calls: 1},
		{name: "200 other JSON", answers: body(`{"received":true}`), outcomes: done, calls: 1},
		{name: "200 JSON, no object", answers: body(`[{"ok":false}]`), outcomes: done, calls: 1},
		{name: "201 ok", answers: []receiver.Answer{{Status: 201, Body: `{"ok":true}`}}, outcomes: done, calls: 1},

		{name: "ok and next", answers: next(`{"ok":true,"nextExecuteAt":"T"}`, time.Second), outcomes: again, calls: 2, gap: 100 * time.Millisecond},
		{name: "not ok and next", answers: next(`{"ok":false,"nextExecuteAt":"T"}`, time.Second), outcomes: again, calls: 2},
		{name: "next alone", answers: next(`{"nextExecuteAt":"T"}`, time.Second), outcomes: again, calls: 2},
		{name: "next in the past", answers: next(`{"ok":true,"nextExecuteAt":"T"}`, -time.Hour), outcomes: again, calls: 2, gap: 950 * time.Millisecond},

		{name: "not ok", answers: body(`{"ok":false}`), outcomes: failed, calls: 2, gap: retried, says: `"ok": false`},
		{name: "ok no boolean", answers: body(`{"ok":"yes"}`), outcomes: failed, calls: 2, gap: retried, says: "ok"},
		{name: "next no time", answers: body(`{"ok":true,"nextExecuteAt":"soon"}`), outcomes: failed, calls: 2, gap: retried, says: "nextExecuteAt"},
		{name: "next a number", answers: body(`{"ok":true,"nextExecuteAt":1}`), outcomes: failed, calls: 2, gap: retried, says: "nextExecuteAt"},

		{name: "400", answers: status(400), outcomes: failed, calls: 2, gap: retried, says: "400"},
		{name: "404", answers: status(404), outcomes: failed, calls: 2, gap: retried, says: "404"},
		{name: "408", answers: status(408), outcomes: failed, calls: 2, gap: retried, says: "408"},
		{name: "425", answers: status(425), outcomes: failed, calls: 2, gap: retried, says: "425"},
		{name: "429", answers: status(429), outcomes: failed, calls: 2, gap: retried, says: "429"},
		{name: "500", answers: status(500), outcomes: failed, calls: 2, gap: retried, says: "500"},
		{name: "503", answers: status(503), outcomes: failed, calls: 2, gap: retried, says: "503"},
		{
			name:     "302 is not followed",
			answers:  []receiver.Answer{{Status: 302, Header: map[string]string{"Location": "/elsewhere"}}},
			outcomes: failed, calls: 2, gap: retried, says: "302",
		},
		{name: "cut connection", answers: []receiver.Answer{{Cut: true}}, outcomes: failed, calls: 2, gap: retried},
		{
			name: "no answer in time", answers: []receiver.Answer{{Hang: true}}, outcomes: failed, calls: 2, gap: time.Second,
			change: func(r *client.CreateTimerRequest) { r.CallbackTimeout = "1s" }, says: "within 1s",
		},
		{name: "Retry-After", answers: retryAfter("1"), change: cap5s, outcomes: failed, calls: 2, gap: 990 * time.Millisecond, most: 4 * time.Second},
		{name: "Retry-After above the cap", answers: retryAfter("3600"), outcomes: failed, calls: 2, gap: 490 * time.Millisecond, most: 4 * time.Second},
		{name: "Retry-After below the backoff", answers: retryAfter("0"), outcomes: failed, calls: 2, gap: retried},
		{name: "Retry-After no time", answers: retryAfter("later"), outcomes: failed, calls: 2, gap: retried},

		{name: "410", answers: status(410), outcomes: dead, calls: 1, says: "gone"},
		{name: "exhausted", answers: []receiver.Answer{{Status: 500}, {Status: 502}}, outcomes: []string{"failed", "dead"}, calls: 2, gap: retried, says: "500"},
	}
}

// TestAnswerTable tests the service against section 7 of the design, line by line.
func TestAnswerTable(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	results, err := w.tap.Listen(tap.Results)
	if err != nil {
		t.Fatal(err)
	}
	graves, err := w.tap.Listen(tap.Dead)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range answerTable() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			id := c.name
			w.receiver.On(w.namespace, id, append(slices.Clone(c.answers), receiver.Answer{})...)
			var changes []func(*client.CreateTimerRequest)
			if c.change != nil {
				changes = append(changes, c.change)
			}
			w.create(t, id, 100*time.Millisecond, changes...)
			calls := w.calls(t, id, c.calls)
			checkCalls(t, &c, calls)
			final := checkHistory(t, w, &c, id)
			checkEvents(t, w, &c, id, results, graves)
			if got := len(w.receiver.Calls(w.namespace, id)); got != c.calls {
				t.Errorf("received %d callbacks, want %d", got, c.calls)
			}
			if want := client.Status(c.outcomes[len(c.outcomes)-1]); final.Status != want {
				t.Errorf("status %s, want %s", final.Status, want)
			}
		})
	}
}

// checkCalls: attempts increase within one webhook-id, a reschedule begins a new one, and no call is early.
func checkCalls(t *testing.T, c *answerCase, calls []receiver.Call) {
	t.Helper()
	for i, call := range calls {
		if call.Lateness() < 0 || call.At.Before(call.ExecuteAt.Time()) {
			t.Errorf("call %d arrived at %v, before its due time %v", i+1, call.At, call.ScheduledFor)
		}
	}
	if len(calls) < 2 {
		return
	}
	gap := calls[1].At.Sub(calls[0].At)
	if gap < c.gap || c.most > 0 && gap > c.most {
		t.Errorf("%v between the calls, want %v to %v", gap, c.gap, c.most)
	}
	same, attempt := calls[0].WebhookID == calls[1].WebhookID, calls[1].Attempt
	if c.outcomes[0] == "rescheduled" {
		if same || attempt != 1 || calls[0].Generation == calls[1].Generation {
			t.Errorf("after a reschedule: webhook-id the same: %t, attempt %d; want a new one at attempt 1", same, attempt)
		}
		return
	}
	if !same || attempt != 2 {
		t.Errorf("after a failure: webhook-id the same: %t, attempt %d; want the same at attempt 2", same, attempt)
	}
}

// checkHistory waits until all outcomes are written, and returns the timer's final state.
func checkHistory(t *testing.T, w *world, c *answerCase, id string) client.Timer {
	t.Helper()
	final := w.reaches(t, id, func(timer *client.Timer) bool {
		return timer.Status == "done" || timer.Status == "dead"
	})
	h, err := w.api.TimerHistory(t.Context(), client.HistoryRequest{Namespace: w.namespace, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []string
	for _, entry := range slices.Backward(h.Attempts) {
		outcomes = append(outcomes, string(entry.Outcome))
	}
	if !slices.Equal(outcomes, c.outcomes) {
		t.Errorf("history has %v, want %v", outcomes, c.outcomes)
	}
	if first := h.Attempts[len(h.Attempts)-1]; !strings.Contains(first.Error, c.says) || (c.says == "") != (first.Error == "") && c.outcomes[0] != "failed" {
		t.Errorf("the first attempt's error is %q, want it to contain %q", first.Error, c.says)
	}
	return final
}

// TestNobodyAnswers: a refused connection is a failed attempt like others, and the policy ends the timer.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	w.create(t, "nobody", 0, func(r *client.CreateTimerRequest) { r.CallbackURL, r.RetryPolicy = nowhere, quick(3) })
	final := w.reaches(t, "nobody", isStatus("dead"))
	if final.Attempts != 3 || !strings.Contains(final.LastError, "refused") {
		t.Errorf("%d attempts, last error %q; want 3 and a refused connection", final.Attempts, final.LastError)
	}
}

// TestNoAttemptAfterTheDuration: maxAttemptsDuration ends the retries before the attempts are used.
func TestNoAttemptAfterTheDuration(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.receiver.On(w.namespace, "short", receiver.Answer{Status: 500})
	w.create(t, "short", 0, func(r *client.CreateTimerRequest) {
		r.RetryPolicy = client.RetryPolicyInput{
			MaxAttempts: client.Set(1000), MaxAttemptsDuration: client.Set("1s"),
			InitialInterval: client.Set("300ms"), MaxInterval: client.Set("300ms"),
		}
	})
	final := w.reaches(t, "short", isStatus("dead"))
	if final.Attempts < 2 || final.Attempts > 4 {
		t.Errorf("%d attempts in 1 s, 300 ms apart; want 2 to 4", final.Attempts)
	}
	for i, call := range w.receiver.Calls(w.namespace, "short") {
		if after := call.ScheduledFor.Sub(call.ExecuteAt); after > time.Second {
			t.Errorf("attempt %d was due %v after executeAt", i+1, after)
		}
	}
}

// TestLongCallbackIsLeased: a callback longer than the bus's ack wait is made once.
func TestLongCallbackIsLeased(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.receiver.On(w.namespace, "long", receiver.Answer{Delay: 8 * time.Second})
	w.create(t, "long", 0)
	w.reaches(t, "long", isStatus("done"))
	if calls := w.receiver.Calls(w.namespace, "long"); len(calls) != 1 {
		t.Errorf("received %d callbacks, want 1", len(calls))
	}
}
