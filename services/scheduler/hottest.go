package scheduler

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

const (
	// maxHottest is how many shards a process exports.
	maxHottest = 10
	// hottestWindow is how long events are counted before the counts are exported.
	hottestWindow = time.Minute
)

// hottest counts the due events of each shard, and exports the shards with the most events in the last full window. So the
// number of series is bounded, regardless of the number of shards. Its memory is bounded by the shards that were active in
// two windows.
type hottest struct {
	desc  *prometheus.Desc
	clock timer.Clock

	mu    sync.Mutex
	began timer.Millis // of the current window
	// current counts in this window, last has the counts of the one before.
	current, last map[shard.ID]*shardEvents
}

type shardEvents struct {
	shard     shard.ID
	namespace string
	events    int
}

func newHottest(clock timer.Clock) *hottest {
	return &hottest{
		desc: prometheus.NewDesc("timerbus_scheduler_hottest_shard_events",
			"Due events published in the last full minute, for the 10 shards of this process with the most events.",
			[]string{"shard", "namespace"}, nil),
		clock: clock, began: clock(), current: map[shard.ID]*shardEvents{},
	}
}

// add counts published events.
func (h *hottest) add(now timer.Millis, batch []partition.Outgoing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn(now)
	for i := range batch {
		h.count(batch[i].Row.Ref.Shard, batch[i].Namespace())
	}
}

// count counts one event in the current window. The caller holds the lock.
func (h *hottest) count(id shard.ID, namespace string) {
	counted := h.current[id]
	if counted == nil {
		counted = &shardEvents{shard: id, namespace: namespace}
		h.current[id] = counted
	}
	counted.events++
}

// turn begins a new window if the current one is over. The caller holds the lock.
func (h *hottest) turn(now timer.Millis) {
	switch past := now.Sub(h.began); {
	case past >= 2*hottestWindow || past < 0: // nothing was counted in the last window, or the clock was set back
		h.last, h.current, h.began = nil, map[shard.ID]*shardEvents{}, now
	case past >= hottestWindow:
		h.last, h.current, h.began = h.current, make(map[shard.ID]*shardEvents, len(h.current)), h.began.Add(hottestWindow)
	}
}

// Describe implements prometheus.Collector.
func (h *hottest) Describe(descs chan<- *prometheus.Desc) { descs <- h.desc }

// Collect implements prometheus.Collector.
func (h *hottest) Collect(metrics chan<- prometheus.Metric) {
	h.mu.Lock()
	h.turn(h.clock())
	all := make([]*shardEvents, 0, len(h.last))
	for _, counted := range h.last { // no longer changed
		all = append(all, counted)
	}
	h.mu.Unlock()
	slices.SortFunc(all, func(a, b *shardEvents) int {
		return cmp.Or(cmp.Compare(b.events, a.events), cmp.Compare(a.shard, b.shard))
	})
	for _, counted := range all[:min(len(all), maxHottest)] {
		metrics <- prometheus.MustNewConstMetric(h.desc, prometheus.GaugeValue, float64(counted.events),
			counted.shard.String(), counted.namespace)
	}
}
