package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/e2e/internal/record"
)

// collector is an OTLP receiver, which records the spans of the service timerbus.
func collector(t *testing.T) (url string, spans *record.Record[*tracev1.Span]) {
	t.Helper()
	spans = &record.Record[*tracev1.Span]{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		// An export request has the encoding of TracesData.
		var data tracev1.TracesData
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &data) != nil {
			t.Errorf("%s %s: not an export of spans, %v", r.Method, r.URL.Path, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, resource := range data.GetResourceSpans() {
			if !slices.ContainsFunc(resource.GetResource().GetAttributes(), func(a *commonv1.KeyValue) bool {
				return a.GetKey() == "service.name" && a.GetValue().GetStringValue() == "timerbus"
			}) {
				t.Errorf("the resource is %v", resource.GetResource())
			}
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					spans.Add(span)
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, spans
}

// TestOneTimerIsOneTrace: the spans of a timer from its create to its callback, exported to an OTLP receiver, are one trace, and
// the receiver of the callback gets it.
func TestOneTimerIsOneTrace(t *testing.T) {
	t.Parallel()
	url, spans := collector(t)
	w := startOwn(t, harness.WithEnv("TIMERBUS_TRACE_SHARE=1", "OTEL_EXPORTER_OTLP_ENDPOINT="+url, "OTEL_BSP_SCHEDULE_DELAY=100"))
	w.create(t, "traced", 500*time.Millisecond)
	call := w.calls(t, "traced", 1)[0]
	attempt, err := spans.Await(within(t, patience), 1, func(s *tracev1.Span) bool { return s.GetName() == "timer attempt" })
	if err != nil {
		t.Fatal(err)
	}
	trace := attempt[0].GetTraceId()
	all, err := spans.Await(within(t, patience), 6, func(s *tracev1.Span) bool { return slices.Equal(s.GetTraceId(), trace) })
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, s := range all {
		names[string(s.GetSpanId())] = s.GetName()
	}
	var got []string
	var callback *tracev1.Span
	for _, s := range all {
		got = append(got, fmt.Sprintf("%s in %q", s.GetName(), names[string(s.GetParentSpanId())]))
		if s.GetName() == "callback" {
			callback = s
		}
		if s.GetName() == "due" && s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() {
			t.Errorf("due is from %d to %d", s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano())
		}
	}
	slices.Sort(got)
	want := []string{
		`/api/v1/timers/create in ""`, `callback in "timer attempt"`, `due in "timer attempt"`, `outcome in "timer attempt"`, `store in "/api/v1/timers/create"`,
		`timer attempt in "/api/v1/timers/create"`,
	}
	if !slices.Equal(got, want) {
		t.Fatalf("the spans are\n%q, want\n%q", got, want)
	}
	if parent := fmt.Sprintf("00-%x-%x-01", trace, callback.GetSpanId()); call.Header.Get("Traceparent") != parent {
		t.Errorf("the receiver got %q, want %s", call.Header.Get("Traceparent"), parent)
	}
}

// TestNoCollector: a collector that does not answer delays no timer and no stop, and the log names it.
func TestNoCollector(t *testing.T) {
	t.Parallel()
	w := startOwn(t, harness.WithEnv("TIMERBUS_TRACE_SHARE=1", "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_BSP_SCHEDULE_DELAY=100"))
	w.create(t, "traced", 0)
	w.calls(t, "traced", 1)
	begun := time.Now()
	if code, err := w.Stop(within(t, patience)); code != 0 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the stop took %v", took)
	}
	if !strings.Contains(w.Log(), "export spans") {
		t.Error("the log does not say that the export failed")
	}
}
