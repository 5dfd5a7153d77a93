package dispatcher

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// otherNamespaces is the value of the label namespace for all namespaces without an own value.
const otherNamespaces = "other"

// result is a class of callback results, an index of resultNames.
type result int

const (
	resultFailed result = iota
	resultTimeout
	resultNotSent
	result2xx
)

// resultCount: 3xx, 4xx and 5xx follow 2xx.
const resultCount = result2xx + 4

var resultNames = [resultCount]string{"failed", "timeout", "not_sent", "2xx", "3xx", "4xx", "5xx"}

// resultOf returns the class of an answer.
func resultOf(a *Answer) result {
	switch {
	case a.RefusedByPolicy():
		return resultNotSent
	case errors.Is(a.Err, context.DeadlineExceeded):
		return resultTimeout
	case a.Err != nil || a.Status < 200 || a.Status > 599:
		return resultFailed
	default:
		return result2xx + result(a.Status/100-2)
	}
}

// namespaceMetrics are the metrics with the label namespace. The first limit namespaces that a process delivers for have a
// separate value until the process ends; all others have the value "other". So the number of series is bounded, regardless of the
// number of namespaces.
type namespaceMetrics struct {
	limit     int
	lateness  *prometheus.HistogramVec
	duration  *prometheus.HistogramVec
	callbacks *prometheus.CounterVec

	other *deliveryMetrics
	// known is replaced by a copy when a namespace is added, so that deliveries read it without a lock.
	known atomic.Pointer[map[string]*deliveryMetrics]
	mu    sync.Mutex // serialises additions
}

// deliveryMetrics are the metrics of one value of the label.
type deliveryMetrics struct {
	lateness, duration prometheus.Observer
	callbacks          [resultCount]prometheus.Counter
}

func newNamespaceMetrics(registerer prometheus.Registerer, limit int) *namespaceMetrics {
	histogram := func(name, help string, buckets ...float64) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "timerbus", Subsystem: "dispatcher", Name: name, Help: help, Buckets: buckets,
		}, []string{"namespace"})
	}
	m := &namespaceMetrics{
		limit: limit,
		lateness: histogram("lateness_seconds",
			"Time from the planned time of an attempt (the first: executeAt) to its start, regardless of postponements.",
			.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 4*3600, 12*3600, 24*3600),
		duration: histogram("callback_seconds", "Duration of a callback, from the connection to the end of the answer.",
			.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300),
		callbacks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "timerbus", Subsystem: "dispatcher", Name: "callbacks_total",
			Help: "Callbacks, by result: the class of the status, timeout, failed (no connection, or no complete answer), " +
				"or not_sent (the egress policy refuses the address).",
		}, []string{"namespace", "result"}),
	}
	registerer.MustRegister(m.lateness, m.duration, m.callbacks)
	m.other = m.label(otherNamespaces)
	m.known.Store(&map[string]*deliveryMetrics{otherNamespaces: m.other})
	return m
}

// called records a callback.
func (d *deliveryMetrics) called(a *Answer, took time.Duration) {
	r := resultOf(a)
	d.callbacks[r].Inc()
	if r != resultNotSent {
		d.duration.Observe(took.Seconds())
	}
}

// of returns the metrics of a namespace.
func (m *namespaceMetrics) of(namespace string) *deliveryMetrics {
	known := *m.known.Load()
	if found, ok := known[namespace]; ok {
		return found
	}
	if len(known) > m.limit { // it also has "other"
		return m.other
	}
	return m.add(namespace)
}

func (m *namespaceMetrics) add(namespace string) *deliveryMetrics {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := *m.known.Load()
	if found, ok := known[namespace]; ok {
		return found
	}
	if len(known) > m.limit {
		return m.other
	}
	known = maps.Clone(known)
	known[namespace] = m.label(namespace)
	m.known.Store(&known)
	return known[namespace]
}

// label creates the series of one value, so that the first event of each counts in rates.
func (m *namespaceMetrics) label(value string) *deliveryMetrics {
	d := &deliveryMetrics{lateness: m.lateness.WithLabelValues(value), duration: m.duration.WithLabelValues(value)}
	for r, name := range resultNames {
		d.callbacks[r] = m.callbacks.WithLabelValues(value, name)
	}
	return d
}
