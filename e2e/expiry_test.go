package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestExpiry: a timer whose receiver fails until it expires, by HTTP, with the answers, the history and the events.
func TestExpiry(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	results, graves := w.listen(t, tap.Results), w.listen(t, tap.Dead)
	id := w.namespace
	w.receiver.On(id, id, receiver.Answer{Status: 500})
	made := w.create(t, id, 100*time.Millisecond, func(r *client.CreateTimerRequest) {
		r.ExpireAfter = "1500ms"
		r.RetryPolicy = client.RetryPolicyInput{MaxAttempts: client.Set(1000), InitialInterval: client.Set("1s"), BackoffMultiplier: client.Set(1.0)}
	})
	if made.ExpireAfter != "1.5s" || !made.ExpiresAt.Equal(made.ExecuteAt.Add(1500*time.Millisecond)) {
		t.Errorf("expires after %q, at %v", made.ExpireAfter, made.ExpiresAt)
	}
	dead := w.reaches(t, id, isStatus("dead"))
	if !strings.HasPrefix(dead.LastError, "expired: not delivered within expireAfter 1.5s") {
		t.Errorf("dead with %q", dead.LastError)
	}
	history, err := w.api.TimerHistory(t.Context(), client.HistoryRequest{Namespace: w.namespace, TimerID: id})
	if err != nil || history.Attempts[0].Outcome != "expired" || history.Attempts[1].Outcome != "failed" {
		t.Errorf("history %+v, %v", history, err)
	}
	if ended := history.Attempts[0].FinishedAt; ended.Before(made.ExpiresAt.Time) {
		t.Errorf("expired at %v, planned for %v", ended, made.ExpiresAt)
	}
	await(t, results, 1, func(m tap.Message) bool {
		return w.about(event.TypeResult, id)(m) && data[event.Result](t, &m).Outcome == "expired"
	})
	await(t, graves, 1, w.about(event.TypeDead, id))

	retried, err := w.api.RetryTimer(t.Context(), client.RetryTimerRequest{Namespace: w.namespace, ID: id})
	if err != nil || !retried.ExpiresAt.Equal(retried.ExecuteAt.Add(1500*time.Millisecond)) {
		t.Errorf("retried as %+v, %v", retried, err)
	}
	changed, err := w.api.UpdateTimer(t.Context(), client.UpdateTimerRequest{
		Namespace: w.namespace, ID: id, ExecuteIn: "1h", ExpiresAt: client.Set(client.At(time.Now().Add(2 * time.Hour))),
	})
	if err != nil || changed.ExpiresAt.IsZero() || changed.ExpireAfter == "" {
		t.Errorf("changed to %+v, %v", changed.Timer, err)
	}
	changed, err = w.api.UpdateTimer(t.Context(), client.UpdateTimerRequest{Namespace: w.namespace, ID: id, ExpiresAt: client.Clear[client.Instant]()})
	if err != nil || !changed.ExpiresAt.IsZero() || changed.ExpireAfter != "" {
		t.Errorf("changed to %+v, %v", changed.Timer, err)
	}
	for body, want := range map[string]string{
		`"executeIn":"1h","expireAfter":"0s"`:                                                  "expireAfter",
		`"executeIn":"1h","expireAfter":"1h","expiresAt":"2100-01-01T00:00:00Z"`:               "expiresAt",
		`"executeIn":"1h","expiresAt":"2020-01-01T00:00:00Z"`:                                  "expiresAt",
		`"executeAt":"2030-01-01T00:00:00Z","expiresAt":"2030-01-01T00:00:00Z"`:                "expiresAt",
		`"executeAt":"2030-01-01T00:00:00Z","expiresAt":"2030-01-01T00:05:00Z","window":"10m"`: "window",
		`"executeIn":"1h","onDone":"ftp://a"`:                                                  "onDone",
		`"executeIn":"1h","onDead":"/path"`:                                                    "onDead",
	} {
		if r := w.post(t, "timers/create", `{"namespace":"NS","id":"refused",`+body+`}`); r.status != 400 || r.field(t, "details.field") != want {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
}

// TestCallsWhenATimerHasFinished: the URLs of a namespace and of a timer, and the timers that call them.
func TestCallsWhenATimerHasFinished(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	start := func() *receiver.Receiver {
		r, err := receiver.Start(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	space, own := start(), start()
	w.cli(t, 0, "namespace", "update", w.namespace, "--on-done", space.URL+"/done", "--on-dead", space.URL+"/dead")
	if shown := w.cli(t, 0, "namespace", "get", w.namespace); !strings.Contains(shown, space.URL+"/done") {
		t.Errorf("namespace get prints\n%s", shown)
	}
	w.receiver.On(w.namespace, "dead", receiver.Answer{Status: 410})
	w.create(t, "done", 0)
	w.create(t, "dead", 0)
	w.create(t, "own", 0, func(r *client.CreateTimerRequest) { r.OnDone = own.URL })
	for id, r := range map[string]*receiver.Receiver{"done": space, "dead": space, "own": own} {
		c, err := r.AwaitMatch(within(t, patience), func(c receiver.Call) bool {
			var result event.Result
			return json.Unmarshal(c.Payload, &result) == nil && result.TimerID == id
		})
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		var result event.Result
		if err := json.Unmarshal(c.Payload, &result); err != nil || result.Namespace != w.namespace {
			t.Errorf("%s: %s, %v", id, c.Payload, err)
		}
		want := map[string]string{"done": "done", "dead": "dead", "own": "done"}[id]
		if result.Outcome != want || !strings.HasPrefix(c.TimerID, "timerbus:") {
			t.Errorf("%s: called by %s with %s", id, c.TimerID, c.Payload)
		}
		// The timer that made the call can be read like any other.
		w.reaches(t, c.TimerID, isStatus("done"))
	}
	followUps := 0
	for found, err := range w.api.AllTimers(t.Context(), client.ListTimersRequest{Namespace: w.namespace, Status: "done", Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(found.ID, "timerbus:") {
			followUps++
		}
	}
	if followUps != 3 {
		t.Errorf("%d calls for three timers: the URL of a timer replaces that of its namespace", followUps)
	}
	if r := w.post(t, "timers/create", `{"namespace":"NS","id":"timerbus:0:x","executeIn":"1h"}`); r.status != 400 || r.field(t, "details.field") != "id" {
		t.Errorf("an id of the service's own timers: %d %s", r.status, r.body)
	}
}
