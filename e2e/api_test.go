package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestCallback checks the content and the time of a callback.
func TestCallback(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	made := w.create(t, "order/17 ä", 400*time.Millisecond, func(r *client.CreateTimerRequest) {
		r.Payload, r.CorrelationID = json.RawMessage(`{"order":17,"big":12345678901234567890,"html":"<&>"}`), "trace-1"
	})
	call := w.calls(t, "order/17 ä", 1)[0]
	if call.At.Before(made.ExecuteAt.Time) || call.Lateness() > 2*time.Second {
		t.Errorf("arrived %v after its due time", call.Lateness())
	}
	if !call.ExecuteAt.Time().Equal(made.ExecuteAt.Time) || call.Attempt != 1 || call.Generation != made.Generation ||
		call.CorrelationID != "trace-1" || string(call.Payload) != `{"order":17,"big":12345678901234567890,"html":"<&>"}` {
		t.Errorf("the body is %s", call.Body)
	}
	for name, want := range map[string]string{
		"Webhook-Id": made.UUID + "_" + made.Generation, "Content-Type": "application/json", "X-Correlation-Id": "trace-1",
	} {
		if got := call.Header.Get(name); got != want {
			t.Errorf("header %s: %q, want %q", name, got, want)
		}
	}
	if call.Header.Get("Webhook-Timestamp") == "" || !strings.HasPrefix(call.Header.Get("User-Agent"), "timerbus/") {
		t.Errorf("headers: %v", call.Header)
	}
	done := w.reaches(t, "order/17 ä", isStatus("done"))
	if done.Attempts != 1 || done.LastStatusCode != http.StatusOK || done.ExecutedAt.Before(made.ExecuteAt.Time) {
		t.Errorf("ended as %+v", done)
	}
}

// TestPastFiresAtOnce: a create that was delayed on its way is not lost.
func TestPastFiresAtOnce(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	before := time.Now()
	r := w.post(t, "timers/create", fmt.Sprintf(`{"namespace":"NS","id":"past","executeAt":"2001-01-01T00:00:00Z","callbackUrl":%q}`, w.receiver.URL))
	if r.status != http.StatusOK || r.field(t, "executeAt") != "2001-01-01T00:00:00.000Z" {
		t.Fatalf("%d %s", r.status, r.body)
	}
	call := w.calls(t, "past", 1)[0]
	if took := call.At.Sub(before); took > 3*time.Second {
		t.Errorf("arrived after %v", took)
	}
	if call.ScheduledFor.Time().Before(before.Truncate(time.Millisecond)) {
		t.Errorf("was due at %v, before it was created at %v", call.ScheduledFor, before)
	}
}

// TestVerbs uses every verb on one timer, in time and late.
func TestVerbs(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	url := w.receiver.URL
	expect := func(path, body string, status int, fields ...any) *reply {
		t.Helper()
		r := w.post(t, path, strings.ReplaceAll(body, "URL", url))
		if r.status != status {
			t.Fatalf("%s %s: %d %s, want %d", path, body, r.status, r.body, status)
		}
		for i := 0; i+1 < len(fields); i += 2 {
			name := fmt.Sprint(fields[i])
			if got := r.field(t, name); got != fields[i+1] {
				t.Errorf("%s %s: %s is %v, want %v", path, body, name, got, fields[i+1])
			}
		}
		return r
	}
	one := expect("timers/create", `{"namespace":"NS","id":"a","executeIn":"1h","callbackUrl":"URL","payload":{"n":1}}`, 200,
		"status", "scheduled", "id", "a", "timerId", "a", "deliver", "callback", "callbackTimeout", "30s", "attempts", 0.0)
	expect("timers/get", `{"namespace":"NS","timerId":"a"}`, 200, "generation", one.field(t, "generation"))
	expect("timers/history", `{"namespace":"NS","timerId":"a"}`, 200)

	// Replacing keeps createdAt and creates a new generation; keep and fail do not replace.
	two := expect("timers/create", `{"namespace":"NS","timerId":"a","executeIn":"2h","callbackUrl":"URL"}`, 200, "createdAt", one.field(t, "createdAt"))
	if one.field(t, "generation") == two.field(t, "generation") {
		t.Error("a replaced timer kept its generation")
	}
	expect("timers/create", `{"namespace":"NS","id":"a","executeIn":"3h","onConflict":"keep"}`, 200, "generation", two.field(t, "generation"))
	expect("timers/create", `{"namespace":"NS","id":"a","executeIn":"3h","onConflict":"fail"}`, 409, "error", "TIMER_EXISTS")

	// An update keeps absent fields, and null clears a field.
	three := expect("timers/update", `{"namespace":"NS","id":"a","payload":{"n":3}}`, 200,
		"executeAt", two.field(t, "executeAt"), "payload.n", 3.0, "callbackUrl", url)
	expect("timers/update", fmt.Sprintf(`{"namespace":"NS","id":"a","ifGeneration":"%v","payload":1}`, two.field(t, "generation")), 409,
		"error", "GENERATION_CONFLICT", "details.generation", three.field(t, "generation"))
	expect("timers/update", `{"namespace":"NS","id":"a","callbackUrl":null,"payload":null}`, 200, "deliver", "event", "payload", nil, "callbackUrl", nil)
	expect("timers/delete", `{"namespace":"NS","id":"a","ifGeneration":"1"}`, 409, "error", "GENERATION_CONFLICT")
	if r := expect("timers/delete", `{"namespace":"NS","id":"a"}`, 204); r.body != "" {
		t.Errorf("204 with a body: %s", r.body)
	}
	for _, verb := range []string{"get", "update", "delete", "history"} {
		body := `{"namespace":"NS","id":"a"}`
		if verb == "update" {
			body = `{"namespace":"NS","id":"a","executeIn":"1s"}`
		}
		expect("timers/"+verb, body, 404, "error", "TIMER_NOT_FOUND", "details.timerId", "a")
	}
}

// TestLateWrites: a write after which the old delivery may have gone out is applied and answered 202.
func TestLateWrites(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	for _, verb := range []string{"create", "update", "delete"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			id := "late " + verb
			w.receiver.On(w.namespace, id, receiver.Answer{Delay: time.Second}, receiver.Answer{})
			w.create(t, id, 0)
			w.calls(t, id, 1) // the delivery is in flight, and not answered yet
			body := map[string]string{
				"create": `{"namespace":"NS","id":"ID","executeIn":"0s","callbackUrl":"URL"}`,
				"update": `{"namespace":"NS","id":"ID","executeIn":"0s"}`,
				"delete": `{"namespace":"NS","id":"ID"}`,
			}[verb]
			r := w.post(t, "timers/"+verb, strings.NewReplacer("URL", w.receiver.URL, "ID", id).Replace(body))
			if r.status != http.StatusAccepted {
				t.Fatalf("%d %s, want 202", r.status, r.body)
			}
			if verb == "delete" {
				if message, _ := r.field(t, "message").(string); !strings.Contains(message, "may have gone out") {
					t.Errorf("the answer is %q", r.body)
				}
				return
			}
			// The old delivery's outcome must not end the new generation.
			calls := w.calls(t, id, 2)
			if calls[1].Generation != r.field(t, "generation") || calls[0].WebhookID == calls[1].WebhookID {
				t.Errorf("the second call is of generation %s, want %v", calls[1].Generation, r.field(t, "generation"))
			}
			w.reaches(t, id, isStatus("done"))
		})
	}
}

// TestInTimeIsFinal: after a 204 or 200 the old delivery never arrives.
func TestInTimeIsFinal(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	for i := range 20 {
		id := fmt.Sprint("final ", i)
		w.create(t, id, 3*time.Second, func(r *client.CreateTimerRequest) { r.Payload = json.RawMessage(`"old"`) })
		if i%2 == 0 {
			if r := w.post(t, "timers/delete", fmt.Sprintf(`{"namespace":"NS","id":%q}`, id)); r.status != http.StatusNoContent {
				t.Fatalf("%d %s", r.status, r.body)
			}
			continue
		}
		r := w.post(t, "timers/update", fmt.Sprintf(`{"namespace":"NS","id":%q,"executeIn":"3200ms","payload":"new"}`, id))
		if r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	// Created after all of them, and due after all of them.
	w.create(t, "fence", 4*time.Second)
	w.calls(t, "fence", 1)
	for i := range 20 {
		calls := w.receiver.Calls(w.namespace, fmt.Sprint("final ", i))
		if i%2 == 0 && len(calls) > 0 {
			t.Errorf("timer %d fired after its delete was answered 204", i)
		}
		if i%2 == 1 && (len(calls) != 1 || string(calls[0].Payload) != `"new"`) {
			t.Errorf("timer %d, updated, fired %d times, first with %s", i, len(calls), calls[0].Payload)
		}
	}
}

// TestCreateTwiceFiresOnce: keep also finds finished timers.
func TestCreateTwiceFiresOnce(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	keep := func(r *client.CreateTimerRequest) { r.OnConflict = client.Keep }
	first := w.create(t, "once", 0, keep)
	w.reaches(t, "once", isStatus("done"))
	second := w.create(t, "once", 0, keep)
	if second.Status != "done" || second.Generation != first.Generation {
		t.Errorf("the second create was answered %s, generation %s; want what became of the first", second.Status, second.Generation)
	}
	w.create(t, "fence", 500*time.Millisecond)
	w.calls(t, "fence", 1)
	if calls := w.receiver.Calls(w.namespace, "once"); len(calls) != 1 {
		t.Errorf("fired %d times", len(calls))
	}
}

// TestList: pages and filters; each timer is listed once.
func TestList(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	const many = 57
	var want []string
	for i := range many {
		id := fmt.Sprintf("listed-%02d", i)
		w.create(t, id, time.Hour, func(r *client.CreateTimerRequest) { r.CorrelationID = fmt.Sprint("group-", i%3) })
		want = append(want, id)
	}
	list := func(r client.ListTimersRequest) []string {
		t.Helper()
		r.Namespace = w.namespace
		var ids []string
		for timer, err := range w.api.AllTimers(t.Context(), r) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, timer.ID)
		}
		slices.Sort(ids)
		return ids
	}
	for _, limit := range []int{0, 1, 10, many, 1000} {
		if got := list(client.ListTimersRequest{Limit: limit}); !slices.Equal(got, want) {
			t.Errorf("limit %d: %d timers, want %d: %v", limit, len(got), many, got)
		}
	}
	if got := list(client.ListTimersRequest{Limit: 7, CorrelationID: "group-1"}); len(got) != many/3 {
		t.Errorf("%d timers have group-1, want %d", len(got), many/3)
	}
	if got := list(client.ListTimersRequest{Status: "done"}); len(got) != 0 {
		t.Errorf("done: %v", got)
	}
	w.create(t, "fired", 0)
	w.reaches(t, "fired", isStatus("done"))
	if got := list(client.ListTimersRequest{Status: "done"}); !slices.Equal(got, []string{"fired"}) {
		t.Errorf("done: %v", got)
	}
	if got := list(client.ListTimersRequest{}); !slices.Equal(got, want) {
		t.Errorf("live: %d timers, want %d", len(got), many)
	}
	if r := w.post(t, "timers/list", `{"namespace":"NS","cursor":"nonsense"}`); r.status != 400 || r.field(t, "details.field") != "cursor" {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestNamespaces: the verbs; one namespace never sees timers of another.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	check := func(r *reply, status int, path string, want any) {
		t.Helper()
		if r.status != status || r.field(t, path) != want {
			t.Errorf("%d %s, want %d and %s %v", r.status, r.body, status, path, want)
		}
	}
	check(w.post(t, "namespaces/get", `{"name":"default"}`), 200, "numShards", 16.0)
	check(w.post(t, "namespaces/create", `{"name":"NS.2","preset":"small","settings":{"retryPolicy":{"maxAttempts":2}}}`), 200, "settings.retryPolicy.maxAttempts", 2.0)
	check(w.post(t, "namespaces/create", `{"name":"NS.2","numShards":16}`), 200, "settings.retryPolicy.maxAttempts", 2.0)
	check(w.post(t, "namespaces/create", `{"name":"NS.2","numShards":17}`), 409, "error", "NAMESPACE_EXISTS")
	check(w.post(t, "namespaces/update", `{"name":"NS.2","settings":{"callbackTimeout":"7s"}}`), 200, "settings.callbackTimeout", "7s")
	check(w.post(t, "namespaces/update", `{"name":"NS.2","numShards":4,"settings":{}}`), 400, "error", "INVALID_INPUT")
	check(w.post(t, "namespaces/get", `{"name":"NS.3"}`), 404, "error", "NAMESPACE_NOT_FOUND")
	if all := w.post(t, "namespaces/list", `{}`); !strings.Contains(all.body, `"`+w.namespace+`.2"`) || !strings.Contains(all.body, `"default"`) {
		t.Errorf("%d %s", all.status, all.body)
	}

	// A timer gets the settings of its namespace for absent fields.
	other := *w
	other.namespace += ".2"
	check(other.post(t, "timers/create", `{"namespace":"NS","id":"same","executeIn":"1h","payload":"theirs"}`), 200, "retryPolicy.maxAttempts", 2.0)
	check(w.post(t, "timers/create", `{"namespace":"NS","id":"same","executeIn":"1h","payload":"ours"}`), 200, "retryPolicy.maxAttempts", 20.0)
	check(other.post(t, "timers/delete", `{"namespace":"NS","id":"absent"}`), 404, "error", "TIMER_NOT_FOUND")
	if r := other.post(t, "timers/delete", `{"namespace":"NS","id":"same"}`); r.status != 204 {
		t.Errorf("%d %s", r.status, r.body)
	}
	check(w.post(t, "timers/get", `{"namespace":"NS","id":"same"}`), 200, "payload", "ours")
}

// refusals are requests that must be refused, by path, with the code and the field in the error. Those to
// timers/create, update and delete are also sent on the command topic.
func refusals() []struct{ path, body, code, field string } {
	long := strings.Repeat("x", 256)
	large := `"` + strings.Repeat("x", 100<<10) + `"`
	return []struct{ path, body, code, field string }{
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","executein":"1s"}`, "INVALID_INPUT", "executein"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","id":"r"}`, "INVALID_INPUT", "id"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s"} {}`, "INVALID_INPUT", ""},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":1}`, "INVALID_INPUT", "executeIn"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"soon"}`, "INVALID_INPUT", "executeIn"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"-1s"}`, "INVALID_INPUT", "executeIn"},
		{"timers/create", `{"namespace":"NS","id":"r","executeAt":"tomorrow"}`, "INVALID_INPUT", "executeAt"},
		{"timers/create", `{"namespace":"NS","id":"r"}`, "INVALID_INPUT", "executeAt"},
		{"timers/create", `{"namespace":"NS","executeIn":"1s"}`, "INVALID_INPUT", "id"},
		{"timers/create", `{"namespace":"NS","id":"` + long + `","executeIn":"1s"}`, "INVALID_INPUT", "id"},
		{"timers/create", `{"namespace":"NS","id":"a\u0000b","executeIn":"1s"}`, "INVALID_INPUT", "id"},
		{"timers/create", `{"namespace":"NS","id":"r","timerId":"s","executeIn":"1s"}`, "INVALID_INPUT", "timerId"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","callbackUrl":"ftp://example.com"}`, "INVALID_INPUT", "callbackUrl"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","callbackUrl":"http://"}`, "INVALID_INPUT", "callbackUrl"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","deliver":"pigeon"}`, "INVALID_INPUT", "deliver"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","deliver":"callback"}`, "INVALID_INPUT", "callbackUrl"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","retryPolicy":{"maxAttempts":0}}`, "INVALID_INPUT", "retryPolicy.maxAttempts"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","callbackTimeout":"10m"}`, "INVALID_INPUT", "callbackTimeout"},
		{"timers/create", `{"namespace":"NS","id":"r","executeIn":"1s","payload":` + large + `}`, "PAYLOAD_TOO_LARGE", "payload"},
		{"timers/create", `{"namespace":"NS.none","id":"r","executeIn":"1s"}`, "NAMESPACE_NOT_FOUND", ""},
		{"timers/create", `{"namespace":"no spaces","id":"r","executeIn":"1s"}`, "INVALID_INPUT", "namespace"},
		{"timers/create", `[]`, "INVALID_INPUT", ""},
		{"timers/update", `{"namespace":"NS","id":"r","executeIn":"1s","nope":1}`, "INVALID_INPUT", "nope"},
		{"timers/update", `{"namespace":"NS","id":"r","executeAt":null}`, "INVALID_INPUT", "executeAt"},
		{"timers/update", `{"namespace":"NS","id":"r","executeIn":"1s"}`, "TIMER_NOT_FOUND", ""},
		{"timers/delete", `{"namespace":"NS","id":"r"}`, "TIMER_NOT_FOUND", ""},
		{"timers/delete", `{"namespace":"NS","id":"r","ifGeneration":"x"}`, "INVALID_INPUT", "ifGeneration"},
		{"timers/get", `{"namespace":"NS"}`, "INVALID_INPUT", "id"},
		{"timers/list", `{"namespace":"NS","limit":1001}`, "INVALID_INPUT", "limit"},
		{"timers/list", `{"namespace":"NS","status":"lost"}`, "INVALID_INPUT", "status"},
		{"timers/history", `{"namespace":"NS","id":"r","limit":0}`, "INVALID_INPUT", "limit"},
		{"namespaces/create", `{"name":"a b"}`, "INVALID_INPUT", "name"},
		{"namespaces/create", `{"name":"NS.4","numShards":0}`, "INVALID_INPUT", "numShards"},
	}
}

var statusOf = map[string]int{
	"INVALID_INPUT": 400, "PAYLOAD_TOO_LARGE": 413, "NAMESPACE_NOT_FOUND": 404, "TIMER_NOT_FOUND": 404,
}

// TestRefusals: the code, and a message with the field, its value and the accepted values.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	for _, c := range refusals() {
		r := w.post(t, c.path, c.body)
		if r.status != statusOf[c.code] || r.field(t, "error") != c.code {
			t.Errorf("%s %.100s: %d %s, want %s", c.path, c.body, r.status, r.body, c.code)
			continue
		}
		message, _ := r.field(t, "message").(string)
		if !strings.Contains(message, c.field) || r.field(t, "timestamp") == nil {
			t.Errorf("%s %.100s: %s, want %s named", c.path, c.body, r.body, c.field)
		}
		if c.code == "INVALID_INPUT" && (r.field(t, "details.field") == nil || r.field(t, "details.accepted") == nil || !strings.Contains(message, "want ")) {
			t.Errorf("%s %.100s: %s, want field, value and what is accepted", c.path, c.body, r.body)
		}
	}
	if r := w.do(t, http.MethodGet, "/api/v1/timers/get", ""); r.status != 405 || r.field(t, "error") != "METHOD_NOT_ALLOWED" || r.header.Get("Allow") != "POST" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.post(t, "timers/obtain", `{}`); r.status != 404 || r.field(t, "error") != "NOT_FOUND" {
		t.Errorf("%d %s", r.status, r.body)
	}
	if r := w.post(t, "timers/list", `{"namespace":"NS"}`); strings.Contains(r.body, `"id"`) {
		t.Errorf("a refused request left something: %s", r.body)
	}
}

// TestCorrelation: the header is used if the body has no correlation id, and is returned.
func TestCorrelation(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	r := w.post(t, "timers/create", `{"namespace":"NS","id":"c","executeIn":"1h"}`, "X-Correlation-Id", "from-header")
	if r.field(t, "correlationId") != "from-header" || r.header.Get("X-Correlation-ID") != "from-header" {
		t.Errorf("%v %s", r.header, r.body)
	}
	if r := w.post(t, "timers/create", `{"namespace":"NS","id":"d","executeIn":"1h"}`); r.field(t, "correlationId") != r.field(t, "uuid") {
		t.Errorf("%s: want the uuid as correlation id", r.body)
	}
}

// TestOperations: health, readiness and metrics.
func TestOperations(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	w.create(t, "measured", 0)
	w.reaches(t, "measured", isStatus("done"))
	for path, want := range map[string]string{
		"/healthz": `"status"`, "/readyz": `"status"`,
		"/metrics": "timerbus_ingest_requests_total",
	} {
		if r := w.do(t, http.MethodGet, path, ""); r.status != 200 || !strings.Contains(r.body, want) {
			t.Errorf("%s: %d %.200s", path, r.status, r.body)
		}
	}
	metrics := w.do(t, http.MethodGet, "/metrics", "").body
	of := []string{"lateness", "fires", "retries", "dead", "sweep"}
	if !onDatabase() || !chosen().countless {
		of = append(of, "pending", "overdue")
	}
	for _, of := range of {
		if !strings.Contains(metrics, of) {
			t.Errorf("no metric for %s", of)
		}
	}
}

// TestToken: with a token, requests without it are refused.
func TestToken(t *testing.T) {
	t.Parallel()
	w := &world{Service: newService(t, t.TempDir(), harness.WithEnv("TIMERBUS_TOKEN=open sesame")), namespace: "default"}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	const body = `{"id":"t","executeIn":"1h"}`
	for _, headers := range [][]string{nil, {"Authorization", "Bearer wrong"}, {"Authorization", "open sesame"}} {
		if r := w.post(t, "timers/create", body, headers...); r.status != 401 || r.field(t, "error") != "UNAUTHORIZED" {
			t.Errorf("%v: %d %s", headers, r.status, r.body)
		}
	}
	if r := w.post(t, "timers/create", body, "Authorization", "Bearer open sesame"); r.status != 200 {
		t.Errorf("with the token: %d %s", r.status, r.body)
	}
	if strings.Contains(w.Log(), "open sesame") {
		t.Error("the log shows the token")
	}
}
