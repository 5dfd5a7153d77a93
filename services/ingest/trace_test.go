package ingest_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
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
