package scheduler_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/services/scheduler"
)

// gauge returns the sum of a metric's series, and their number.
func gauge(t *testing.T, registry *prometheus.Registry, name string) (sum float64, series int) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "timerbus_scheduler_"+name {
			for _, m := range family.GetMetric() {
				sum += m.GetGauge().GetValue()
				series++
			}
		}
	}
	return sum, series
}

// Each scheduler exports the shards that it owns, so that the sum over the processes is the number of shards, and the
// events of its hottest shards.
func TestShardMetrics(t *testing.T) {
	inWorld(t, func(w *world) {
		registries := map[string]*prometheus.Registry{"a": prometheus.NewRegistry(), "b": prometheus.NewRegistry()}
		metered := func(name string) func(*scheduler.Config) {
			return func(c *scheduler.Config) { c.Registerer = registries[name] }
		}
		const total = partitions // each namespace of a world has a shard in each partition
		a := w.start("a", metered("a"))
		w.pass(time.Second)
		if owned, _ := gauge(t, registries["a"], "shards"); owned != total {
			t.Errorf("one scheduler owns %v of %v shards", owned, total)
		}
		b := w.start("b", metered("b"))
		w.pass(10 * time.Second)
		ofA, _ := gauge(t, registries["a"], "shards")
		ofB, _ := gauge(t, registries["b"], "shards")
		if ofA == 0 || ofB == 0 || ofA+ofB != total {
			t.Errorf("two schedulers own %v and %v of %v shards", ofA, ofB, total)
		}
		w.pass(time.Minute) // a new window has begun
		const timers = 20
		w.many(timers, time.Second, true)
		w.pass(time.Minute)
		var events float64
		for _, registry := range registries {
			n, _ := gauge(t, registry, "hottest_shard_events")
			events += n
		}
		if events != timers {
			t.Errorf("the hottest shards have %v events, want %v", events, timers)
		}
		a.end()
		b.end()
		if owned, _ := gauge(t, registries["b"], "shards"); owned != 0 {
			t.Errorf("a stopped scheduler owns %v shards", owned)
		}
	})
}
