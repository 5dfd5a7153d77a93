package tracing_test

import (
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/otlp"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	createTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	createSpan  = "00f067aa0ba902b7"
)

// recording returns a Tracer that samples a share of new traces, and its finished spans.
func recording(share float64) (*tracing.Tracer, *tracetest.SpanRecorder) {
	spans := tracetest.NewSpanRecorder()
	return tracing.New(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans), sdktrace.WithSampler(otlp.Sampler(share)))), spans
}

// timerOf returns a timer with a trace, whose attempt was planned some time after its creation.
func timerOf(flags string, plannedAfter time.Duration) *timer.Timer {
	created := timer.SystemClock()
	t := &timer.Timer{Namespace: "n", ID: "a", CreatedAt: created, PlannedAt: created.Add(plannedAfter), Attempts: 2}
	if flags != "" {
		t.Headers = event.TraceOf("00-"+createTrace+"-"+createSpan+"-"+flags, "vendor=1").Into("")
	}
	return t
}

// TestAttempts: attempts within an hour after the create are in its trace. Later ones begin their own trace, with a link to the
// create, and are sampled like the create: no new trace is sampled here.
func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		name         string
		flags        string
		plannedAfter time.Duration
		recorded     bool
		linked       bool
	}{
		{name: "soon", flags: "01", plannedAfter: time.Minute, recorded: true},
		{name: "after an hour", flags: "01", plannedAfter: tracing.OneTraceFor, recorded: true},
		{name: "later", flags: "01", plannedAfter: tracing.OneTraceFor + time.Millisecond, recorded: true, linked: true},
		{name: "not sampled", flags: "00", plannedAfter: time.Minute},
		{name: "not sampled, later", flags: "00", plannedAfter: 2 * tracing.OneTraceFor},
		{name: "without a trace", plannedAfter: time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const late = 3 * time.Second
				tracer, recorded := recording(0)
				now := time.Now()
				ctx, span := tracer.Attempt(t.Context(), timerOf(c.flags, c.plannedAfter), late)
				if _, child := tracer.Child(ctx, trace.SpanKindClient, "callback"); child.IsRecording() != c.recorded {
					t.Errorf("a child is recorded: %v, want %v", child.IsRecording(), c.recorded)
				}
				kept := tracing.Of(ctx, event.Trace{})
				span.End()
				ended := recorded.Ended()
				if !c.recorded {
					if len(ended) != 0 || kept != (event.Trace{}) {
						t.Errorf("%d spans are recorded, the trace is %+v", len(ended), kept)
					}
					return
				}
				if len(ended) != 2 {
					t.Fatalf("%d spans, want due and the attempt", len(ended))
				}
				due, attempt := ended[0], ended[1]
				if due.Parent().SpanID() != attempt.SpanContext().SpanID() || !due.StartTime().Equal(now.Add(-late)) || !due.EndTime().Equal(now) {
					t.Errorf("due is from %v to %v", due.StartTime(), due.EndTime())
				}
				if !attempt.StartTime().Equal(now.Add(-late)) {
					t.Errorf("the attempt begins at %v, %v after its time", attempt.StartTime(), attempt.StartTime().Sub(now.Add(-late)))
				}
				inTrace := attempt.SpanContext().TraceID().String() == createTrace && attempt.Parent().SpanID().String() == createSpan
				linked := len(attempt.Links()) == 1 && attempt.Links()[0].SpanContext.SpanID().String() == createSpan &&
					attempt.Links()[0].SpanContext.TraceID().String() == createTrace && !attempt.Parent().IsValid()
				if inTrace == c.linked || linked != c.linked {
					t.Errorf("in the trace of the create: %v, linked to it: %v", inTrace, linked)
				}
				if kept.Parent[3:35] != attempt.SpanContext().TraceID().String() {
					t.Errorf("its trace is %+v", kept)
				}
			})
		})
	}
}

// TestRequests: a request with a trace is sampled like its sender, others by the share.
func TestRequests(t *testing.T) {
	for _, c := range []struct {
		flags    string
		share    float64
		recorded bool
	}{{"", 1, true}, {"", 0, false}, {"01", 0, true}, {"00", 1, false}} {
		tracer, recorded := recording(c.share)
		from := event.Trace{}
		if c.flags != "" {
			from = event.TraceOf("00-"+createTrace+"-"+createSpan+"-"+c.flags, "vendor=1")
		}
		_, span := tracer.Request(t.Context(), trace.SpanKindServer, "/create", from)
		tracing.EndHTTP(span, 503, "unavailable")
		if c.recorded != (len(recorded.Ended()) == 1) {
			t.Errorf("%+v: %d spans", c, len(recorded.Ended()))
		}
		if c.recorded && c.flags != "" && recorded.Ended()[0].Parent().SpanID().String() != createSpan {
			t.Errorf("%+v: the parent is %s", c, recorded.Ended()[0].Parent().SpanID())
		}
	}
}

// TestTheStateOfATraceIsKept: the tracestate of a client goes on with the span's traceparent.
func TestTheStateOfATraceIsKept(t *testing.T) {
	tracer, _ := recording(0)
	from := event.TraceOf("00-"+createTrace+"-"+createSpan+"-01", "vendor=1")
	ctx, span := tracer.Request(t.Context(), trace.SpanKindServer, "/create", from)
	defer span.End()
	got := tracing.Of(ctx, from)
	want := "00-" + createTrace + "-" + span.SpanContext().SpanID().String() + "-01"
	if got.Parent != want || got.State != "vendor=1" || span.SpanContext().SpanID().String() == createSpan {
		t.Errorf("the trace is %+v, want %s", got, want)
	}
}

// TestNoTracerCostsNothing: without a Tracer nothing is allocated.
func TestNoTracerCostsNothing(t *testing.T) {
	tracer := tracing.New(nil)
	row, ctx := timerOf("01", time.Minute), t.Context()
	allocations := testing.AllocsPerRun(100, func() {
		ctx, span := tracer.Request(ctx, trace.SpanKindServer, "/create", event.Trace{})
		tracing.SetTimer(ctx, "n", "a")
		_ = tracing.Of(ctx, event.Trace{})
		ctx, attempt := tracer.Attempt(ctx, row, time.Second)
		_, child := tracer.Child(ctx, trace.SpanKindClient, "callback")
		tracing.EndHTTP(child, 503, "unavailable")
		attempt.End()
		tracing.EndHTTP(span, 200, "")
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
