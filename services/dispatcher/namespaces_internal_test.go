package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/egress"
)

// series returns the sum of the values of a metric for each value of a label: of a histogram the number of observations.
func series(t *testing.T, registry *prometheus.Registry, name, label string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "timerbus_dispatcher_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, pair := range m.GetLabel() {
				if pair.GetName() == label {
					found[pair.GetValue()] += m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
				}
			}
		}
	}
	return found
}

// TestNamespaceLabelIsBounded: the first namespaces have separate series, and all others share one. A namespace with the name other uses
// the shared series, and does not count towards the limit.
func TestNamespaceLabelIsBounded(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := newNamespaceMetrics(registry, 2)
	for _, first := range []string{otherNamespaces, "a", "b", "c"} {
		m.of(first).lateness.Observe(1)
	}
	var users sync.WaitGroup
	for i := range 100 {
		users.Go(func() { m.of(fmt.Sprint("n", i)).called(&Answer{Status: 200}, time.Second) })
		users.Go(func() { m.of("b").called(&Answer{Status: 200}, time.Second) })
	}
	users.Wait()
	want := map[string]float64{"a": 1, "b": 1, otherNamespaces: 2}
	if got := series(t, registry, "lateness_seconds", "namespace"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("lateness %v, want %v", got, want)
	}
	want = map[string]float64{"a": 0, "b": 100, otherNamespaces: 100}
	for _, metric := range []string{"callbacks_total", "callback_seconds"} {
		if got := series(t, registry, metric, "namespace"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s %v, want %v", metric, got, want)
		}
	}
}

func TestNamespaceLabelIsBoundedWhenNamespacesComeAtOnce(t *testing.T) {
	const limit = 10
	registry := prometheus.NewRegistry()
	m := newNamespaceMetrics(registry, limit)
	var users sync.WaitGroup
	for i := range 200 {
		users.Go(func() { m.of(fmt.Sprint("n", i%50)).lateness.Observe(1) })
	}
	users.Wait()
	total := 0.0
	got := series(t, registry, "lateness_seconds", "namespace")
	for _, n := range got {
		total += n
	}
	if len(got) != limit+1 || total != 200 {
		t.Errorf("%d values with %v observations, want %d with 200: %v", len(got), total, limit+1, got)
	}
}

func TestCallbackResults(t *testing.T) {
	registry := prometheus.NewRegistry()
	d := newNamespaceMetrics(registry, 1).of("n")
	timeout := fmt.Errorf("read the answer: %w", context.DeadlineExceeded)
	answers := map[string][]Answer{
		"2xx": {{Status: 200}, {Status: 299}}, "3xx": {{Status: 302}}, "4xx": {{Status: 404}, {Status: 499}}, "5xx": {{Status: 500}, {Status: 599}},
		"timeout":  {{Err: timeout}, {Status: 200, Err: timeout}},
		"not_sent": {{Err: egress.ErrRefused}, {Err: egress.ErrRefusedURL}},
		"failed":   {{Err: errors.New("connection refused")}, {Status: 200, Err: errors.New("body incomplete")}, {Status: 999}, {Status: 199}},
	}
	want, sent := map[string]float64{}, 0
	for name, all := range answers {
		want[name] = float64(len(all))
		for i := range all {
			d.called(&all[i], time.Second)
		}
		if name != "not_sent" {
			sent += len(all)
		}
	}
	got := series(t, registry, "callbacks_total", "result")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("results %v, want %v", got, want)
	}
	if took := series(t, registry, "callback_seconds", "namespace")["n"]; took != float64(sent) {
		t.Errorf("%v durations, want %d: callbacks that were not sent have none", took, sent)
	}
}

// TestMetricsOfADeliveryAllocateNothing, also those of the namespaces that share a value.
func TestMetricsOfADeliveryAllocateNothing(t *testing.T) {
	m := newNamespaceMetrics(prometheus.NewRegistry(), 1)
	answer := Answer{Status: 200}
	for _, namespace := range []string{"first", "second"} {
		record := func() {
			m.of(namespace).lateness.Observe(.1)
			m.of(namespace).called(&answer, time.Second)
		}
		if n := testing.AllocsPerRun(1000, record); n != 0 {
			t.Errorf("%s: %v allocations", namespace, n)
		}
	}
}

func BenchmarkNamespaceMetrics(b *testing.B) {
	m := newNamespaceMetrics(prometheus.NewRegistry(), 50)
	var names []string
	for i := range 100 { // half of them share a value
		names = append(names, fmt.Sprint("namespace-", i))
	}
	answer := Answer{Status: 200}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for i := 0; p.Next(); i++ {
			m.of(names[i%len(names)]).lateness.Observe(.1)
			m.of(names[i%len(names)]).called(&answer, time.Millisecond)
		}
	})
}
