package dynamostore

import (
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/shard"
)

// meter is the Observer that updates the metrics.
type meter struct {
	log *slog.Logger

	requests, units *prometheus.CounterVec
	throttled, full prometheus.Counter
	largest         prometheus.Gauge

	mu sync.Mutex
	// sizes are the newest size estimates of collections, in gigabytes.
	sizes map[shard.ID]float64
}

// gigabyte is the unit of DynamoDB's estimates, in bytes.
const gigabyte = 1 << 30

// nearlyFull is the size, in gigabytes, from which a shard is logged. The limit is 10.
const nearlyFull = 8

func newMeter(log *slog.Logger) *meter {
	const namespace, subsystem = "timerbus", "dynamodb"
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}
	}
	return &meter{
		log: log, sizes: map[shard.ID]float64{},
		requests: prometheus.NewCounterVec(counter("requests_total",
			"Requests that DynamoDB answered, including those whose condition failed."), []string{"operation"}),
		units: prometheus.NewCounterVec(counter("capacity_units_total",
			"Consumed capacity units as reported by DynamoDB: read or write units."), []string{"operation", "unit"}),
		throttled: prometheus.NewCounter(counter("throttled_total",
			"Attempts that DynamoDB refused because of a lack of capacity.")),
		full: prometheus.NewCounter(counter("collection_full_total",
			"Writes refused because the item collection of their shard has reached the limit of 10 GB.")),
		largest: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "largest_collection_bytes",
			Help: "Upper bound of the size of the largest item collection that this process has written to.",
		}),
	}
}

// Consumed implements Observer.
func (m *meter) Consumed(operation string, total, _ float64) {
	m.requests.WithLabelValues(operation).Inc()
	m.units.WithLabelValues(operation, unitOf(operation)).Add(total)
}

// unitOf returns the capacity unit of an operation.
func unitOf(operation string) string {
	switch operation {
	case "GetItem", "BatchGetItem", "Query":
		return "read"
	default:
		return "write"
	}
}

// Throttled implements Observer.
func (m *meter) Throttled() { m.throttled.Inc() }

// Collection implements Observer.
func (m *meter) Collection(id shard.ID, gigabytes float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if was := m.sizes[id]; gigabytes >= nearlyFull && gigabytes > was {
		m.log.Warn("item collection is near its limit of 10 GB", "shard", int64(id), "gigabytes", gigabytes)
	}
	m.sizes[id] = gigabytes
	largest := 0.0
	for _, size := range m.sizes {
		largest = max(largest, size)
	}
	m.largest.Set(largest * gigabyte)
}

// CollectionFull implements Observer.
func (m *meter) CollectionFull(shard.ID) { m.full.Inc() }

func (m *meter) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.units, m.throttled, m.full, m.largest}
}

// Describe implements prometheus.Collector, so that a Store can be registered.
func (s *Store) Describe(to chan<- *prometheus.Desc) {
	for _, c := range s.meter.collectors() {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (s *Store) Collect(to chan<- prometheus.Metric) {
	for _, c := range s.meter.collectors() {
		c.Collect(to)
	}
}
