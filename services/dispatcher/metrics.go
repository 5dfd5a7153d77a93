package dispatcher

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

type metrics struct {
	fires         *prometheus.CounterVec
	namespaces    *namespaceMetrics
	inFlight      prometheus.Gauge
	retries       prometheus.Counter
	dead          prometheus.Counter
	parked        prometheus.Counter
	followUps     prometheus.Counter
	postponed     prometheus.Counter
	duplicates    prometheus.Counter
	stale         prometheus.Counter
	malformed     prometheus.Counter
	unknown       prometheus.Counter
	early         prometheus.Counter
	quarantined   prometheus.Counter
	leases        *prometheus.CounterVec
	failures      *prometheus.CounterVec
	hintsLost     prometheus.Counter
	purged        prometheus.Counter
	hostRefused   *prometheus.CounterVec
	circuits      *prometheus.CounterVec
	policyRefused prometheus.Counter
	hostWaited    prometheus.Counter
	rowsRead      prometheus.Counter
	tokens        *prometheus.CounterVec
	flowRequests  *prometheus.CounterVec
	flowCut       prometheus.Counter
	flowLate      prometheus.Counter
}

func newMetrics(
	registerer prometheus.Registerer, namespaces int, hosts func() admission.HostCounts, flows func() admission.FlowCounts,
) *metrics {
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
		fires: counters("fires_total", "Attempts, by delivery mode (callback, event, both) and outcome.",
			"way", "outcome"),
		namespaces: newNamespaceMetrics(registerer, namespaces),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts(opts("in_flight",
			"Started deliveries whose due event is not acknowledged."))),
		retries:     counter("retries_total", "Failed attempts that will be retried."),
		dead:        counter("dead_total", "Timers that became dead."),
		followUps:   counter("follow_ups_total", "Calls of onDone and onDead URLs that were scheduled."),
		parked:      counter("parked_total", "Timers parked because several starts ended without a result."),
		postponed:   counter("postponed_total", "Timers postponed: their due time was moved without using an attempt."),
		duplicates:  counter("duplicates_dropped_total", "Due events dropped because the delivery of their timer was already running."),
		stale:       counter("stale_dropped_total", "Due events dropped because their row was deleted or has changed."),
		malformed:   counter("malformed_total", "Messages on the due queue that could not be decoded as due events."),
		unknown:     counter("unknown_total", "Returns to the queue of due events that only a later release can deliver."),
		early:       counter("early_total", "Due events that arrived before their due time by more than the clock error bound."),
		quarantined: counter("quarantined_total", "Quarantined deliveries: limited to a group or isolated after starts without a result."),
		leases:      counters("leases_total", "Row leases of long deliveries, including renewals, by result.", "result"),
		failures:    counters("failures_total", "Failed calls to the store and the bus, by operation.", "operation"),
		hintsLost:   counter("hints_dropped_total", "Hints dropped because the buffer was full; polls find the timers later."),
		purged:      counter("history_purged_total", "Expired history rows deleted."),
		hostRefused: counters("host_refused_total",
			"Deliveries postponed because their host had no free permit (saturated), its circuit was open (open), or their flow "+
				"was at its limit (flow).", "reason"),
		circuits: counters("circuits_total",
			"Circuits that opened (the host stopped answering) or closed (it answers again).", "change"),
		hostWaited:    counter("host_waited_total", "Deliveries that were queued in this process for their host."),
		rowsRead:      counter("rows_read_total", "Rows read for deliveries; one per delivery if no row is read again."),
		policyRefused: counter("policy_refused_total", "Callbacks not sent because the egress policy refuses their address."),
		tokens: counters("callback_tokens_total",
			"Requests of tokens for callbacks, by result (issued, refused, unavailable).", "result"),
		flowRequests: counters("flow_requests_total",
			"Requests to the store for slots and permits of flows, by result (granted, failed).", "result"),
		flowLate: counter("flow_late_total",
			"Deliveries postponed because their slot or permit of a flow ended before the request could be sent."),
		flowCut: counter("flow_calls_cut_total", "Callbacks canceled because permits of their flow could not be renewed."),
	}
	for state, count := range map[string]func(admission.FlowCounts) int{
		"used":    func(c admission.FlowCounts) int { return c.Known },
		"waiting": func(c admission.FlowCounts) int { return c.Waiting },
	} {
		o := prometheus.GaugeOpts(opts("flows", "Flows in use in this process (used), and deliveries that wait for theirs (waiting)."))
		o.ConstLabels = prometheus.Labels{"state": state}
		registerer.MustRegister(prometheus.NewGaugeFunc(o, func() float64 { return float64(count(flows())) }))
	}
	for state, count := range map[string]func(admission.HostCounts) int{
		"called": func(c admission.HostCounts) int { return c.Called },
		"queued": func(c admission.HostCounts) int { return c.Queued },
		"open":   func(c admission.HostCounts) int { return c.Open },
	} {
		o := prometheus.GaugeOpts(opts("hosts",
			"Hosts with callbacks in flight (called), with deliveries queued in this process (queued), with an open circuit (open)."))
		o.ConstLabels = prometheus.Labels{"state": state}
		registerer.MustRegister(prometheus.NewGaugeFunc(o, func() float64 { return float64(count(hosts())) }))
	}
	registerer.MustRegister(m.fires, m.inFlight, m.retries, m.dead, m.parked, m.postponed,
		m.duplicates, m.stale, m.malformed, m.unknown, m.early, m.quarantined, m.leases, m.failures, m.hintsLost, m.purged,
		m.followUps, m.hostRefused, m.circuits, m.policyRefused, m.hostWaited, m.rowsRead, m.tokens, m.flowRequests, m.flowCut, m.flowLate)
	return m
}
