package dynamostore_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
)

// gathered returns the sum of a metric over all labels that are not given.
func gathered(t *testing.T, registry *prometheus.Registry, name string, labels ...string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum, found := 0.0, false
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
	metrics:
		for _, m := range f.GetMetric() {
			has := map[string]string{}
			for _, l := range m.GetLabel() {
				has[l.GetName()] = l.GetValue()
			}
			for i := 0; i < len(labels); i += 2 {
				if has[labels[i]] != labels[i+1] {
					continue metrics
				}
			}
			found = true
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	if !found {
		t.Errorf("there is no metric %s %v", name, labels)
	}
	return sum
}

// TestMetricsTellWhatOperatorsWatch: consumed units, throttling, and the size of the largest collection.
func TestMetricsTellWhatOperatorsWatch(t *testing.T) {
	o := theServer(t).database(t)
	var log bytes.Buffer
	o.MaxAttempts, o.Logger = 3, slog.New(slog.NewTextHandler(&log, nil))
	w := hook(&o)
	s := open(t, o)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(s)

	want := func(value float64, name string, labels ...string) {
		t.Helper()
		if got := gathered(t, registry, name, labels...); got != value {
			t.Errorf("%s %v is %g, want %g", name, labels, got, value)
		}
	}
	want(0, "timerbus_dynamodb_throttled_total")
	w.first("UpdateItem", throttle)
	there := made(t, s, putIn(7, "a", present))[0]
	want(1, "timerbus_dynamodb_throttled_total")
	want(1, "timerbus_dynamodb_requests_total", "operation", "UpdateItem")
	want(2, "timerbus_dynamodb_capacity_units_total", "operation", "UpdateItem", "unit", "write") // the row and its index entry

	// A write whose condition fails counts as a request.
	stale := there
	stale.Revision++
	errs, err := s.Finish(t.Context(), present, []store.Finish{finishOf(7, &stale, store.FinishLeased)})
	if err != nil || !errors.Is(errs[0], store.ErrConflict) {
		t.Fatalf("finish: %v, %v", errs, err)
	}
	want(2, "timerbus_dynamodb_requests_total", "operation", "UpdateItem")
	want(2, "timerbus_dynamodb_capacity_units_total", "unit", "write")

	w.on(func(operation, body string) fault {
		if operation == "UpdateItem" && strings.Contains(body, `"ReturnItemCollectionMetrics":"SIZE"`) {
			return estimate
		}
		return pass
	})
	for range 260 { // one of them requests the size
		made(t, s, putIn(7, "a", present))
	}
	want(9<<30, "timerbus_dynamodb_largest_collection_bytes")
	if !strings.Contains(log.String(), "is near its limit") || !strings.Contains(log.String(), "shard=7") {
		t.Errorf("the log does not name the shard:\n%s", log.String())
	}

	w.first("UpdateItem", fill)
	if out, err := s.Write(t.Context(), present, []store.Op{putIn(7, "b", present)}); err != nil || !errors.Is(out[0].Err, dynamostore.ErrCollectionFull) {
		t.Fatal(err, out)
	}
	want(1, "timerbus_dynamodb_collection_full_total")
}
