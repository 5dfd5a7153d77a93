package dispatcher_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/otlp"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

// TestWhatFollowsFromATimerIsInItsTrace: fired event, results and the dead event carry the trace. The callback has it
// in the headers of the timer.
func TestWhatFollowsFromATimerIsInItsTrace(t *testing.T) {
	inWorld(t, func(w *world) {
		trace := event.TraceOf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1")
		w.answer = func(context.Context, call) dispatcher.Answer { return dispatcher.Answer{Status: 410} }
		n := w.start()
		both := func(h timer.Headers) func(*timer.Spec) {
			return func(s *timer.Spec) { s.Deliver, s.Headers = timer.DeliverBoth, h }
		}
		w.put("traced", 10*time.Second, both(trace.Into("")))
		w.put("plain", 10*time.Second, both(""))
		w.pass(11 * time.Second)
		w.wantCalls("traced", 1)
		w.mu.Lock()
		got := map[string]map[bus.Topic]event.Trace{"traced": {}, "plain": {}}
		for _, h := range w.heard {
			got[h.Subject[len("n/"):]][h.topic] = h.Trace
		}
		w.mu.Unlock()
		for _, topic := range []bus.Topic{bus.Fired, bus.Results, bus.Dead} {
			if has, ok := got["traced"][topic]; !ok || has != trace {
				t.Errorf("%s of the traced timer has %+v (there: %v)", topic, has, ok)
			}
			if has, ok := got["plain"][topic]; !ok || has != (event.Trace{}) {
				t.Errorf("%s of the other timer has %+v (there: %v)", topic, has, ok)
			}
		}
		n.end()
	})
}

// TestSpansOfAttempts: an attempt has spans of the time until it began, of the callback and of its outcome. The
// callback gets the trace of its span. An attempt more than an hour after the create has its own trace, which links to the create.
func TestSpansOfAttempts(t *testing.T) {
	inWorld(t, func(w *world) {
		spans := tracetest.NewSpanRecorder()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithSampler(otlp.Sampler(0)))
		trace := event.TraceOf("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1")
		sent := map[string][]event.Trace{}
		n := w.start(func(c *dispatcher.Config) {
			c.Tracer = tracing.New(provider)
			caller := c.Caller
			c.Caller = callerFunc(func(ctx context.Context, r dispatcher.Request) dispatcher.Answer {
				w.mu.Lock()
				sent[r.Timer.ID] = append(sent[r.Timer.ID], r.Trace)
				w.mu.Unlock()
				return caller.Call(ctx, r)
			})
		})
		w.answer = func(_ context.Context, c call) dispatcher.Answer {
			if c.id == "soon" && c.attempt == 1 {
				return dispatcher.Answer{Status: 503}
			}
			return dispatcher.Answer{Status: 200}
		}
		traced := func(s *timer.Spec) { s.Headers = trace.Into("") }
		w.put("soon", time.Minute, traced)
		w.put("later", 2*time.Hour, traced)
		w.put("plain", time.Minute, nil)
		w.pass(3 * time.Hour)
		n.end()

		got := map[string][]string{} // the spans of each trace, below their parents
		ids := map[string]string{"00f067aa0ba902b7": "create"}
		for _, s := range spans.Ended() {
			ids[s.SpanContext().SpanID().String()] = s.Name()
		}
		for _, s := range spans.Ended() {
			in := "own trace"
			if s.SpanContext().TraceID().String() == "4bf92f3577b34da6a3ce929d0e0e4736" {
				in = "trace of the create"
			}
			text := fmt.Sprintf("%s in %s %s", s.Name(), ids[s.Parent().SpanID().String()], s.Status().Code)
			for _, link := range s.Links() {
				text += " linked to " + ids[link.SpanContext.SpanID().String()]
			}
			got[in] = append(got[in], text)
		}
		want := map[string][]string{
			"trace of the create": {
				"due in timer attempt Unset", "callback in timer attempt Error", "outcome in timer attempt Unset",
				"timer attempt in create Unset",
				"due in timer attempt Unset", "callback in timer attempt Unset", "outcome in timer attempt Unset",
				"timer attempt in create Unset",
			},
			"own trace": {
				"due in timer attempt Unset", "callback in timer attempt Unset", "outcome in timer attempt Unset",
				"timer attempt in  Unset linked to create",
			},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("the spans are %q\nwant %q", got, want)
		}
		for _, s := range spans.Ended() {
			if s.Name() != "callback" {
				continue
			}
			parent := fmt.Sprintf("00-%s-%s-01", s.SpanContext().TraceID(), s.SpanContext().SpanID())
			if !slices.ContainsFunc(append(sent["soon"], sent["later"]...), func(t event.Trace) bool { return t.Parent == parent }) {
				t.Errorf("no callback was sent with %s", parent)
			}
		}
		if len(sent["plain"]) != 1 || sent["plain"][0] != (event.Trace{}) {
			t.Errorf("the timer without a trace was sent with %+v", sent["plain"])
		}
	})
}
