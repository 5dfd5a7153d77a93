package scheduler

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestHottestShards: after each minute, the ten shards with the most events of that minute are exported, and no others.
func TestHottestShards(t *testing.T) {
	now := timer.Millis(1_000_000)
	h := newHottest(func() timer.Millis { return now })
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(h)
	exported := func() string {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, family := range families {
			for _, m := range family.GetMetric() {
				all = append(all, fmt.Sprint(m.GetLabel()[0].GetValue(), " ", m.GetLabel()[1].GetValue(), "=", m.GetGauge().GetValue()))
			}
		}
		return strings.Join(all, ", ")
	}
	publish := func(namespace string, id shard.ID, events int) {
		h.add(now, nil)
		for range events {
			h.count(id, namespace)
		}
	}
	want := func(what, want string) {
		t.Helper()
		if got := exported(); got != want {
			t.Errorf("%s: exported %q, want %q", what, got, want)
		}
	}
	publish("a", 7, 3)
	publish("b", 8, 1)
	publish("a", 7, 2)
	want("in the first minute", "")
	now = now.Add(time.Minute)
	publish("b", 8, 4)
	want("in the second minute", "a 7=5, b 8=1")
	now = now.Add(59 * time.Second)
	want("until its end", "a 7=5, b 8=1")
	now = now.Add(time.Second)
	want("in the third minute", "b 8=4")
	for id := range shard.ID(30) {
		publish("many", id, int(id)+1)
	}
	now = now.Add(time.Minute)
	if got := exported(); strings.Count(got, "many") != maxHottest || !strings.Contains(got, "many 29=30") || strings.Contains(got, "many 19=") {
		t.Errorf("of 30 shards: %q", got)
	}
	now = now.Add(2 * time.Minute)
	want("after two minutes without events", "")
	publish("a", 7, 1)
	now = now.Add(-time.Hour)
	publish("a", 7, 1)
	now = now.Add(time.Minute)
	want("after the clock was set back", "a 7=1")
}
