package event

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

// standard returns the encoding of a value by encoding/json.
func standard(tb testing.TB, v any) string {
	tb.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "error"
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func appended(v appender) string {
	b, err := v.appendJSON(nil)
	if err != nil {
		return "error"
	}
	return string(b)
}

func holdsAgainst(tb testing.TB, v appender) {
	tb.Helper()
	if got, want := appended(v), standard(tb, v); got != want {
		tb.Errorf("appended %s\nstandard %s", got, want)
	}
}

var awkward = []string{"", "plain", "a\"b\\c", "<&>", "ä€😀", "\u2028 \u2029", "\x00\x1f\x7f", "\xff\xfe", "tab\tline\n"}

func TestAppendedJSONIsThatOfTheStandardLibrary(t *testing.T) {
	next := timer.Millis(1_900_000_000_123)
	for _, text := range awkward {
		for _, at := range []timer.Millis{0, -1, next, timer.MaxMillis, timer.MinMillis, timer.Never} {
			holdsAgainst(t, &Delivery{Namespace: text, TimerID: text, ExecuteAt: at, ScheduledFor: next, Attempt: 3, Payload: json.RawMessage(" {\"a\" : [1, 2 ]} ")})
			holdsAgainst(t, &Delivery{ScheduleID: text, Generation: text, CorrelationID: text, ExecuteAt: next, ScheduledFor: at})
			holdsAgainst(t, &Result{Namespace: text, Outcome: text, Error: text, Body: text, StartedAt: at, NextAt: &next, StatusCode: 503})
			holdsAgainst(t, &Result{TimerID: text, Attempt: -1, FinishedAt: at, ExecuteAt: next, StartedAt: next})
			holdsAgainst(t, &CloudEvent{SpecVersion: "1.0", ID: text, Source: text, Type: text, Subject: text, Time: at, Data: json.RawMessage(`{"x": "<"}`)})
			holdsAgainst(t, &CloudEvent{DataContentType: text, CorrelationID: text, Time: at})
		}
	}
	holdsAgainst(t, &CloudEvent{Data: json.RawMessage(`{broken`)})
}

func FuzzAppendedJSON(f *testing.F) {
	for _, text := range awkward {
		f.Add(text, int64(1_900_000_000_000), []byte(`{"a":[1,"x"]}`))
	}
	f.Fuzz(func(t *testing.T, text string, at int64, payload []byte) {
		if len(payload) == 0 {
			payload = nil
		}
		m := timer.Millis(at)
		holdsAgainst(t, &Delivery{Namespace: text, TimerID: text, ScheduleID: text, ExecuteAt: m, ScheduledFor: 1, Generation: text, CorrelationID: text, Payload: payload})
		holdsAgainst(t, &Result{Namespace: text, Error: text, Body: text, ExecuteAt: m, NextAt: &m})
		holdsAgainst(t, &CloudEvent{ID: text, Subject: text, CorrelationID: text, Time: m, Data: payload})
	})
}

func BenchmarkResult(b *testing.B) {
	r := &Result{
		Namespace: "default", TimerID: "order-184277", Generation: "3981234567890123456", Attempt: 1, CorrelationID: "trace-1",
		Outcome: "done", ExecuteAt: 1_900_000_000_000, StartedAt: 1_900_000_000_001, FinishedAt: 1_900_000_000_002, StatusCode: 200,
	}
	b.ReportAllocs()
	for b.Loop() {
		e, err := New(TypeResult, "timerbus/x", "a_b_1_done", "default/order-184277", "trace-1", r.FinishedAt, r)
		if err == nil {
			_, _, err = e.Encode(Structured)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
