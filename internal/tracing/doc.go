// Package tracing records the OpenTelemetry spans of timers. It depends on the API of OpenTelemetry only: internal/otlp, which
// only programs import, exports the spans. It may import pkg/timer and internal/event.
package tracing
