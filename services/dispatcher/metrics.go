package dispatcher

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

type metrics struct {
	fires      *prometheus.CounterVec
	lateness   prometheus.Histogram
	inFlight   prometheus.Gauge
	retries    prometheus.Counter
	dead       prometheus.Counter
	parked     prometheus.Counter
	postponed  prometheus.Counter
	duplicates prometheus.Counter
	stale      prometheus.Counter
	malformed  prometheus.Counter
	unknown    prometheus.Counter
	early      prometheus.Counter
	suspects   prometheus.Counter
	leases     *prometheus.CounterVec
	failures   *prometheus.CounterVec
	hintsLost  prometheus.Counter
	purged     prometheus.Counter
	refused    *prometheus.CounterVec
	circuits   *prometheus.CounterVec
	forbidden  prometheus.Counter
	waited     prometheus.Counter
	rowsRead   prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer, hosts func() admission.HostCounts) *metrics {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "timerbus", Subsystem: "dispatcher", Name: name, Help: help}
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts(opts(name, help)))
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts(opts(name, help)), labels)
	}
	m := &metrics{
		fires: counters("fires_total", "Attempts, by way (callback, event, both) and by what became of them.",
			"way", "outcome"),
		lateness: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: "timerbus", Subsystem: "dispatcher", Name: "lateness_seconds",
			Help:    "How long after its due time a delivery began.",
			Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
		}),
		inFlight:   prometheus.NewGauge(prometheus.GaugeOpts(opts("in_flight", "Deliveries begun and not yet settled."))),
		retries:    counter("retries_total", "Failed attempts that will be tried again."),
		dead:       counter("dead_total", "Timers given up."),
		parked:     counter("parked_total", "Timers set aside after several starts without a result."),
		postponed:  counter("postponed_total", "Due times moved without using an attempt."),
		duplicates: counter("duplicates_dropped_total", "Due events of a delivery that was running already."),
		stale:      counter("stale_dropped_total", "Due events whose row was gone or had changed."),
		malformed:  counter("malformed_total", "Messages on the due queue that were no due events."),
		unknown:    counter("unknown_total", "Due events of a later release returned to the queue, once for each return."),
		early:      counter("early_total", "Due events that came before their time by more than the clock bound."),
		suspects:   counter("suspects_total", "Deliveries that waited for a group, or to be alone, after starts without a result."),
		leases:     counters("leases_total", "Row leases of long deliveries, renewals included, by what became of them.", "result"),
		failures:   counters("failures_total", "Failed calls of store and bus, by operation.", "operation"),
		hintsLost:  counter("hints_dropped_total", "Hints not sent for lack of room; polls make up for them."),
		purged:     counter("history_purged_total", "Expired rows of history removed."),
		refused: counters("host_refused_total",
			"Deliveries postponed because their host had no room (saturated) or did not answer lately (open).", "reason"),
		circuits:  counters("circuits_total", "Hosts that stopped answering (opened) and answered again (closed).", "change"),
		waited:    counter("host_waited_total", "Deliveries that waited here for their host."),
		rowsRead:  counter("rows_read_total", "Rows looked up for deliveries: one for each, unless a row must be looked up again."),
		forbidden: counter("policy_refused_total", "Callbacks not made because their address is not allowed."),
	}
	for state, count := range map[string]func(admission.HostCounts) int{
		"called": func(c admission.HostCounts) int { return c.Called },
		"queued": func(c admission.HostCounts) int { return c.Queued },
		"open":   func(c admission.HostCounts) int { return c.Open },
	} {
		o := prometheus.GaugeOpts(opts("hosts",
			"Hosts with callbacks under way (called), with deliveries waiting here for them (queued), not answering (open)."))
		o.ConstLabels = prometheus.Labels{"state": state}
		registerer.MustRegister(prometheus.NewGaugeFunc(o, func() float64 { return float64(count(hosts())) }))
	}
	registerer.MustRegister(m.fires, m.lateness, m.inFlight, m.retries, m.dead, m.parked, m.postponed,
		m.duplicates, m.stale, m.malformed, m.unknown, m.early, m.suspects, m.leases, m.failures, m.hintsLost, m.purged,
		m.refused, m.circuits, m.forbidden, m.waited, m.rowsRead)
	return m
}
