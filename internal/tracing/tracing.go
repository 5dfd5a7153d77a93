package tracing

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// OneTraceFor is how long after the creation of a timer its attempts belong to the trace of the create. Later attempts
// begin their own traces, which link to the create: many backends do not find or accept spans of one trace that are far apart.
const OneTraceFor = time.Hour

// Tracer starts spans. A nil *Tracer starts none, at no cost.
type Tracer struct{ tracer trace.Tracer }

// New returns a Tracer that records the spans at a provider; nil for nil.
func New(provider trace.TracerProvider) *Tracer {
	if provider == nil {
		return nil
	}
	return &Tracer{tracer: provider.Tracer("github.com/timerbus/timerbus")}
}

// none is a span that records nothing.
var none = trace.SpanFromContext(context.Background())

// Request starts the span of an API request or topic command that came with a trace.
func (t *Tracer) Request(ctx context.Context, kind trace.SpanKind, name string, from event.Trace) (context.Context, trace.Span) {
	if t == nil {
		return ctx, none
	}
	ctx = trace.ContextWithRemoteSpanContext(ctx, parse(from))
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind)) //nolint:spancheck // the caller ends it.
}

// Child starts a span below that of ctx, if that is recorded.
func (t *Tracer) Child(ctx context.Context, kind trace.SpanKind, name string) (context.Context, trace.Span) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, none
	}
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind)) //nolint:spancheck // the caller ends it.
}

// Attempt starts the span of an attempt to deliver a timer, if the timer has a sampled trace. The span begins when the attempt
// was planned; its first child, which ends now, is the time until now: late.
func (t *Tracer) Attempt(ctx context.Context, row *timer.Timer, late time.Duration) (context.Context, trace.Span) {
	if t == nil {
		return ctx, none
	}
	create := parse(event.TraceIn(row.Headers))
	if !create.IsSampled() {
		return ctx, none
	}
	now := time.Now()
	planned := trace.WithTimestamp(now.Add(-late))
	options := []trace.SpanStartOption{
		planned, trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(
			attribute.String("timerbus.timer.generation", row.Generation.String()), attribute.Int("timerbus.attempt", int(row.Attempts)+1)),
	}
	if row.PlannedAt.Sub(row.CreatedAt) > OneTraceFor {
		options = append(options, trace.WithNewRoot(), trace.WithLinks(trace.Link{SpanContext: create}))
	} else {
		ctx = trace.ContextWithRemoteSpanContext(ctx, create)
	}
	ctx, span := t.tracer.Start(ctx, "timer attempt", options...) //nolint:spancheck // the caller ends it.
	SetTimer(ctx, row.Namespace, row.ID)
	_, due := t.tracer.Start(ctx, "due", planned)
	due.End(trace.WithTimestamp(now))
	return ctx, span //nolint:spancheck // as above.
}

// SetTimer names the timer of the span in ctx.
func SetTimer(ctx context.Context, namespace, id string) {
	if span := trace.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.String("timerbus.namespace", namespace), attribute.String("timerbus.timer.id", id))
	}
}

// EndHTTP ends the span of an HTTP request with its status; 0 means that there is no answer. failed is why it failed; empty if
// it did not.
func EndHTTP(span trace.Span, status int, failed string) {
	if status != 0 && span.IsRecording() {
		span.SetAttributes(attribute.Int("http.response.status_code", status))
	}
	End(span, failed)
}

// End ends a span. failed is why its operation failed; empty if it did not.
func End(span trace.Span, failed string) {
	if failed != "" {
		span.SetStatus(codes.Error, failed)
	}
	span.End()
}

// Of returns the trace of the span in ctx if that is recorded, and otherwise the given one.
func Of(ctx context.Context, otherwise event.Trace) event.Trace {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return otherwise
	}
	headers := propagation.HeaderCarrier(http.Header{})
	propagation.TraceContext{}.Inject(ctx, headers)
	return event.TraceOf(headers.Get("traceparent"), headers.Get("tracestate"))
}

func parse(t event.Trace) trace.SpanContext {
	headers := propagation.MapCarrier{"traceparent": t.Parent, "tracestate": t.State}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), headers))
}
