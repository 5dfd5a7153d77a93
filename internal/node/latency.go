package node

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// measuredStore measures the frequent calls of schedulers and dispatchers. Ingest measures its writes itself.
type measuredStore struct {
	store.Store
	due, overdue, advance, current, finish prometheus.Observer
}

// measuredBus measures publishes.
type measuredBus struct {
	bus.Bus
	topics map[bus.Topic]prometheus.Observer
	// own is for user topics, whose names are not labels.
	own prometheus.Observer
}

func latencies(registerer prometheus.Registerer, name, help, label string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "timerbus", Name: name, Help: help,
		Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{label})
	registerer.MustRegister(v)
	return v
}

func measureStore(s store.Store, registerer prometheus.Registerer) *measuredStore {
	calls := latencies(registerer, "store_call_seconds",
		"Duration of a call of the store by a scheduler or dispatcher, successful or not.", "call")
	return &measuredStore{
		Store: s, due: calls.WithLabelValues("due"), overdue: calls.WithLabelValues("overdue"),
		advance: calls.WithLabelValues("advance"), current: calls.WithLabelValues("current"),
		finish: calls.WithLabelValues("finish"),
	}
}

func measureBus(b bus.Bus, registerer prometheus.Registerer) *measuredBus {
	publishes := latencies(registerer, "bus_publish_seconds",
		"Duration of a publish, successful or not, by topic; user is for all user topics.", "topic")
	m := &measuredBus{Bus: b, topics: map[bus.Topic]prometheus.Observer{}, own: publishes.WithLabelValues("user")}
	for _, topic := range bus.Topics() {
		m.topics[topic] = publishes.WithLabelValues(string(topic))
	}
	return m
}

func observe(o prometheus.Observer, began time.Time) { o.Observe(time.Since(began).Seconds()) }

// Unwrap returns the store, for store.As.
func (m *measuredStore) Unwrap() store.Store { return m.Store }

// Due implements store.Shards.
func (m *measuredStore) Due(ctx context.Context, q store.DueQuery) ([]store.DueShard, error) {
	defer observe(m.due, time.Now())
	return m.Store.Due(ctx, q)
}

// Overdue implements store.Shards.
func (m *measuredStore) Overdue(ctx context.Context, q store.OverdueQuery) ([]store.OverdueShard, error) {
	defer observe(m.overdue, time.Now())
	return m.Store.Overdue(ctx, q)
}

// Advance implements store.Shards.
func (m *measuredStore) Advance(ctx context.Context, now timer.Millis, items []store.Advance) ([]error, error) {
	defer observe(m.advance, time.Now())
	return m.Store.Advance(ctx, now, items)
}

// Current implements store.Outcomes.
func (m *measuredStore) Current(ctx context.Context, checks []store.Check) ([]store.Checked, error) {
	defer observe(m.current, time.Now())
	return m.Store.Current(ctx, checks)
}

// Finish implements store.Outcomes.
func (m *measuredStore) Finish(ctx context.Context, now timer.Millis, items []store.Finish) ([]error, error) {
	defer observe(m.finish, time.Now())
	return m.Store.Finish(ctx, now, items)
}

// Unwrap returns the bus, for bus.As.
func (m *measuredBus) Unwrap() bus.Bus { return m.Bus }

// Publish implements bus.Bus.
func (m *measuredBus) Publish(ctx context.Context, topic bus.Topic, messages ...bus.Message) ([]bus.Position, error) {
	o := m.topics[topic]
	if o == nil {
		o = m.own
	}
	defer observe(o, time.Now())
	return m.Bus.Publish(ctx, topic, messages...)
}
