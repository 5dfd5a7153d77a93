package timerbus_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timerbus"
)

// spans receives the spans of a provider when they end.
type spans chan sdktrace.ReadOnlySpan

func (spans) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (s spans) OnEnd(span sdktrace.ReadOnlySpan)              { s <- span }
func (spans) Shutdown(context.Context) error                  { return nil }
func (spans) ForceFlush(context.Context) error                { return nil }

// TestSpansGoToTheProgramsProvider: a timer is one trace at the provider of the program, from the request to the callback.
func TestSpansGoToTheProgramsProvider(t *testing.T) {
	parents := make(chan string, 1)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		parents <- r.Header.Get("Traceparent")
	}))
	defer receiver.Close()
	ended := make(spans, 1000)
	service, _ := start(t, func(o *timerbus.Options) {
		o.Watermill, o.CallbackAllow = timerbus.Watermill{}, "loopback"
		o.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(ended))
	})
	_, err := service.Client().CreateTimer(t.Context(), client.CreateTimerRequest{
		Namespace: "default", ID: "traced", ExecuteIn: "100ms", CallbackURL: receiver.URL,
	})
	if err != nil {
		t.Fatal(err)
	}
	timeout := time.After(patience)
	byTrace := map[string][]string{}
	for {
		select {
		case span := <-ended:
			trace := span.SpanContext().TraceID().String()
			byTrace[trace] = append(byTrace[trace], span.Name())
			if span.Name() != "timer attempt" {
				continue
			}
			for _, name := range []string{"/api/v1/timers/create", "store", "due", "callback", "outcome"} {
				if !slices.Contains(byTrace[trace], name) {
					t.Errorf("the trace of the attempt lacks %q: %v", name, byTrace)
				}
			}
			if parent := <-parents; len(parent) < 36 || parent[3:35] != trace {
				t.Errorf("the receiver got the trace %q, want %s", parent, trace)
			}
			return
		case <-timeout:
			t.Fatalf("no span of an attempt: %v", byTrace)
		}
	}
}
