package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/ingest"
)

// Answers omit absent fields: for a generated client, absent and null are different. world_test.go checks every answer.
func TestAnswersOmitWhatIsAbsent(t *testing.T) {
	w := newWorld(t)
	without := w.post("timers/create", `{"id":"a","executeIn":"1h","callbackTimeout":"1.5s"}`).must(t, http.StatusOK)
	if strings.Contains(without.text, "payload") || without.field("callbackTimeoutSeconds") != 1.5 {
		t.Errorf("create answered %s", without.text)
	}
	w.post("timers/create", `{"id":"b","executeIn":"1h","payload":{"a":null}}`).must(t, http.StatusOK)
	without = w.post("timers/update", `{"id":"b","payload":null}`).must(t, http.StatusOK)
	if strings.Contains(without.text, "payload") {
		t.Errorf("update answered %s", without.text)
	}
	got := w.post("namespaces/get", `{"name":"default"}`).must(t, http.StatusOK)
	if got.field("settings", "callbackTimeoutSeconds") != 30.0 {
		t.Errorf("namespaces/get answered %s", got.text)
	}
}

// History keeps no payload of a done timer. It keeps that of a dead timer for timers/retry.
func TestFinishedTimersAndTheirPayloads(t *testing.T) {
	w := newWorld(t)
	w.finished("done", store.FinishDone)
	w.finished("dead", store.FinishDead)
	for id, want := range map[string]any{"done": nil, "dead": 7.0} {
		if got := w.post("timers/get", `{"id":"`+id+`"}`).must(t, http.StatusOK); got.field("status") != id || got.field("payload") != want {
			t.Errorf("%s answered %s, want payload %v", id, got.text, want)
		}
		list := w.post("timers/list", `{"status":"`+id+`"}`).must(t, http.StatusOK)
		if strings.Contains(list.text, `"payload"`) != (want != nil) {
			t.Errorf("%s listed as %s, want payload %v", id, list.text, want)
		}
	}
}

func TestTimersOverHTTP(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewServer(w.handler)
	defer server.Close()

	created := w.post("timers/create", `{"id":"a","executeIn":"1h","callbackUrl":"http://h/x","payload":{"b": "<&>"},
		"retryPolicy":{"maxRetries":1},"callbackTimeoutSeconds":5,"correlationId":"c-1"}`).must(t, http.StatusOK)
	for path, want := range map[string]any{
		"namespace": "default", "id": "a", "timerId": "a", "status": "scheduled", "deliver": "callback",
		"executeAt": "2030-03-17T18:46:40.000Z", "dueAt": "2030-03-17T18:46:40.000Z", "callbackTimeout": "5s", "callbackTimeoutSeconds": 5.0,
		"callbackUrl": "http://h/x", "correlationId": "c-1", "attempts": 0.0,
		"createdAt": "2030-03-17T17:46:40.000Z", "updatedAt": "2030-03-17T17:46:40.000Z", "executedAt": nil,
	} {
		if got := created.field(path); got != want {
			t.Errorf("create answered %s = %v, want %v", path, got, want)
		}
	}
	if !strings.Contains(created.text, `"payload":{"b":"<&>"}`) {
		t.Errorf("payload changed: %s", created.text)
	}
	if got := created.field("retryPolicy", "maxAttempts"); got != 2.0 {
		t.Errorf("maxAttempts = %v, want 2", got)
	}
	if got := created.header.Get("X-Correlation-ID"); got != "c-1" {
		t.Errorf("X-Correlation-Id = %q", got)
	}

	if got := w.post("timers/get", `{"timerId":"a"}`).must(t, http.StatusOK); got.text != created.text {
		t.Errorf("get answered\n%s, create\n%s", got.text, created.text)
	}

	w.now.Add(1000)
	updated := w.post("timers/update", `{"id":"a","payload":null,"deliver":"both"}`).must(t, http.StatusOK)
	if updated.field("payload") != nil || updated.field("deliver") != "both" || updated.field("executeAt") != created.field("executeAt") {
		t.Errorf("update answered %s", updated.text)
	}
	if updated.field("generation") == created.field("generation") {
		t.Error("an update must start a new generation")
	}

	listed := w.post("timers/list", `{}`).must(t, http.StatusOK)
	if timers, _ := listed.field("timers").([]any); len(timers) != 1 || listed.field("nextCursor") != nil {
		t.Errorf("list answered %s", listed.text)
	}
	if got := w.post("timers/history", `{"id":"a"}`).must(t, http.StatusOK); len(got.field("attempts").([]any)) != 0 { //nolint:errcheck // openapi.yaml defines the type array.
		t.Errorf("history answered %s", got.text)
	}

	deleted := w.post("timers/delete", `{"id":"a"}`).must(t, http.StatusNoContent)
	if deleted.text != "" {
		t.Errorf("204 with a body: %q", deleted.text)
	}
	w.post("timers/get", `{"id":"a"}`).must(t, http.StatusNotFound)

	// The same handler behind a real listener.
	response, err := server.Client().Post(server.URL+"/api/v1/timers/create", "", strings.NewReader(`{"id":"net","executeIn":"1h"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("over the network: %s", response.Status)
	}
}

func TestListPages(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		w.post("timers/create", `{"id":"`+id+`","executeIn":"1h","correlationId":"c-`+id+`"}`).must(t, http.StatusOK)
	}
	seen := map[any]bool{}
	body := `{"limit":2}`
	for range 10 {
		page := w.post("timers/list", body).must(t, http.StatusOK)
		timers, _ := page.field("timers").([]any)
		for _, one := range timers {
			seen[one.(map[string]any)["id"]] = true //nolint:errcheck // openapi.yaml defines the type object.
		}
		next, ok := page.field("nextCursor").(string)
		if !ok {
			break
		}
		body = `{"limit":2,"cursor":"` + next + `"}`
	}
	if len(seen) != 5 {
		t.Errorf("a walk saw %v", seen)
	}
	one := w.post("timers/list", `{"correlationId":"c-d"}`).must(t, http.StatusOK)
	if timers, _ := one.field("timers").([]any); len(timers) != 1 {
		t.Errorf("by correlation id: %s", one.text)
	}
	foreign := w.post("timers/list", `{"cursor":"AAEC"}`).must(t, http.StatusBadRequest)
	if got, want := foreign.field("message"), `cursor: "AAEC" is not accepted: want the nextCursor of an earlier page`; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// fewFilters is a store that lists by status only.
type fewFilters struct{ ingest.Store }

func (f fewFilters) List(ctx context.Context, now timer.Millis, q store.ListQuery) (store.Page, error) {
	if err := (store.Filters{Status: true}).Check(&q); err != nil {
		return store.Page{}, fmt.Errorf("list timers: %w", err)
	}
	return f.Store.List(ctx, now, q)
}

// TestFiltersThatTheStoreDoesNotSupport: the answer names the filter, and nothing is deleted by a part of the filter.
func TestFiltersThatTheStoreDoesNotSupport(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) { c.Store = fewFilters{c.Store} })
	w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusOK)
	w.post("timers/list", `{"status":"scheduled"}`).must(t, http.StatusOK)
	const want = `correlationId: "x" is not accepted: want no correlationId, because the store does not support this filter`
	for path, body := range map[string]string{
		"timers/list": `{"correlationId":"x"}`, "timers/delete-matching": `{"namespace":"default","status":"scheduled","correlationId":"x"}`,
	} {
		refused := w.post(path, body).must(t, http.StatusBadRequest)
		if got := refused.field("message"); got != want {
			t.Errorf("%s: message %q, want %q", path, got, want)
		}
	}
	w.post("timers/get", `{"id":"a"}`).must(t, http.StatusOK)
}

// TestRefusals checks every refusal that a single request can get, with its exact message.
func TestRefusals(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"taken","executeIn":"1h"}`).must(t, http.StatusOK)
	taken, err := w.row("taken")
	if err != nil {
		t.Fatal(err)
	}
	generation := taken.Generation.String()
	w.post("namespaces/create", `{"name":"fixed","numShards":4}`).must(t, http.StatusOK)

	for name, c := range map[string]struct {
		path, body string
		status     int
		code, text string
	}{
		"unknown field": {"timers/delete", `{"id":"a","force":true}`, 400, "INVALID_INPUT", `force: true is not accepted: want only the fields namespace, id, timerId, ifGeneration`},
		"bad scheme":    {"timers/create", `{"id":"a","executeIn":"1s","callbackUrl":"ftp://h"}`, 400, "INVALID_INPUT", `callbackUrl: "ftp://h" is not accepted: want an absolute http or https URL with a host, at most 2048 bytes`},
		"no body":       {"timers/get", ``, 400, "INVALID_INPUT", `body: "" is not accepted: want one JSON object (unexpected end of JSON input, byte 0)`},
		"update, as it would be": {
			"timers/update", `{"id":"taken","deliver":"callback"}`, 400, "INVALID_INPUT",
			`callbackUrl: "" is not accepted: want an http or https URL, because deliver is "callback"`,
		},
		"update, policy as it would be": {
			"timers/update", `{"id":"taken","retryPolicy":{"initialInterval":"3h"}}`, 400, "INVALID_INPUT",
			`retryPolicy.maxInterval: 2h0m0s is not accepted: want initialInterval (3h0m0s) to 168h`,
		},
		"no timer, get":     {"timers/get", `{"id":"nobody"}`, 404, "TIMER_NOT_FOUND", `there is no timer "nobody" in namespace "default"`},
		"no timer, update":  {"timers/update", `{"id":"nobody"}`, 404, "TIMER_NOT_FOUND", `there is no timer "nobody" in namespace "default"`},
		"no timer, delete":  {"timers/delete", `{"id":"nobody"}`, 404, "TIMER_NOT_FOUND", `there is no timer "nobody" in namespace "default"`},
		"no timer, history": {"timers/history", `{"id":"nobody"}`, 404, "TIMER_NOT_FOUND", `there is no timer "nobody" in namespace "default"`},
		"no namespace":      {"timers/create", `{"namespace":"n","id":"a","executeIn":"1s"}`, 404, "NAMESPACE_NOT_FOUND", `there is no namespace "n"`},
		"no namespace, get": {"namespaces/get", `{"name":"n"}`, 404, "NAMESPACE_NOT_FOUND", `there is no namespace "n"`},
		"exists":            {"timers/create", `{"id":"taken","executeIn":"1s","onConflict":"fail"}`, 409, "TIMER_EXISTS", `timer "taken" exists in namespace "default" (status scheduled), and onConflict is fail`},
		"generation":        {"timers/update", `{"id":"taken","ifGeneration":"7"}`, 409, "GENERATION_CONFLICT", `timer "taken" in namespace "default" has generation ` + generation + `, not ifGeneration 7`},
		"generation delete": {"timers/delete", `{"id":"taken","ifGeneration":"7"}`, 409, "GENERATION_CONFLICT", `timer "taken" in namespace "default" has generation ` + generation + `, not ifGeneration 7`},
		"namespace exists":  {"namespaces/create", `{"name":"fixed","preset":"small"}`, 409, "NAMESPACE_EXISTS", `namespace "fixed" exists with 4 shards, not 16, and the number of shards cannot be changed`},
		"shards for life":   {"namespaces/update", `{"name":"fixed","numShards":4}`, 400, "INVALID_INPUT", `numShards: 4 is not accepted: want only name and settings: the number of shards cannot be changed`},
		"payload":           {"timers/create", `{"id":"a","executeIn":"1s","payload":"` + strings.Repeat("x", timer.MaxPayload) + `"}`, 413, "PAYLOAD_TOO_LARGE", `payload: 102402 bytes are not accepted: want at most 102400`},
		"body":              {"timers/create", strings.Repeat(" ", 128<<10) + `{}`, 413, "PAYLOAD_TOO_LARGE", `body: more than 131072 bytes are not accepted`},
	} {
		t.Run(name, func(t *testing.T) {
			got := w.post(c.path, c.body).must(t, c.status)
			if got.field("error") != c.code || got.field("message") != c.text {
				t.Errorf("answered %s\nwant %s: %s", got.text, c.code, c.text)
			}
			if got.field("timestamp") != "2030-03-17T17:46:40.000Z" {
				t.Errorf("timestamp %v", got.field("timestamp"))
			}
		})
	}
	if _, err := w.row("a"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a refused create left something: %v", err)
	}
	if now, err := w.row("taken"); err != nil || now.Generation != taken.Generation {
		t.Errorf("a refused write left something: %+v, %v", now, err)
	}
}

func TestMethodsAndPaths(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		method, path  string
		status        int
		code, message string
	}{
		{"GET", "/api/v1/timers/create", 405, "METHOD_NOT_ALLOWED", "GET of /api/v1/timers/create is not accepted: want POST"},
		{"DELETE", "/api/v1/namespaces/list", 405, "METHOD_NOT_ALLOWED", "DELETE of /api/v1/namespaces/list is not accepted: want POST"},
		{"POST", "/healthz", 405, "METHOD_NOT_ALLOWED", "POST of /healthz is not accepted: want GET"},
		{"POST", "/api/v1/timers/conjure", 404, "NOT_FOUND", "there is no route /api/v1/timers/conjure"},
		{"GET", "/", 404, "NOT_FOUND", "there is no route /"},
	} {
		got := w.send(t.Context(), c.method, c.path, "")
		if got.status != c.status || got.field("error") != c.code || got.field("message") != c.message {
			t.Errorf("%s %s answered %d %s", c.method, c.path, got.status, got.text)
		}
		if (got.status == 405) != (got.header.Get("Allow") != "") {
			t.Errorf("%s %s: Allow is %q", c.method, c.path, got.header.Get("Allow"))
		}
	}
}

func TestToken(t *testing.T) {
	w := newWorld(t, func(c *ingest.Config) { c.Access = access.New(access.Options{Token: access.NewToken("s3cret")}) })
	w.awaitReady()
	for _, c := range []struct {
		path, authorization string
		status              int
	}{
		{"/api/v1/timers/list", "", 401},
		{"/api/v1/timers/list", "Bearer s3cre", 401},
		{"/api/v1/timers/list", "Basic s3cret", 401},
		{"/api/v1/timers/list", "Bearer s3cret", 200},
		{"/api/v1/timers/list", "bearer s3cret", 200},
		{"/nowhere", "", 401},
		{"/metrics", "", 401},
		{"/metrics", "Bearer s3cret", 200},
		{"/healthz", "", 200},
		{"/readyz", "", 200},
	} {
		method := http.MethodGet
		if strings.HasPrefix(c.path, "/api") {
			method = http.MethodPost
		}
		var header []string
		if c.authorization != "" {
			header = []string{"Authorization", c.authorization}
		}
		got := w.send(t.Context(), method, c.path, "{}", header...)
		if got.status != c.status {
			t.Errorf("%s with %q answered %d: %s", c.path, c.authorization, got.status, got.text)
		}
		if got.status == 401 && (got.field("error") != "UNAUTHORIZED" || got.header.Get("WWW-Authenticate") == "") {
			t.Errorf("%s answered %s", c.path, got.text)
		}
	}
}

func TestForeignPagesAreRefused(t *testing.T) {
	w := newWorld(t)
	got := w.post("timers/create", `{"id":"a","executeIn":"1h"}`, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example")
	if got.status != http.StatusForbidden || got.field("error") != "FORBIDDEN" {
		t.Errorf("answered %d %s", got.status, got.text)
	}
}

func TestForeignHostsAreRefused(t *testing.T) {
	hosts, err := process.ParseHosts("timers.internal")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *ingest.Config) { c.Hosts = hosts })
	w.awaitReady()
	for _, c := range []struct {
		path, host string
		status     int
	}{
		{"/api/v1/timers/list", "rebound.example", 403},
		{"/metrics", "rebound.example", 403},
		{"/nowhere", "rebound.example", 403},
		{"/healthz", "10.0.0.7:8080", 200},
		{"/readyz", "10.0.0.7:8080", 200},
		{"/api/v1/timers/list", "timers.internal", 200},
		{"/api/v1/timers/list", "localhost:9999", 200},
	} {
		method := http.MethodGet
		if strings.HasPrefix(c.path, "/api") {
			method = http.MethodPost
		}
		r := httptest.NewRequestWithContext(t.Context(), method, c.path, strings.NewReader("{}"))
		r.Host = c.host // a server gets the host in the header only
		got := httptest.NewRecorder()
		w.handler.ServeHTTP(got, r)
		if got.Code != c.status {
			t.Errorf("%s of %s answered %d: %s", c.path, c.host, got.Code, got.Body)
		}
		if c.status == 403 && !strings.Contains(got.Body.String(), `"details":{"host":"rebound.example","setting":"allowed-hosts"}`) {
			t.Errorf("%s of %s answered %s", c.path, c.host, got.Body)
		}
	}
}

func TestCorrelationHeader(t *testing.T) {
	w := newWorld(t)
	made := w.post("timers/create", `{"id":"a","executeIn":"1h"}`, "X-Correlation-Id", "h-1").must(t, 200)
	if made.field("correlationId") != "h-1" || made.header.Get("X-Correlation-ID") != "h-1" {
		t.Errorf("create answered %s, header %q", made.text, made.header.Get("X-Correlation-ID"))
	}
	own := w.post("timers/create", `{"id":"b","executeIn":"1h","correlationId":"own"}`, "X-Correlation-Id", "h-2").must(t, 200)
	if own.field("correlationId") != "own" || own.header.Get("X-Correlation-ID") != "h-2" {
		t.Errorf("the body's own must win on the timer, the header's in the echo: %s", own.text)
	}
	kept := w.post("timers/update", `{"id":"a"}`, "X-Correlation-Id", "h-3").must(t, 200)
	if kept.field("correlationId") != "h-1" {
		t.Errorf("an update without the field must keep it: %s", kept.text)
	}
	none := w.post("timers/create", `{"id":"c","executeIn":"1h"}`).must(t, 200)
	if none.field("correlationId") != none.field("uuid") || none.header.Get("X-Correlation-ID") != none.field("uuid") {
		t.Errorf("without any it is the uuid: %s", none.text)
	}
	bad := w.post("timers/create", `{"id":"d","executeIn":"1h"}`, "X-Correlation-Id", strings.Repeat("x", 256)).must(t, 400)
	if !strings.HasPrefix(bad.field("message").(string), `X-Correlation-Id: "xxx`) { //nolint:errcheck // openapi.yaml defines the type string.
		t.Errorf("answered %s", bad.text)
	}
}

func TestNamespaces(t *testing.T) {
	w := newWorld(t)
	made := w.post("namespaces/create", `{"name":"billing","preset":"medium","settings":{"callbackTimeout":"10s","retryPolicy":{"maxAttempts":2}}}`).must(t, 200)
	if made.field("numShards") != 256.0 || made.field("settings", "callbackTimeout") != "10s" ||
		made.field("settings", "retryPolicy", "maxAttempts") != 2.0 || made.field("settings", "historyRetention") != "24h" || made.field("settings", "hostConcurrency") != 64.0 || made.field("settings", "deadRetention") != "720h" ||
		made.field("settings", "results") != "all" {
		t.Errorf("create answered %s", made.text)
	}
	again := w.post("namespaces/create", `{"name":"billing","numShards":256}`).must(t, 200)
	if again.text != made.text {
		t.Errorf("creating it again answered %s", again.text)
	}
	w.post("timers/create", `{"namespace":"billing","id":"a","executeIn":"1h"}`).must(t, 200)
	if got := w.post("timers/get", `{"namespace":"billing","id":"a"}`).must(t, 200); got.field("callbackTimeout") != "10s" ||
		got.field("retryPolicy", "maxAttempts") != 2.0 {
		t.Errorf("the namespace's defaults are missing: %s", got.text)
	}
	w.now.Add(1000)
	changed := w.post("namespaces/update", `{"name":"billing","settings":{"retryPolicy":null,"historyRetention":"168h","deadRetention":"24h","hostConcurrency":512}}`).must(t, 200)
	if changed.field("settings", "retryPolicy", "maxAttempts") != 20.0 || changed.field("settings", "callbackTimeout") != "10s" ||
		changed.field("settings", "historyRetention") != "168h" || changed.field("settings", "hostConcurrency") != 512.0 || changed.field("settings", "deadRetention") != "24h" || changed.field("createdAt") == changed.field("updatedAt") {
		t.Errorf("update answered %s", changed.text)
	}
	if got := w.post("timers/create", `{"namespace":"billing","id":"b","executeIn":"1h"}`).must(t, 200); got.field("retryPolicy", "maxAttempts") != 20.0 {
		t.Errorf("new settings do not count at once: %s", got.text)
	}
	if got := w.post("namespaces/get", `{"name":"billing"}`).must(t, 200); got.text != changed.text {
		t.Errorf("get answered %s", got.text)
	}
	for _, c := range [][2]string{{`"off"`, "off"}, {`"failures"`, "failures"}, {`null`, "all"}} {
		body := `{"name":"billing","settings":{"results":` + c[0] + `}}`
		if got := w.post("namespaces/update", body).must(t, 200); got.field("settings", "results") != c[1] {
			t.Errorf("%s answered %s", body, got.text)
		}
	}
	conflict := w.post("namespaces/create", `{"name":"billing","numShards":256,"settings":{"results":"off"}}`).must(t, 409)
	if !strings.Contains(conflict.text, "settings.results") {
		t.Errorf("a create with other results answered %s", conflict.text)
	}
	list := w.post("namespaces/list", `{}`).must(t, 200)
	if all, _ := list.field("namespaces").([]any); len(all) != 2 {
		t.Errorf("list answered %s", list.text)
	}
}

// TestReadinessNamesOtherConsumers: a process with all services is not ready if its due events are not consumed.
func TestReadinessNamesOtherConsumers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stuck atomic.Bool
		w := newWorld(t, func(c *ingest.Config) {
			c.Ready = []process.Check{{Component: "due events", Reason: "due events are not consumed", Run: func(context.Context) error {
				if stuck.Load() {
					return bus.ErrUnavailable
				}
				return nil
			}}}
		})
		defer w.stop()
		w.awaitReady()
		stuck.Store(true)
		time.Sleep(1001 * time.Millisecond) // an answer is cached for a second
		got := w.send(t.Context(), "GET", "/readyz", "").must(t, 503)
		if reasons := fmt.Sprint(got.field("reasons")); reasons != "[due events are not consumed]" {
			t.Errorf("readyz answered %s", got.text)
		}
	})
}

func TestHealthAndMetrics(t *testing.T) {
	w := newWorld(t)
	w.post("timers/create", `{"id":"a","executeIn":"1h"}`).must(t, 200)
	w.post("timers/get", `{"id":"b"}`).must(t, 404)
	w.send(t.Context(), "GET", "/healthz", "").must(t, 200)
	w.awaitReady()
	if got := w.send(t.Context(), "GET", "/readyz", "").must(t, 200); got.field("status") != "ready" || w.svc.Ready() != nil {
		t.Errorf("readyz answered %s, Ready: %v", got.text, w.svc.Ready())
	}
	page := w.send(t.Context(), "GET", "/metrics", "").must(t, 200)
	for _, line := range []string{
		`timerbus_ingest_requests_total{code="200",route="/api/v1/timers/create"} 1`,
		`timerbus_ingest_requests_total{code="404",route="/api/v1/timers/get"} 1`,
		`timerbus_ingest_commit_operations_count 1`,
		`timerbus_ingest_queue_operations 0`,
	} {
		if !strings.Contains(page.text, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	w.stop()
	w.send(t.Context(), "GET", "/readyz", "").must(t, 503)
	w.send(t.Context(), "GET", "/healthz", "").must(t, 200)
}

// TestReadyWithoutABus: without the bus rows are still stored, and the sweep finds timers whose hint was lost. So a
// load balancer must keep the service. An answer is cached for a second of elapsed time, even if the wall clock is set
// back.
func TestReadyWithoutABus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.stop()
		w.awaitReady()
		w.send(t.Context(), "GET", "/readyz", "").must(t, 200)
		w.now.Add(-time.Hour.Milliseconds())
		w.member.Disconnect()
		time.Sleep(1001 * time.Millisecond)
		got := w.send(t.Context(), "GET", "/readyz", "").must(t, 200)
		want := fmt.Sprintf(`{"status":"ready","degraded":[`+
			`{"part":"commands","reason":"commands are not consumed","since":"%[1]s"},`+
			`{"part":"bus","reason":"the bus does not answer","since":"%[1]s"}]}`, w.clock())
		if strings.TrimSpace(got.text) != want {
			t.Errorf("readyz answered %s\nwant %s", got.text, want)
		}
		w.post("timers/create", `{"id":"a","executeIn":"1s"}`).must(t, 200)
		w.now.Add(2000)
		time.Sleep(1001 * time.Millisecond)
		if got := w.send(t.Context(), "GET", "/readyz", "").must(t, 200); strings.TrimSpace(got.text) != want {
			t.Errorf("later readyz answered %s\nwant %s", got.text, want)
		}
		w.member.Connect()
		w.now.Add(-time.Hour.Milliseconds())
		w.awaitReady()
		if got := w.send(t.Context(), "GET", "/readyz", "").must(t, 200); got.field("degraded") != nil {
			t.Errorf("with the bus again readyz answered %s", got.text)
		}
	})
}

// TestNotReadyWithoutABusThatAnotherRoleRequires: the scheduler in the same process cannot work without the bus.
func TestNotReadyWithoutABusThatAnotherRoleRequires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var member bus.Bus
		w := newWorld(t, func(c *ingest.Config) {
			member = c.Bus
			c.Ready = []process.Check{{Component: "bus", Reason: "the bus does not answer", Run: func(ctx context.Context) error {
				_, err := member.Floor(ctx, bus.Due, bus.GroupDispatchers)
				return err
			}}}
		})
		defer w.stop()
		w.awaitReady()
		w.member.Disconnect()
		time.Sleep(1001 * time.Millisecond)
		got := w.send(t.Context(), "GET", "/readyz", "").must(t, 503)
		if reasons := fmt.Sprint(got.field("reasons")); reasons != "[the bus does not answer]" {
			t.Errorf("readyz answered %s", got.text)
		}
		if parts, _ := got.field("degraded").([]any); len(parts) != 1 || parts[0].(map[string]any)["part"] != "commands" { //nolint:errcheck // openapi.yaml defines the type object.
			t.Errorf("readyz answered %s", got.text)
		}
	})
}

func TestRunNow(t *testing.T) {
	w := newWorld(t)
	made := w.post("timers/create", `{"id":"a","executeIn":"1h","window":"1m"}`).must(t, http.StatusOK)
	ran := w.post("timers/run-now", `{"id":"a"}`).must(t, http.StatusOK)
	if ran.field("dueAt") != made.field("createdAt") || ran.field("generation") == made.field("generation") || ran.field("window") != nil {
		t.Errorf("made %+v\nran %+v", made, ran) // the clock of this test does not advance
	}
	w.post("timers/run-now", `{"id":"a","ifGeneration":"7"}`).must(t, http.StatusConflict)
	w.post("timers/run-now", `{"id":"b"}`).must(t, http.StatusNotFound)
	w.post("timers/run-now", `{"id":"a","executeIn":"1h"}`).must(t, http.StatusBadRequest)
}
