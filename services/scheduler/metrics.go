package scheduler

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

type metrics struct {
	partitions      prometheus.Gauge
	shards          prometheus.Gauge
	armed           prometheus.Gauge
	inFlight        prometheus.Gauge
	idle            prometheus.Gauge
	claims          prometheus.Counter
	fenced          prometheus.Counter
	published       prometheus.Counter
	sweepFinds      prometheus.Counter
	outboxPublished prometheus.Counter
	// outboxRefused counts the outbox entries that the bus refuses.
	outboxRefused *prometheus.CounterVec
	hints         *prometheus.CounterVec
	failures      *prometheus.CounterVec
	lateness      prometheus.Histogram
	hottest       *hottest
}

func newMetrics(registerer prometheus.Registerer, clock timer.Clock) *metrics {
	const namespace, subsystem = "timerbus", "scheduler"
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: name, Help: help,
		})
	}
	counter := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}
	}
	m := &metrics{
		partitions: gauge("partitions", "Partitions this process owns."),
		shards:     gauge("shards", "Shards this process owns."),
		armed:      gauge("armed", "Armed timers: in memory until their due time."),
		inFlight:   gauge("in_flight", "Timers published as due and not yet acknowledged by dispatchers."),
		idle:       gauge("shards_idle", "Idle shards: no timer in them is due soon, so each is read only once per half hint window."),
		claims:     prometheus.NewCounter(counter("claims_total", "Shards claimed.")),
		fenced:     prometheus.NewCounter(counter("fenced_total", "Shards lost to a newer claim.")),
		published:  prometheus.NewCounter(counter("published_total", "Due events published.")),
		sweepFinds: prometheus.NewCounter(counter("sweep_finds_total",
			"Overdue timers that only the sweep found and published.")),
		outboxPublished: prometheus.NewCounter(counter("outbox_published_total",
			"Events of dead and parked timers published by the scheduler because the dispatcher stopped before it published them.")),
		outboxRefused: prometheus.NewCounterVec(counter("outbox_refused_total",
			"Events of dead and parked timers refused by the bus: retried, or dropped as too large even without the payload."),
			[]string{"result"}),
		hints: prometheus.NewCounterVec(counter("hints_total", "Hints received, by result."),
			[]string{"result"}),
		failures: prometheus.NewCounterVec(counter("failures_total", "Failed calls to the store and the bus, by operation."),
			[]string{"operation"}),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "publish_lateness_seconds",
			Help:    "Time from a timer's due time to the publish of its due event.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 2, 5, 10, 60, 600, 3600, 6 * 3600, 24 * 3600},
		}),
		hottest: newHottest(clock),
	}
	for _, result := range []string{"retried", "dropped"} {
		m.outboxRefused.WithLabelValues(result) // so that the first event counts in rates
	}
	registerer.MustRegister(m.partitions, m.shards, m.armed, m.inFlight, m.idle, m.claims, m.fenced, m.published,
		m.sweepFinds, m.outboxPublished, m.outboxRefused, m.hints, m.failures, m.lateness, m.hottest)
	return m
}

// gauges are the values that one session has added to the process's gauges.
type gauges struct{ shards, armed, inFlight, idle int }

// show updates the process's gauges by a session's state.
func (m *metrics) show(shown *gauges, state *partition.Partition) {
	now := gauges{shards: state.Owned(), armed: state.Armed(), inFlight: state.InFlight(), idle: state.Idle()}
	m.shards.Add(float64(now.shards - shown.shards))
	m.armed.Add(float64(now.armed - shown.armed))
	m.inFlight.Add(float64(now.inFlight - shown.inFlight))
	m.idle.Add(float64(now.idle - shown.idle))
	*shown = now
}

// hide removes a session's values from the gauges.
func (m *metrics) hide(shown *gauges) {
	m.shards.Sub(float64(shown.shards))
	m.armed.Sub(float64(shown.armed))
	m.inFlight.Sub(float64(shown.inFlight))
	m.idle.Sub(float64(shown.idle))
	*shown = gauges{}
}
