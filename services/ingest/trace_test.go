package ingest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/otlp"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/services/ingest"
)

const (
	traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	otherParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

// wantTrace checks the stored trace of a timer.
func (w *world) wantTrace(id string, want event.Trace) {
	w.t.Helper()
	row, err := w.row(id)
	if err != nil {
		w.t.Fatal(err)
	}
	if got := event.TraceIn(row.Headers); got != want {
		w.t.Errorf("%s keeps %+v, want %+v", id, got, want)
	}
}

func TestTheTraceOfARequestIsKept(t *testing.T) {
	w := newWorld(t)
	create := func(id, rest string, header ...string) {
		t.Helper()
		w.post("timers/create", `{"id":"`+id+`","executeIn":"1h","callbackUrl":"http://r.test/"`+rest+`}`, header...).must(t, http.StatusOK)
	}
	create("a", "", "traceparent", traceParent, "tracestate", "a=1")
	w.wantTrace("a", event.Trace{Parent: traceParent, State: "a=1"})
	create("b", "")
	w.wantTrace("b", event.Trace{})
	create("c", "", "traceparent", "what is this?")
	w.wantTrace("c", event.Trace{})
	create("d", `,"headers":{"TraceParent":"`+otherParent+`"}`, "traceparent", traceParent)
	w.wantTrace("d", event.Trace{Parent: otherParent})

	update := func(body string) {
		t.Helper()
		w.post("timers/update", body, "traceparent", otherParent).must(t, http.StatusOK)
	}
	update(`{"id":"a","executeIn":"2h"}`)
	w.wantTrace("a", event.Trace{Parent: traceParent, State: "a=1"}) // the trace is a header, and the headers are kept
	update(`{"id":"a","headers":{"X-Team":"billing"}}`)
	w.wantTrace("a", event.Trace{Parent: otherParent})

	w.post("timers/batch-create", `{"timers":[{"id":"e","executeIn":"1h"},{"id":"f","executeIn":"1h"}]}`, "traceparent", traceParent).must(t, http.StatusOK)
	w.wantTrace("e", event.Trace{Parent: traceParent})
	w.wantTrace("f", event.Trace{Parent: traceParent})
}

func TestTheTraceOfACommandIsKeptAndAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		results, dead := w.listen(bus.Results), w.listen(bus.Dead)
		for _, c := range []struct{ id, data string }{
			{"1", `{"id":"a","executeIn":"1h"}`},
			{"2", `{"id":"a","executeIn":"soon"}`},
		} {
			e := event.CloudEvent{
				SpecVersion: "1.0", ID: c.id, Source: "//client", Type: event.TypeCreate, Data: json.RawMessage(c.data),
				Trace: event.Trace{Parent: traceParent, State: "a=1"},
			}
			headers, body, err := e.Encode(event.Structured)
			if err != nil {
				t.Fatal(err)
			}
			w.publish(headers, body)
		}
		for _, answers := range []*tap{results, dead} {
			if a := answers.next(t); a.on.Headers["traceparent"] != traceParent || a.on.Headers["tracestate"] != "a=1" {
				t.Errorf("%s: answered with %v", answers.topic, a.on.Headers)
			}
		}
		w.wantTrace("a", event.Trace{Parent: traceParent, State: "a=1"})
		w.stop()
		results.stop()
		dead.stop()
	})
}

// TestSpansOfRequests: the span of a request or command that creates a timer is stored with the timer, so that its attempts
// continue it. If it is not sampled, the trace of the client is stored, as without a Tracer.
func TestSpansOfRequests(t *testing.T) { synctest.Test(t, testSpansOfRequests) }

func testSpansOfRequests(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	traced := func(share float64) func(*ingest.Config) {
		return func(c *ingest.Config) {
			c.Tracer = tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithSampler(otlp.Sampler(share))))
		}
	}
	w := newWorld(t, traced(1))
	const sampled, parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "b7ad6b7169203331"
	create := func(w *world, path, id, body string, status int, header ...string) {
		t.Helper()
		body = strings.ReplaceAll(body, "TIMER", `{"id":"`+id+`","executeIn":"1h","callbackUrl":"http://r.test/"}`)
		w.post(path, body, header...).must(t, status)
	}
	create(w, "timers/create", "a", "TIMER", http.StatusOK, "traceparent", sampled, "tracestate", "a=1")
	create(w, "timers/batch-create", "b", `{"timers":[TIMER]}`, http.StatusOK)
	create(w, "timers/create", "c", "{}", http.StatusBadRequest)
	create(w, "timers/create", "d", "TIMER", http.StatusOK, "traceparent", otherParent)
	w.wantTrace("d", event.Trace{Parent: otherParent}) // its client does not sample it

	e := event.CloudEvent{
		SpecVersion: "1.0", ID: "1", Source: "//client", Type: event.TypeCreate, Data: json.RawMessage(`{"id":"e","executeIn":"1h"}`),
		Trace: event.Trace{Parent: sampled},
	}
	headers, body, err := e.Encode(event.Structured)
	if err != nil {
		t.Fatal(err)
	}
	results := w.listen(bus.Results)
	w.publish(headers, body)
	results.next(t)
	w.stop()
	results.stop()

	type span struct{ name, parent, status string }
	var got []span
	stored := map[string]string{} // the span of each stored trace
	for _, id := range []string{"a", "b", "e"} {
		row, err := w.row(id)
		if err != nil {
			t.Fatal(err)
		}
		stored[event.TraceIn(row.Headers).Parent] = id
	}
	names := map[string]string{parent: "client"}
	for _, s := range spans.Ended() {
		names[s.SpanContext().SpanID().String()] = s.Name()
	}
	for _, s := range spans.Ended() {
		name := s.Name()
		if id := stored[fmt.Sprintf("00-%s-%s-01", s.SpanContext().TraceID(), s.SpanContext().SpanID())]; id != "" {
			name += " of " + id
		}
		got = append(got, span{name, names[s.Parent().SpanID().String()], s.Status().Code.String()})
	}
	const api = "/api/v1/timers/"
	want := []span{
		{"store", api + "create", "Unset"},
		{api + "create of a", "client", "Unset"},
		{"store", api + "batch-create", "Unset"},
		{api + "batch-create of b", "", "Unset"},
		{api + "create", "", "Unset"}, // refused, which is not an error of the service
		{"store", "command create", "Unset"},
		{"command create of e", "client", "Unset"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the spans are %q\nwant %q", got, want)
	}

	w = newWorld(t, traced(0))
	before := len(spans.Ended())
	create(w, "timers/create", "a", "TIMER", http.StatusOK, "traceparent", otherParent)
	w.wantTrace("a", event.Trace{Parent: otherParent})
	create(w, "timers/create", "b", "TIMER", http.StatusOK)
	w.wantTrace("b", event.Trace{})
	if n := len(spans.Ended()) - before; n != 0 {
		t.Errorf("%d spans with a share of 0", n)
	}
	w.stop()
}
