package ingest

import (
	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests      *prometheus.CounterVec
	seconds       *prometheus.HistogramVec
	commitSizes   prometheus.Histogram
	commitSeconds prometheus.Histogram
	hints         *prometheus.CounterVec
	commands      *prometheus.CounterVec
	lost          prometheus.Counter
	overQuota     *prometheus.CounterVec
	outboxRows    *prometheus.CounterVec
	streamsEnded  *prometheus.CounterVec
	streamResets  prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer, waiting func() int, backlog, streams func() float64) *metrics {
	const namespace, subsystem = "timerbus", "ingest"
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: name, Help: help,
		}, labels)
	}
	histogram := func(name, help string, buckets []float64) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{
			Namespace: namespace, Subsystem: subsystem, Name: name, Help: help, Buckets: buckets,
		}
	}
	times := []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10}
	m := &metrics{
		requests: counters("requests_total", "HTTP requests answered, by route and status.", "route", "code"),
		seconds: prometheus.NewHistogramVec(histogram("request_seconds",
			"Duration of an HTTP request, from its receipt to its response.", times), []string{"route"}),
		commitSizes: prometheus.NewHistogram(histogram("commit_operations",
			"Operations per write to the store.", prometheus.ExponentialBuckets(1, 2, 10))),
		commitSeconds: prometheus.NewHistogram(histogram("commit_seconds", "Duration of a write to the store.", times)),
		hints:         counters("hints_total", "Hints sent to schedulers, by result.", "result"),
		commands:      counters("commands_total", "Topic commands answered, by result.", "result"),
		overQuota:     counters("over_quota_total", "Creates refused because of a quota of their namespace, by quota.", "quota"),
		outboxRows:    counters("outbox_rows_total", "Rows of the outbox answered, by result.", "result"),
		streamsEnded:  counters("event_streams_ended_total", "Streams of events that have ended, by reason.", "reason"),
		streamResets: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "event_resets_total",
			Help: "Reset events: the client has missed changes and must read everything again.",
		}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "commands_lost_total",
			Help: "Topic commands that the bus removed before they were applied.",
		}),
	}
	left := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "commands_backlog",
		Help: "Topic commands of the whole cluster that are not applied yet; NaN while the bus does not respond.",
	}, backlog)
	depth := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "queue_operations", Help: "Operations queued for the store.",
	}, func() float64 { return float64(waiting()) })
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: subsystem, Name: "event_streams", Help: "Open streams of events.",
	}, streams)
	registerer.MustRegister(m.requests, m.seconds, m.commitSizes, m.commitSeconds, m.hints, m.commands, m.lost, m.overQuota, m.outboxRows,
		m.streamsEnded, m.streamResets, left, depth, open)
	return m
}

// registerOutboxMetrics registers the gauges of the outbox.
func (s *Service) registerOutboxMetrics() {
	const namespace, subsystem = "timerbus", "ingest"
	s.cfg.Registerer.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "outbox_oldest_seconds",
			Help: "Age of the oldest row of the outbox; 0 without rows, NaN without an outbox or while its database does not respond.",
		}, func() float64 { return s.outboxState.age(s.cfg.Clock()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Subsystem: subsystem, Name: "outbox_elected",
			Help: "1 if this process applies the rows of the outbox.",
		}, func() float64 {
			if s.outboxState.elected.Load() {
				return 1
			}
			return 0
		}),
	)
}
