package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/client"
)

// seen is a request as the server received it.
type seen struct {
	path, body string
	header     http.Header
}

// answering starts a server that answers every call with status and body.
func answering(t *testing.T, status int, body string) (c *client.Client, last *seen) {
	t.Helper()
	last = &seen{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		*last = seen{path: r.URL.Path, body: string(raw), header: r.Header}
		w.WriteHeader(status)
		if _, err := io.WriteString(w, body); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL+"/", client.WithToken("secret"), client.WithUserAgent("shop/1"))
	if err != nil {
		t.Fatal(err)
	}
	return c, last
}

const aTimer = `{"namespace":"default","id":"a","status":"scheduled","executeAt":"2030-01-31T09:00:00.000Z",
	"payload":{"a":1},"generation":"7","field of a later release":1}`

func TestEveryCallHasItsRoute(t *testing.T) {
	for path, c := range map[string]struct {
		status int
		answer string
		call   func(*client.Client) error
		body   string
	}{
		"timers/create": {200, aTimer, func(c *client.Client) error {
			w, err := c.CreateTimer(t.Context(), client.CreateTimerRequest{ID: "a", ExecuteIn: "3s", Payload: json.RawMessage(`{"q":"a<b"}`)})
			if !w.InTime || w.Generation != "7" || string(w.Payload) != `{"a":1}` {
				t.Errorf("created %+v", w)
			}
			return err
		}, `{"executeIn":"3s","id":"a","payload":{"q":"a<b"}}`},
		"timers/update": {202, aTimer, func(c *client.Client) error {
			w, err := c.UpdateTimer(t.Context(), client.UpdateTimerRequest{
				TimerID: "a", CallbackURL: client.Clear[string](), Deliver: client.Set(client.DeliverEvent),
			})
			if w.InTime {
				t.Error("202 is in time")
			}
			return err
		}, `{"callbackUrl":null,"deliver":"event","timerId":"a"}`},
		"timers/get": {200, aTimer, func(c *client.Client) error {
			got, err := c.GetTimer(t.Context(), client.TimerSelection{Namespace: "n", TimerID: "a"})
			if got.ExecuteAt.String() != "2030-01-31T09:00:00.000Z" {
				t.Errorf("got %+v", got)
			}
			return err
		}, `{"namespace":"n","timerId":"a"}`},
		"timers/delete": {204, "", func(c *client.Client) error {
			inTime, err := c.DeleteTimer(t.Context(), client.DeleteTimerRequest{TimerID: "a", IfGeneration: "7"})
			if !inTime {
				t.Error("204 is not in time")
			}
			return err
		}, `{"ifGeneration":"7","timerId":"a"}`},
		"timers/list": {200, `{"timers":[` + aTimer + `]}`, func(c *client.Client) error {
			page, err := c.ListTimers(t.Context(), client.ListTimersRequest{Status: "dead", Limit: 2})
			if len(page.Timers) != 1 {
				t.Errorf("page %+v", page)
			}
			return err
		}, `{"limit":2,"status":"dead"}`},
		"timers/count": {200, `{"count":7,"truncated":true}`, func(c *client.Client) error {
			got, err := c.CountTimers(t.Context(), client.CountTimersRequest{Status: "dead"})
			if got.Count != 7 || !got.Truncated {
				t.Errorf("count %+v", got)
			}
			return err
		}, `{"status":"dead"}`},
		"timers/forecast": {200, `{"bucket":"1s","counts":[7,8]}`, func(c *client.Client) error {
			got, err := c.ForecastTimers(t.Context(), client.ForecastTimersRequest{To: client.At(time.Unix(2, 0)), Bucket: "1s"})
			if len(got.Counts) != 2 || got.Counts[1] != 8 {
				t.Errorf("forecast %+v", got)
			}
			return err
		}, `{"bucket":"1s","to":"1970-01-01T00:00:02.000Z"}`},
		"timers/history": {200, `{"attempts":[{"attempt":1,"outcome":"done"}]}`, func(c *client.Client) error {
			h, err := c.TimerHistory(t.Context(), client.HistoryRequest{TimerID: "a"})
			if len(h.Attempts) != 1 || h.Attempts[0].Outcome != "done" {
				t.Errorf("history %+v", h)
			}
			return err
		}, `{"timerId":"a"}`},
		"timers/retry": {200, aTimer, func(c *client.Client) error {
			got, err := c.RetryTimer(t.Context(), client.RetryTimerRequest{TimerID: "a", ExecuteIn: "10m", IfGeneration: "7"})
			if got.Generation != "7" {
				t.Errorf("armed %+v", got)
			}
			return err
		}, `{"executeIn":"10m","ifGeneration":"7","timerId":"a"}`},
		"timers/run-now": {202, aTimer, func(c *client.Client) error {
			got, err := c.RunTimerNow(t.Context(), client.RunTimerRequest{TimerID: "a", IfGeneration: "7"})
			if got.Generation != "7" || got.InTime {
				t.Errorf("run %+v", got)
			}
			return err
		}, `{"ifGeneration":"7","timerId":"a"}`},
		"timers/batch-create": {
			200, `{"succeeded":3,"failed":1,"results":[
			{"status":200,"namespace":"default","id":"a","timerId":"a","generation":"7","dueAt":"2030-01-31T09:00:00.000Z"},
			{"status":202,"namespace":"default","id":"b","timerId":"b","generation":"8"},
			{"status":200,"namespace":"default","id":"c","timerId":"c","generation":"9","kept":true},
			{"status":400,"error":{"error":"INVALID_INPUT","message":"timers[3].id: \"\" is not accepted","details":{"field":"timers[3].id"},"timestamp":"2030-01-31T09:00:00.000Z"}}]}`,
			func(c *client.Client) error {
				got, err := c.BatchCreateTimers(t.Context(), []client.CreateTimerRequest{
					{ID: "a", ExecuteIn: "3s", Payload: json.RawMessage(`"<"`)}, {ID: "b"}, {ID: "c", OnConflict: client.Keep}, {},
				})
				if err != nil || len(got) != 4 {
					t.Fatalf("%d results, %v", len(got), err)
				}
				if a := got[0]; a.Err != nil || a.ID != "a" || a.Generation != "7" || !a.InTime || a.Kept || a.DueAt.String() != "2030-01-31T09:00:00.000Z" {
					t.Errorf("a: %+v", a)
				}
				if got[1].InTime || !got[2].Kept {
					t.Errorf("b, c: %+v", got[1:3])
				}
				if e := got[3].Err; e == nil || e.Status != 400 || e.Code != client.CodeInvalidInput || e.Details["field"] != "timers[3].id" {
					t.Errorf("the bad one: %+v", got[3])
				}
				return err
			}, `{"timers":[{"executeIn":"3s","id":"a","payload":"<"},{"id":"b"},{"id":"c","onConflict":"keep"},{}]}`,
		},
		"timers/batch-delete": {
			200, `{"succeeded":2,"failed":1,"results":[{"status":204,"id":"a"},{"status":202,"id":"b"},{"status":404}]}`,
			func(c *client.Client) error {
				got, err := c.BatchDeleteTimers(t.Context(), []client.DeleteTimerRequest{{TimerID: "a"}, {TimerID: "b"}, {TimerID: "c"}})
				if err != nil || len(got) != 3 || !got[0].InTime || got[1].InTime || got[1].Err != nil || got[2].Err.Status != 404 {
					t.Errorf("%+v, %v", got, err)
				}
				return err
			}, `{"timers":[{"timerId":"a"},{"timerId":"b"},{"timerId":"c"}]}`,
		},
		"timers/delete-matching": {200, `{"matched":3,"applied":2,"late":1,"skipped":1,"nextCursor":"x"}`, func(c *client.Client) error {
			page, err := c.DeleteMatching(t.Context(), client.DeleteMatchingRequest{Namespace: "n", CorrelationID: "c", Limit: 3, Cursor: "w"})
			if page != (client.MatchingPage{Matched: 3, Applied: 2, Late: 1, Skipped: 1, NextCursor: "x"}) {
				t.Errorf("page %+v", page)
			}
			return err
		}, `{"correlationId":"c","cursor":"w","limit":3,"namespace":"n"}`},
		"timers/reschedule-matching": {200, `{"matched":0,"applied":0,"late":0,"skipped":0}`, func(c *client.Client) error {
			_, err := c.RescheduleMatching(t.Context(), client.RescheduleMatchingRequest{Namespace: "n", Status: "retrying", ShiftBy: "-1h"})
			return err
		}, `{"namespace":"n","shiftBy":"-1h","status":"retrying"}`},
		"timers/retry-matching": {200, `{"matched":0,"applied":0,"late":0,"skipped":0}`, func(c *client.Client) error {
			_, err := c.RetryMatching(t.Context(), client.RetryMatchingRequest{Namespace: "n", Status: "dead"})
			return err
		}, `{"namespace":"n","status":"dead"}`},
		"clock/get": {200, `{"now":"2030-01-31T09:00:00.000Z","ahead":"72h","nextDueAt":"2030-02-01T09:00:00.000Z"}`, func(c *client.Client) error {
			clock, err := c.Clock(t.Context())
			if clock.Now.Year() != 2030 || clock.Ahead != "72h" || clock.NextDueAt.Month() != time.February {
				t.Errorf("clock %+v", clock)
			}
			return err
		}, `{}`},
		"clock/advance": {200, `{"now":"2030-01-31T09:00:00.000Z","ahead":"72h"}`, func(c *client.Client) error {
			clock, err := c.AdvanceClock(t.Context(), client.AdvanceClockRequest{By: "72h", Timeout: "5m"})
			if clock.Ahead != "72h" || !clock.NextDueAt.IsZero() {
				t.Errorf("clock %+v", clock)
			}
			return err
		}, `{"by":"72h","timeout":"5m"}`},
		"clock/set": {200, `{"now":"2030-01-31T09:00:00.000Z","ahead":"72h"}`, func(c *client.Client) error {
			clock, err := c.SetClock(t.Context(), client.SetClockRequest{Time: client.At(time.Date(2030, 1, 31, 9, 0, 0, 0, time.UTC))})
			if clock.Ahead != "72h" {
				t.Errorf("clock %+v", clock)
			}
			return err
		}, `{"time":"2030-01-31T09:00:00.000Z"}`},
		"shards/list": {200, `{"namespace":"n","shards":[{"shard":7,"partition":3,"version":2,"held":true,"node":"one","overdueFor":"2s"}]}`, func(c *client.Client) error {
			shards, err := c.ListShards(t.Context(), "n")
			if len(shards) != 1 || shards[0].Shard != 7 || !shards[0].Held || shards[0].OverdueFor != "2s" {
				t.Errorf("shards %+v", shards)
			}
			return err
		}, `{"namespace":"n"}`},
		"namespaces/create": {200, `{"name":"n","numShards":16}`, func(c *client.Client) error {
			ns, err := c.CreateNamespace(t.Context(), client.CreateNamespaceRequest{Name: "n", NumShards: 16})
			if ns.NumShards != 16 {
				t.Errorf("namespace %+v", ns)
			}
			return err
		}, `{"name":"n","numShards":16}`},
		"namespaces/get": {200, `{"name":"n"}`, func(c *client.Client) error {
			_, err := c.GetNamespace(t.Context(), "n")
			return err
		}, `{"name":"n"}`},
		"namespaces/update": {200, `{"name":"n"}`, func(c *client.Client) error {
			_, err := c.UpdateNamespace(t.Context(), client.UpdateNamespaceRequest{
				Name: "n", Settings: client.NamespaceSettingsInput{HistoryRetention: client.Set("48h")},
			})
			return err
		}, `{"name":"n","settings":{"historyRetention":"48h"}}`},
		"namespaces/list": {200, `{"namespaces":[{"name":"a"},{"name":"b"}]}`, func(c *client.Client) error {
			all, err := c.ListNamespaces(t.Context())
			if len(all) != 2 {
				t.Errorf("namespaces %+v", all)
			}
			return err
		}, `{"limit":1000}`},
	} {
		t.Run(path, func(t *testing.T) {
			api, last := answering(t, c.status, c.answer)
			if err := c.call(api); err != nil {
				t.Fatal(err)
			}
			if last.path != "/api/v1/"+path || strings.TrimSpace(last.body) != c.body {
				t.Errorf("sent %s %s, want %s", last.path, last.body, c.body)
			}
			if last.header.Get("Authorization") != "Bearer secret" || last.header.Get("User-Agent") != "shop/1" {
				t.Errorf("headers %v", last.header)
			}
		})
	}
}

func TestErrorsAreTyped(t *testing.T) {
	c, _ := answering(t, 404, `{"error":"TIMER_NOT_FOUND","message":"there is no timer \"a\"","details":{"timerId":"a"},"timestamp":"2030-01-31T09:00:00.000Z"}`)
	_, err := c.GetTimer(t.Context(), client.TimerSelection{TimerID: "a"})
	var e *client.Error
	if !errors.As(err, &e) || e.Status != 404 || e.Code != client.CodeTimerNotFound || e.Details["timerId"] != "a" {
		t.Fatalf("error %#v", err)
	}
	if !client.IsCode(err, client.CodeTimerNotFound) || client.IsCode(err, client.CodeInternal) {
		t.Error("IsCode does not tell codes apart")
	}
	if got, want := err.Error(), `timers/get: there is no timer "a" (TIMER_NOT_FOUND)`; got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestAnswersOfProxies(t *testing.T) {
	for body, want := range map[string]string{
		"<html>Bad gateway</html>": "502 Bad Gateway: <html>Bad gateway</html>",
		"":                         "502 Bad Gateway: the answer has no message",
		strings.Repeat("x", 300):   "502 Bad Gateway: " + strings.Repeat("x", 200),
		`{"error":7}`:              `502 Bad Gateway: {"error":7}`,
	} {
		c, _ := answering(t, 502, body)
		_, err := c.ListNamespaces(t.Context())
		var e *client.Error
		if !errors.As(err, &e) || e.Code != "" || e.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestAnAnswerThatIsNoJSON(t *testing.T) {
	c, _ := answering(t, 200, "hello")
	if _, err := c.DeleteTimer(t.Context(), client.DeleteTimerRequest{}); err != nil {
		t.Errorf("an answer that nobody reads: %v", err)
	}
	c, _ = answering(t, 200, "hello")
	if _, err := c.CreateTimer(t.Context(), client.CreateTimerRequest{OnConflict: client.Fail}); err == nil {
		t.Error("accepted")
	}
}

func TestAllTimersWalksOverPages(t *testing.T) {
	pages := map[string]string{
		"":  `{"timers":[{"id":"a"},{"id":"b"}],"nextCursor":"1"}`,
		"1": `{"timers":[],"nextCursor":"2"}`,
		"2": `{"timers":[{"id":"c"}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request client.ListTimersRequest
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			t.Error(err)
		}
		if _, err := io.WriteString(w, pages[request.Cursor]); err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var ids string
	for timer, err := range c.AllTimers(t.Context(), client.ListTimersRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids += timer.ID
	}
	if ids != "abc" {
		t.Errorf("walked over %q, want abc", ids)
	}
	pages["1"] = "broken"
	var failures []error
	for timer, err := range c.AllTimers(t.Context(), client.ListTimersRequest{}) {
		if timer.ID == "b" {
			continue
		}
		failures = append(failures, err)
	}
	if len(failures) != 2 || failures[0] != nil || failures[1] == nil {
		t.Errorf("a walk that breaks at the second page gave %v", failures)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, bad := range []string{"", "localhost:8080", "ftp://x", "http://", "http://x?q", "http://x#f", "http://\x00"} {
		if _, err := client.New(bad); err == nil {
			t.Errorf("New(%q) accepted it", bad)
		}
	}
}

// TestListNamespacesRequestsAllPages: there may be more namespaces than fit on a page.
func TestListNamespacesRequestsAllPages(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch string(bytes.TrimSpace(body)) {
		case `{"limit":1000}`:
			_, err = io.WriteString(w, `{"namespaces":[{"name":"a"},{"name":"b"}],"nextCursor":"Yg"}`)
		case `{"cursor":"Yg","limit":1000}`:
			_, err = io.WriteString(w, `{"namespaces":[{"name":"c"}]}`)
		default:
			t.Errorf("sent %s", body)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.ListNamespaces(t.Context())
	if err != nil || len(all) != 3 || all[2].Name != "c" {
		t.Errorf("namespaces %+v, %v", all, err)
	}
}
