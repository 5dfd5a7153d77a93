// Package otlp exports the spans of a process with OTLP over HTTP. Only programs import it, so that a program that embeds
// Timerbus does not link the exporter.
package otlp

import (
	"context"
	"fmt"
	"log/slog"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/timerbus/timerbus/internal/outage"
)

// Open returns a provider that records the given share of the requests that come without a trace. The caller must call
// Shutdown, which exports the remaining spans. The variables OTEL_EXPORTER_OTLP_*, OTEL_RESOURCE_ATTRIBUTES,
// OTEL_SERVICE_NAME and OTEL_BSP_* of OpenTelemetry apply.
func Open(ctx context.Context, share float64, version string, logger *slog.Logger) (*sdktrace.TracerProvider, error) {
	to, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the exporter of traces: %w", err)
	}
	described, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(), resource.WithAttributes(
		attribute.String("service.name", "timerbus"), attribute.String("service.version", version),
	), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("attributes of traces (OTEL_RESOURCE_ATTRIBUTES): %w", err)
	}
	exporter := &exporter{SpanExporter: to, outage: outage.New(logger.With("component", "traces"), "traces", "operation")}
	return sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter), sdktrace.WithResource(described), sdktrace.WithSampler(Sampler(share)),
	), nil
}

// exporter logs outages of the collector.
type exporter struct {
	sdktrace.SpanExporter
	outage *outage.Log
}

// ExportSpans implements sdktrace.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err != nil {
		e.outage.Failed("export spans", err)
		return nil // logged here
	}
	e.outage.Succeeded("export spans")
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(ctx context.Context) error {
	e.outage.Stop()
	return e.SpanExporter.Shutdown(ctx)
}

// Sampler samples like the parent of a span, else like the span that it links to, else the given share of traces. So all
// attempts of a timer follow the decision that was made at its create.
func Sampler(share float64) sdktrace.Sampler {
	return linked{sdktrace.ParentBased(sdktrace.TraceIDRatioBased(share))}
}

type linked struct{ sdktrace.Sampler }

// ShouldSample implements sdktrace.Sampler.
func (s linked) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	for _, link := range p.Links {
		if link.SpanContext.IsSampled() {
			return sdktrace.AlwaysSample().ShouldSample(p)
		}
	}
	return s.Sampler.ShouldSample(p)
}
