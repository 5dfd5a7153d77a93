package node

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestLatencies: each measured call is observed once, under its own name, and reaches the store or the bus.
func TestLatencies(t *testing.T) {
	registry := prometheus.NewRegistry()
	s := measureStore(memstore.NewDatabase().Open(), registry)
	b := measureBus(membus.New(membus.Options{Partitions: 1}).Join("test"), registry)
	want := map[string]uint64{"due": 1, "overdue": 1, "advance": 1, "current": 1, "finish": 1}
	for _, topic := range append(bus.Topics(), bus.Own("orders"), bus.Own("invoices")) {
		_, err := b.Publish(t.Context(), topic, bus.Message{Body: []byte("x")})
		switch known := b.topics[topic] != nil; {
		case known:
			want[string(topic)] = 1
		default:
			want["user"]++
		}
		if (err != nil) != (b.topics[topic] == nil) { // the user topics do not exist
			t.Errorf("publish to %s: %v", topic, err)
		}
	}
	now := timer.SystemClock()
	_, err1 := s.Due(t.Context(), store.DueQuery{})
	_, err2 := s.Overdue(t.Context(), store.OverdueQuery{})
	_, err3 := s.Advance(t.Context(), now, nil)
	_, err4 := s.Current(t.Context(), nil)
	_, err5 := s.Finish(t.Context(), now, nil)
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			t.Error(err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			got[m.GetLabel()[0].GetValue()] = m.GetHistogram().GetSampleCount()
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("observed %v, want %v", got, want)
	}
	if _, ok := store.As[store.Census](s); !ok {
		t.Error("the capabilities of the store are hidden")
	}
	if _, ok := bus.As[bus.TopicMaker](b); !ok {
		t.Error("the capabilities of the bus are hidden")
	}
}
