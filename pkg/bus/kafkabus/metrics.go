package kafkabus

import "github.com/prometheus/client_golang/prometheus"

func newCommitFailures() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "timerbus", Subsystem: "kafka", Name: "commit_failures_total",
		Help: "Commits of consumed positions that the brokers refused, except during rebalances. They are retried.",
	}, []string{"topic"})
}

var _ prometheus.Collector = (*Bus)(nil)

// Describe implements prometheus.Collector, so that a Bus can be registered directly.
func (b *Bus) Describe(to chan<- *prometheus.Desc) { b.commitFailures.Describe(to) }

// Collect implements prometheus.Collector.
func (b *Bus) Collect(to chan<- prometheus.Metric) { b.commitFailures.Collect(to) }
