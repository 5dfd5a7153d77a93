package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

const due = timer.Millis(1893456000000) // 2030-01-01T00:00:00Z

// callback sends a callback to the receiver whose clock is `late` after the scheduled time.
func (r *receiver) callback(t *testing.T, timerID string, late time.Duration) *httptest.ResponseRecorder {
	t.Helper()
	r.clock = func() timer.Millis { return due.Add(late) }
	body, err := (&event.Delivery{
		Namespace: "default", TimerID: timerID, ExecuteAt: due, ScheduledFor: due, Attempt: 1, Payload: json.RawMessage(`{"a":1}`),
	}).Body()
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Webhook-Id", "u_7")
	w := httptest.NewRecorder()
	r.ServeHTTP(w, request)
	return w
}

func TestReceiverPrintsLateness(t *testing.T) {
	var out bytes.Buffer
	r := &receiver{out: &out, answers: &answers{status: 204}}
	if w := r.callback(t, "order\x1b17", 3*time.Millisecond); w.Code != 204 {
		t.Errorf("answered %d", w.Code)
	}
	want := "00:00:00.003  order·17             attempt 1       3 ms late  default  {\"a\":1} → 204\n"
	if out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}

func TestReceiverPrintsJSON(t *testing.T) {
	var out bytes.Buffer
	r := &receiver{out: &out, json: true, answers: &answers{status: 200, nextIn: time.Second, times: 1}}
	r.callback(t, "a", 5*time.Millisecond)
	var got received
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.WebhookID != "u_7" || got.LatenessMS != 5 || got.Status != 200 || string(got.Answer) != `{"ok":true,"nextExecuteAt":"2030-01-01T00:00:01.005Z"}` {
		t.Errorf("printed %s", out.String())
	}
}

func TestAnswersFollowTheFlags(t *testing.T) {
	const again = `{"ok":true,"nextExecuteAt":"2030-01-01T00:00:05.000Z"}`
	type answer struct {
		status int
		body   string
	}
	for name, c := range map[string]struct {
		answers *answers
		want    []answer
	}{
		"status":              {&answers{status: 410}, []answer{{410, ""}, {410, ""}}},
		"again once":          {&answers{status: 200, nextIn: 5 * time.Second, times: 1}, []answer{{200, again}, {200, ""}}},
		"again always":        {&answers{status: 200, nextIn: 5 * time.Second}, []answer{{200, again}, {200, again}, {200, again}}},
		"again at a time":     {&answers{status: 200, nextAt: "2030-01-01T01:00:05+01:00", times: 2}, []answer{{200, again}, {200, again}, {200, ""}}},
		"fail first":          {&answers{status: 202, failFirst: 2}, []answer{{503, ""}, {503, ""}, {202, ""}}},
		"fail, again, enough": {&answers{status: 200, failFirst: 1, nextIn: 5 * time.Second, times: 1}, []answer{{503, ""}, {200, again}, {200, ""}}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.answers.check(); err != nil {
				t.Fatal(err)
			}
			r := &receiver{out: io.Discard, answers: c.answers}
			for i, want := range c.want {
				for _, timerID := range []string{"a", "b"} { // each timer has its own count
					w := r.callback(t, timerID, 0)
					if w.Code != want.status || w.Body.String() != want.body {
						t.Errorf("callback %d of %s: %d %s, want %d %s", i+1, timerID, w.Code, w.Body, want.status, want.body)
					}
				}
			}
		})
	}
}

func TestReceiverRefusesWhatIsNoCallback(t *testing.T) {
	var out bytes.Buffer
	r := &receiver{out: &out, clock: timer.SystemClock, answers: &answers{status: 200}}
	for body, want := range map[string]int{
		"hello": 400, "{}": 400, "": 400, strings.Repeat("x", maxCallback+1): 413,
	} {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/x%1b", strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%.10q: %d, want %d", body, w.Code, want)
		}
	}
	if !strings.Contains(out.String(), `is not a Timerbus callback: "hello"`) || strings.Contains(out.String(), "\x1b") {
		t.Errorf("printed %q", out.String())
	}
}

// FuzzReceiver: a receiver on an open port gets arbitrary requests.
func FuzzReceiver(f *testing.F) {
	f.Add([]byte(`{"timerId":"a","namespace":"n","scheduledFor":"2030-01-01T00:00:00Z","payload":null}`))
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, body []byte) {
		var out bytes.Buffer
		r := &receiver{out: &out, clock: timer.SystemClock, answers: &answers{status: 200}}
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)))
		if w.Code != 200 && w.Code != 400 && w.Code != 413 || strings.ContainsAny(out.String(), "\x1b\r") || strings.Count(out.String(), "\n") > 1 {
			t.Errorf("answered %d and printed %q", w.Code, out.String())
		}
	})
}

func TestReceiveAsACommand(t *testing.T) {
	b := start(t, "receive", "--listen", "127.0.0.1:0", "--delay", "1h")
	address := b.see(t, b.stderr, `receiving on (http://\S+)`)[1]

	got := command(t, "receive", "--listen", strings.TrimPrefix(address, "http://"))
	if got.code != exitFailure || !strings.Contains(got.stderr, "the port is in use by another process") {
		t.Errorf("a second one on the port: %d, %s", got.code, got.stderr)
	}

	// A callback that waits for its answer does not delay the end of the command.
	var waiting sync.WaitGroup
	waiting.Go(func() {
		response, err := http.Post(address, "application/json", strings.NewReader(`{"timerId":"a","namespace":"n","scheduledFor":"2030-01-01T00:00:00Z"}`))
		if err == nil {
			response.Body.Close()
		} else if errors.Is(err, io.EOF) {
			return
		}
	})
	b.see(t, b.stdout, `attempt 0`)
	if code := b.stop(t); code != exitOK {
		t.Errorf("exit code %d: %s", code, b.stderr)
	}
	waiting.Wait()
	if !strings.Contains(b.stderr.String(), "1 callbacks received") {
		t.Errorf("said %q", b.stderr)
	}
}
