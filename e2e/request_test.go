package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/record"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// rawCall is a request as it arrived.
type rawCall struct {
	id, method, path, contentType, body string
	at                                  time.Time
	delivery                            event.Delivery
}

// rawReceiver records requests of any method, and answers with the text of the query's member answer.
func rawReceiver(t *testing.T) (url string, calls *record.Record[rawCall]) {
	t.Helper()
	calls = &record.Record[rawCall]{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		body, err := io.ReadAll(r.Body)
		d, ok, parse := event.DeliveryFromHeaders(r.Header.Get)
		if err != nil || !ok || parse != nil {
			t.Errorf("%s %s: %v, delivery in the headers %t, %v", r.Method, r.URL, err, ok, parse)
		}
		calls.Add(rawCall{d.TimerID, r.Method, r.URL.Path, r.Header.Get("Content-Type"), string(body), at, d})
		if r.URL.Path == "/fail" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = io.WriteString(w, r.URL.Query().Get("answer"))
	}))
	t.Cleanup(server.Close)
	return server.URL, calls
}

func callsOf(id string) func(rawCall) bool { return func(c rawCall) bool { return c.id == id } }

// TestRequests: every method and several bodies, created over HTTP, by a command, and with the CLI, arrive byte for byte.
func TestRequests(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	url, calls := rawReceiver(t)
	results := w.listen(t, tap.Results)
	everyByte := make([]byte, 256)
	for i := range everyByte {
		everyByte[i] = byte(i)
	}
	bodies := []struct{ name, given, contentType, body string }{
		{"none", ``, "", ""},
		{"empty", `,"body":""`, "text/plain; charset=utf-8", ""},
		{"text", `,"body":"ä = \"ö\"\n\u0000"`, "text/plain; charset=utf-8", "ä = \"ö\"\n\x00"},
		{"form", `,"body":"a=1&b=%20","contentType":"application/x-www-form-urlencoded"`, "application/x-www-form-urlencoded", "a=1&b=%20"},
		{"bytes", `,"bodyBase64":"` + base64.StdEncoding.EncodeToString(everyByte) + `"`, "application/octet-stream", string(everyByte)},
		{"largest", `,"body":"` + strings.Repeat("x", timer.MaxPayload) + `"`, "text/plain; charset=utf-8", strings.Repeat("x", timer.MaxPayload)},
	}
	for _, method := range timer.Methods() {
		for _, b := range bodies {
			if method == http.MethodGet && b.name != "none" {
				continue
			}
			for _, way := range []string{"http", "command"} {
				id := strings.Join([]string{w.namespace, method, b.name, way, "ä"}, "-")
				body := fmt.Sprintf(`{"namespace":"NS","id":%q,"executeIn":"100ms","callbackUrl":"%s/%s","request":{"method":%q%s}}`,
					id, url, b.name, method, b.given)
				if way == "command" {
					command := w.command(id, "create", body)
					if err := w.tap.Publish(t.Context(), tap.Commands, command, event.Structured); err != nil {
						t.Fatal(err)
					}
					if m := await(t, results, 1, answerTo(command.ID))[0]; m.Event.Type != event.TypeApplied {
						t.Fatalf("%s: answered %s", id, m.Event.Data)
					}
				} else if r := w.post(t, "timers/create", body); r.status != http.StatusOK {
					t.Fatalf("%s: %d %s", id, r.status, r.body)
				}
				c := await(t, calls, 1, callsOf(id))[0]
				if c.method != method || c.path != "/"+b.name || c.contentType != b.contentType || c.body != b.body {
					t.Errorf("%s: received %s %s of type %q with %d bytes %.100q", id, c.method, c.path, c.contentType, len(c.body), c.body)
				}
				if d := &c.delivery; d.Namespace != w.namespace || d.Attempt != 1 || timer.Millis(c.at.UnixMilli()) < d.ScheduledFor {
					t.Errorf("%s: headers %+v at %v", id, d, c.at)
				}
				done := w.reaches(t, id, isStatus("done"))
				if r := done.Request; string(r.Method) != method || r.ContentType != b.contentType || r.Body != nil || r.BodyBase64 != nil || done.Payload != nil {
					t.Errorf("%s: done as %+v", id, r)
				}
			}
		}
	}

	file := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(file, everyByte, 0o600); err != nil {
		t.Fatal(err)
	}
	made := cliJSON[client.Timer](t, w, "timer", "create", "cli", "-n", w.namespace, "--in", "1h", "--callback-url", url+"/cli",
		"--method", "PATCH", "--body", "@"+file, "--window", "10m")
	if r := made.Request; r.Method != http.MethodPatch || string(r.BodyBase64) != string(everyByte) || r.ContentType != "application/octet-stream" || made.Window != "10m" {
		t.Errorf("created by the CLI: %+v, window %q", r, made.Window)
	}
	if shown := w.cli(t, 0, "timer", "get", "cli", "-n", w.namespace); !strings.Contains(shown, "256 bytes, not printable") {
		t.Errorf("timer get prints\n%s", shown)
	}
	made = cliJSON[client.Timer](t, w, "timer", "update", "cli", "-n", w.namespace, "--in", "0s", "--body", "new text", "--content-type", "text/x")
	if r := made.Request; r.Method != http.MethodPost || r.Body == nil || *r.Body != "new text" || made.Window != "" {
		t.Errorf("updated by the CLI: %+v, window %q", r, made.Window)
	}
	if c := await(t, calls, 1, callsOf("cli"))[0]; c.method != "POST" || c.body != "new text" || c.contentType != "text/x" {
		t.Errorf("received %+v", c)
	}
	w.cli(t, 5, "timer", "create", "refused", "-n", w.namespace, "--in", "1h", "--callback-url", url, "--method", "GET", "--body", "x")
}

// TestAnswersToRequests: a JSON answer counts only if the timer says so.
func TestAnswersToRequests(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	url, calls := rawReceiver(t)
	answered := func(answer string, reschedule bool) func(r *client.CreateTimerRequest) {
		return func(r *client.CreateTimerRequest) {
			r.CallbackURL = url + "/?answer=" + answer
			r.Request = client.TimerRequest{Method: "PUT", Body: new("x"), Reschedule: reschedule}
		}
	}
	w.create(t, "not read", 0, answered(`{"ok":false}`, false))
	w.create(t, "read", 0, answered(`{"ok":false}`, true))
	next := time.Now().UTC().Add(time.Second).Format(time.RFC3339Nano)
	w.create(t, "moved", 0, answered(`{"nextExecuteAt":"`+next+`"}`, true))
	w.reaches(t, "not read", isStatus("done"))
	if dead := w.reaches(t, "read", isStatus("dead")); !strings.Contains(dead.LastError, `"ok": false`) {
		t.Errorf("dead with %q", dead.LastError)
	}
	if c := await(t, calls, 2, callsOf("moved")); c[0].body != "x" || c[1].body != "x" || c[0].delivery.Generation == c[1].delivery.Generation {
		t.Errorf("called with %+v", c)
	}
}

// TestDeadRequestsKeepTheirBody: the event of a dead timer has the request, and a retry sends it.
func TestDeadRequestsKeepTheirBody(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	url, calls := rawReceiver(t)
	graves := w.listen(t, tap.Dead)
	w.create(t, w.namespace, 0, func(r *client.CreateTimerRequest) {
		r.CallbackURL, r.RetryPolicy = url+"/fail", quick(1)
		r.Request = client.TimerRequest{Method: "DELETE", BodyBase64: []byte{0, 0xff}, ContentType: "a/b"}
	})
	m := await(t, graves, 1, w.about(event.TypeDead, w.namespace))[0]
	n := data[event.Notice](t, &m)
	if n.Request == nil || n.Request.Method != http.MethodDelete || string(n.Request.BodyBase64) != "\x00\xff" || string(n.Payload) != "null" {
		t.Errorf("dead event %s", m.Event.Data)
	}
	if _, err := w.api.RetryTimer(t.Context(), client.RetryTimerRequest{Namespace: w.namespace, ID: w.namespace}); err != nil {
		t.Fatal(err)
	}
	for _, c := range await(t, calls, 2, callsOf(w.namespace)) {
		if c.method != "DELETE" || c.body != "\x00\xff" || c.contentType != "a/b" {
			t.Errorf("received %+v", c)
		}
	}
}

// TestWindows: timers are due within their window, at different times, each at the same time when it is created again.
func TestWindows(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	start := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	at := func(id string) time.Time {
		made, err := w.api.CreateTimer(t.Context(), client.CreateTimerRequest{
			Namespace: w.namespace, ID: id, ExecuteAt: client.At(start), Window: "10m", CallbackURL: w.receiver.URL,
		})
		if err != nil || made.Window != "10m" || !made.ExecuteAt.Equal(made.DueAt.Time) {
			t.Fatalf("%+v, %v", made.Timer, err)
		}
		return made.ExecuteAt.Time
	}
	times := map[time.Time]bool{}
	for i := range 20 {
		id := fmt.Sprint("timer ", i)
		first := at(id)
		if first.Before(start) || !first.Before(start.Add(10*time.Minute)) || !at(id).Equal(first) {
			t.Errorf("%s is due at %v, and then at %v", id, first, at(id))
		}
		times[first] = true
	}
	if len(times) < 15 {
		t.Errorf("20 timers are due at %d times", len(times))
	}
	// What an answer contains can be sent back: the timer stays where it is.
	got, err := w.api.UpdateTimer(t.Context(), client.UpdateTimerRequest{Namespace: w.namespace, ID: "timer 0", ExecuteAt: client.At(at("timer 0"))})
	if err != nil || !got.ExecuteAt.Equal(at("timer 0")) || got.Window != "" {
		t.Errorf("%+v, %v", got.Timer, err)
	}
	w.create(t, "soon", 100*time.Millisecond, func(r *client.CreateTimerRequest) { r.Window = "500ms" })
	soon, err := w.api.GetTimer(t.Context(), w.selection("soon"))
	if err != nil {
		t.Fatal(err)
	}
	var d event.Delivery
	if c := w.calls(t, "soon", 1)[0]; json.Unmarshal(c.Body, &d) != nil || c.At.Before(soon.ExecuteAt.Time) || d.ExecuteAt.Time().UnixMilli() != soon.ExecuteAt.UnixMilli() {
		t.Errorf("called at %v, due at %v", c.At, soon.ExecuteAt)
	}
}
