package event_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// vectors is the folder with the pinned bytes, for readers and writers in any language.
const vectors = "../../schemas/testdata"

var update = flag.Bool("update", false, "write the golden vectors anew")

// vector is one public message as it is on the bus.
type vector struct {
	Event      json.RawMessage `json:"event"`
	Structured layout          `json:"structured"`
	Binary     layout          `json:"binary"`
}

type layout struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// internalVector is one internal message. It may change in any release, but not unnoticed.
type internalVector struct {
	Fields any    `json:"fields"`
	Hex    string `json:"hex"`
}

const (
	source  = "timerbus/6f9619ff-8b86-5011-b42d-00cf4fc964ff" // the cluster: events of all its services have the same source
	at      = timer.Millis(1767225600250)                     // 2026-01-01T00:00:00.250Z
	ns      = "default"
	id      = "Bestellung 17/ä <%>" // characters that are special in headers and in HTML escaping
	parent  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	state   = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"
	payload = `{"order":17,"note":"a<b & c","big":12345678901234567890,"e":1e400}`
)

func sample() *timer.Timer {
	retry := timer.RetryPolicy{MaxAttempts: 4, InitialInterval: 30 * time.Second, BackoffMultiplier: 2, MaxInterval: time.Hour}
	return &timer.Timer{
		Namespace: ns, ID: id, UUID: timer.UUIDOf(ns, id),
		Spec: timer.Spec{
			ExecuteAt: at - 250, CallbackURL: "https://shop.example/expire?a=1&b=2", Deliver: timer.DeliverBoth,
			CallbackTimeout: timer.DefaultCallbackTimeout, Retry: retry, Payload: []byte(payload),
		},
		Status: timer.StatusRetrying, DueAt: at, Revision: 3706188562493276160, Generation: 3706188562493276161,
		Attempts: 2, CreatedAt: at - 3600_000, UpdatedAt: at - 60_000, ExecutedAt: at - 30_000,
		LastStatus: 503, LastError: "503 Service Unavailable",
	}
}

// events returns all public messages by the name of their vector.
func events(t *testing.T) map[string]event.CloudEvent {
	t.Helper()
	must := func(e event.CloudEvent, err error) event.CloudEvent {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	command := func(eventType, commandID, data string) event.CloudEvent {
		return must(event.New(eventType, "shop/orders", commandID, ns+"/order-17", "trace-1", at, json.RawMessage(data)))
	}
	plain, dead, parked, topic, request, bytes := sample(), sample(), sample(), sample(), sample(), sample()
	plain.ID, plain.UUID = "order-17", timer.UUIDOf(ns, "order-17")
	plain.Payload, plain.CorrelationID, plain.Attempts = nil, "trace-1", 0
	trace := event.TraceOf(parent, state)
	plain.Headers = trace.Into("")
	dead.Status, dead.Retry.MaxAttemptsDuration = timer.StatusDead, 90*60e9
	dead.Headers = trace.Into("X-Team: billing\nX-Trace: a, b\n")
	parked.Status, parked.LastError, parked.LastStatus = timer.StatusParked, "started 5 times without a result", 0
	topic.Status, topic.Topic, topic.EventKey, topic.LastStatus = timer.StatusDead, "orders.timeouts", "Kundin 7/ä <%>", 0
	topic.LastError = `event to topic "orders.timeouts": no such topic`
	request.Status, request.Deliver, request.Payload = timer.StatusDead, timer.DeliverCallback, []byte("a=ä&b=1")
	request.Request = timer.Request{Method: "PUT", ContentType: "application/x-www-form-urlencoded", Reschedule: true}
	request.ExpireAfter, request.OnDone, request.OnDead = 5*time.Minute, "https://shop.example/done", "https://shop.example/alerts"
	bytes.Status, bytes.Deliver, bytes.Payload = timer.StatusDead, timer.DeliverCallback, []byte{0, 0xff}
	bytes.Request = timer.Request{Method: "POST", ContentType: "application/octet-stream"}
	next := at + 60_000
	result := event.Result{
		Namespace: ns, TimerID: id, Generation: "3706188562493276161", Attempt: 3,
		CorrelationID: sample().Correlation(), ExecuteAt: at - 250, StartedAt: at, FinishedAt: at + 12,
	}
	done, failed := result, result
	done.Outcome, done.StatusCode = "done", 204
	failed.Outcome, failed.NextAt, failed.StatusCode = "failed", &next, 200
	failed.Error, failed.Body = "ok: \"yes\" is not accepted: want true or false", `{"ok":"yes"}`
	applied := event.Answer{
		CommandID: "c-1", Verb: event.VerbCreate, Namespace: ns, TimerID: "order-17", InTime: true,
		Timer: json.RawMessage(`{"namespace":"default","id":"order-17","timerId":"order-17",` +
			`"uuid":"8e9809d4-ae21-5aff-9ed5-448effd60502","status":"scheduled",` +
			`"executeAt":"2026-01-01T00:15:00.250Z","dueAt":"2026-01-01T00:15:00.250Z","deliver":"callback",` +
			`"callbackUrl":"https://shop.example/expire","callbackTimeout":"30s","callbackTimeoutSeconds":30,` +
			`"retryPolicy":{"maxAttempts":4,"maxAttemptsDuration":"0s","initialInterval":"30s","backoffMultiplier":2,"maxInterval":"1h"},` +
			`"payload":{"order":17},` +
			`"correlationId":"trace-1","generation":"3706188562493276161","attempts":0,` +
			`"createdAt":"2026-01-01T00:00:00.250Z","updatedAt":"2026-01-01T00:00:00.250Z"}`),
	}
	replayed := event.Answer{CommandID: "c-3", Verb: event.VerbDelete, Namespace: ns, TimerID: "order-17", Earlier: true}
	refused := event.Answer{
		CommandID: "c-2", Verb: event.VerbUpdate, Namespace: ns, TimerID: "order-17", Error: "TIMER_NOT_FOUND",
		Message: "there is no timer order-17 in namespace default", Details: json.RawMessage(`{"timerId":"order-17"}`),
	}
	unreadable := event.Answer{
		CommandID: "commands/3/1/42", Error: "INVALID_INPUT",
		Message: `message: "{" is not accepted: want a CloudEvent`, Command: "{",
	}
	traced := func(e event.CloudEvent) event.CloudEvent {
		e.Trace = trace
		return e
	}
	return map[string]event.CloudEvent{
		"create": traced(command(event.TypeCreate, "c-1",
			`{"namespace":"default","id":"order-17","executeIn":"15m","callbackUrl":"https://shop.example/expire","payload":{"order":17},"onConflict":"keep","retryPolicy":{"maxAttempts":2},"headers":{"X-Team":"billing"}}`)),
		"update": command(event.TypeUpdate, "c-2",
			`{"namespace":"default","timerId":"order-17","executeAt":"2030-01-31T09:00:00+01:00","payload":null,"callbackTimeout":null}`),
		"create-topic": command(event.TypeCreate, "c-4",
			`{"namespace":"default","id":"order-17","executeIn":"15m","deliver":"event","topic":"orders.timeouts","key":"customer-7"}`),
		"update-topic": command(event.TypeUpdate, "c-5",
			`{"namespace":"default","timerId":"order-17","topic":"orders.reminders","key":null}`),
		"delete": command(event.TypeDelete, "c-3", `{"namespace":"default","timerId":"order-17"}`),
		"pause":  command(event.TypePause, "c-8", `{"namespace":"default","timerId":"order-17","note":"the shop is closed"}`),
		"resume": command(event.TypeResume, "c-9", `{"namespace":"default","timerId":"order-17","overdue":"skip"}`),
		"create-schedule": command(event.TypeCreateSchedule, "c-10", `{"namespace":"default","id":"daily-report",`+
			`"specs":[{"cron":"0 8 * * MON-FRI"}],"timeZone":"Europe/Berlin","exclude":[{"from":"2030-12-24"}],`+
			`"timer":{"callbackUrl":"https://example.com/report","payload":{"kind":"daily"}}}`),
		"update-schedule":   command(event.TypeUpdateSchedule, "c-11", `{"id":"daily-report","overlap":"skip","end":null,"ifVersion":1}`),
		"delete-schedule":   command(event.TypeDeleteSchedule, "c-12", `{"id":"daily-report","pending":"delete"}`),
		"pause-schedule":    command(event.TypePauseSchedule, "c-13", `{"id":"daily-report","note":"the shop is closed"}`),
		"resume-schedule":   command(event.TypeResumeSchedule, "c-14", `{"id":"daily-report"}`),
		"trigger-schedule":  command(event.TypeTriggerSchedule, "c-15", `{"id":"daily-report"}`),
		"backfill-schedule": command(event.TypeBackfillSchedule, "c-16", `{"id":"daily-report","from":"2026-05-04T00:00:00Z","to":"2026-05-06T00:00:00Z"}`),

		"fired":            must(event.Fired(source, sample(), at+3)),
		"fired-plain":      must(event.Fired(source, plain, at+3)),
		"result-done":      must(event.ResultOf(source, plain, &done)),
		"result-failed":    must(event.ResultOf(source, sample(), &failed)),
		"dead":             must(event.NoticeOf(source, dead, at+20)),
		"dead-topic":       must(event.NoticeOf(source, topic, at+20)),
		"dead-request":     must(event.NoticeOf(source, request, at+20)),
		"dead-bytes":       must(event.NoticeOf(source, bytes, at+20)),
		"dead-bytes-large": must(event.NoticeWithoutPayload(source, bytes, at+20)),
		"create-request": command(event.TypeCreate, "c-6",
			`{"namespace":"default","id":"order-17","executeIn":"15m","window":"10m","callbackUrl":"https://shop.example/orders/17","request":{"method":"DELETE","bodyBase64":"AP8=","contentType":"a/b","reschedule":true}}`),
		"update-request": command(event.TypeUpdate, "c-7",
			`{"namespace":"default","timerId":"order-17","executeIn":"15m","window":null,"request":null}`),
		"dead-large":         must(event.NoticeWithoutPayload(source, dead, at+20)),
		"parked":             must(event.NoticeOf(source, parked, at+20)),
		"applied":            traced(must(event.AnswerOf(source, &applied, "trace-1", at+1))),
		"applied-earlier":    must(event.AnswerOf(source, &replayed, "trace-1", at+1)),
		"refused":            must(event.AnswerOf(source, &refused, "trace-1", at+1)),
		"refused-unreadable": must(event.AnswerOf(source, &unreadable, "", at+1)),
	}
}

func TestGoldenPublicMessages(t *testing.T) {
	all := events(t)
	for name, e := range all {
		t.Run(name, func(t *testing.T) {
			v := vector{Structured: encoded(t, &e, event.Structured), Binary: encoded(t, &e, event.Binary)}
			v.Event = json.RawMessage(v.Structured.Body) // repeated for human readers
			pin(t, name+".json", v)
		})
	}
	if *update {
		return
	}
	files, err := filepath.Glob(vectors + "/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file[:len(file)-len(".json")])
		if _, ok := all[name]; !ok && name != "internal" && name != "signatures" { // pkg/webhook has the latter
			t.Errorf("%s pins a message that no test makes", file)
		}
	}
}

func encoded(t *testing.T, e *event.CloudEvent, mode event.Mode) layout {
	t.Helper()
	headers, body, err := e.Encode(mode)
	if err != nil {
		t.Fatal(err)
	}
	again, bodyAgain, err := e.Encode(mode)
	if err != nil || !maps.Equal(headers, again) || !bytes.Equal(body, bodyAgain) {
		t.Errorf("the second encoding differs from the first: %v", err)
	}
	back, err := event.Decode(headers, body)
	if err != nil {
		t.Fatalf("decode what was encoded in mode %d: %v", mode, err)
	}
	if !same(&back, e) {
		t.Errorf("mode %d:\ndecoded %+v\nencoded %+v", mode, back, *e)
	}
	return layout{Headers: headers, Body: string(body)}
}

func same(a, b *event.CloudEvent) bool {
	return a.SpecVersion == b.SpecVersion && a.ID == b.ID && a.Source == b.Source && a.Type == b.Type &&
		a.Subject == b.Subject && a.Time == b.Time && a.DataContentType == b.DataContentType &&
		a.CorrelationID == b.CorrelationID && a.Trace == b.Trace && bytes.Equal(a.Data, b.Data)
}

func TestGoldenInternalMessages(t *testing.T) {
	due := event.Due{
		Shard: 4097, UUID: timer.UUIDOf(ns, id), Revision: 3706188562493276160, Generation: 3706188562493276161,
		Attempt: 3, DueAt: at, ClaimVersion: 7, Owner: timer.UUIDOf("owner", "1"), Sequence: 1 << 40,
		Target: 0x3276d403185d4a1a,
	}
	hint := event.Hint{
		Shard: 4097, UUID: timer.UUIDOf(ns, id), Revision: 3706188562493276160, Generation: 3706188562493276161,
		Attempt: 3, DueAt: at, UpdatedAt: at - 60_000, Target: 0x3276d403185d4a1a,
	}
	early := hint
	early.DueAt, early.UpdatedAt = -1, timer.MinMillis

	gotDue, err := event.UnmarshalDue(event.MarshalDue(due))
	if err != nil || gotDue != due {
		t.Errorf("UnmarshalDue = %+v, %v, want %+v", gotDue, err, due)
	}
	for _, h := range []event.Hint{hint, early} {
		got, err := event.UnmarshalHint(event.MarshalHint(h))
		if err != nil || got != h {
			t.Errorf("UnmarshalHint = %+v, %v, want %+v", got, err, h)
		}
	}
	pin(t, "internal.json", map[string]internalVector{
		"due":  {Fields: due, Hex: hex.EncodeToString(event.MarshalDue(due))},
		"hint": {Fields: hint, Hex: hex.EncodeToString(event.MarshalHint(hint))},
	})
}

// pin compares v with the file, or writes the file if -update is given.
func pin(t *testing.T, name string, v any) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(vectors, name)
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s changed: users read these bytes. If that is meant, write it with -update.\ngot:\n%s\nwant:\n%s", name, b.Bytes(), want)
	}
}

func readVectors(t *testing.T) map[string]vector {
	t.Helper()
	all := map[string]vector{}
	for _, name := range slices.Sorted(maps.Keys(events(t))) {
		raw, err := os.ReadFile(filepath.Join(vectors, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var v vector
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = v
	}
	return all
}
