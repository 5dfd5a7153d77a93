package node

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/outage"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// watchEvery is how old gauges get.
	watchEvery = 15 * time.Second
	// watchTimeout bounds each question to the store.
	watchTimeout = 5 * time.Second
	// clockBound is how far two clocks of a cluster may be apart (rule I8 of docs/design.md).
	clockBound = 250 * time.Millisecond
)

// watch looks at the store now and then: how many timers wait, and whether its clock and ours agree.
type watch struct {
	store  store.Cluster
	census store.Census // nil if the engine cannot count cheaply, or others do
	clock  timer.Clock
	logger *slog.Logger
	outage *outage.Log

	pending, overdue, parked, oldest, offset prometheus.Gauge

	// clockReadAt and timersReadAt are when the gauges were last read, by the monotonic clock; at first when the process
	// started.
	clockReadAt, timersReadAt atomic.Pointer[time.Time]
}

// newWatch makes one that counts only if told: the processes of one role are enough.
func newWatch(s store.Store, counts bool, clock timer.Clock, logger *slog.Logger, registerer prometheus.Registerer) *watch {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "timerbus", Name: name, Help: help})
		registerer.MustRegister(g)
		return g
	}
	logger = logger.With("component", "watch")
	w := &watch{
		store: s, clock: clock, logger: logger,
		outage: outage.New(logger, "store gauges", "operation"),
		offset: gauge("clock_offset_seconds", "The store's clock minus this machine's."),
	}
	started := time.Now()
	w.clockReadAt.Store(&started)
	w.timersReadAt.Store(&started)
	registerer.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "timerbus", Name: "gauges_age_seconds",
		Help: "Time since the gauges that are read from the store (clock offset, timers) were last read; each keeps its last value.",
	}, w.age))
	if counts {
		w.census, _ = store.As[store.Census](s)
	}
	if w.census != nil {
		w.pending = gauge("timers_pending", "Timers that wait for their time or for a retry.")
		w.overdue = gauge("timers_overdue", "Pending timers whose time has passed.")
		w.parked = gauge("timers_parked", "Timers set aside until somebody updates them.")
		w.oldest = gauge("timers_oldest_overdue_seconds", "How long the oldest overdue timer has been due; 0 if none is.")
	}
	return w
}

// run looks at once and then every watchEvery, until ctx ends.
func (w *watch) run(ctx context.Context) error {
	defer w.outage.Stop()
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for {
		w.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

func (w *watch) look(ctx context.Context) {
	w.read(ctx, "read the store's clock", &w.clockReadAt, w.compareClocks)
	if w.census != nil {
		w.read(ctx, "count timers", &w.timersReadAt, w.count)
	}
}

// read sets gauges from the store and notes when. A read that takes longer than watchTimeout has failed, too.
func (w *watch) read(ctx context.Context, operation string, readAt *atomic.Pointer[time.Time], read func(context.Context) error) {
	limited, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	err := read(limited)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		w.outage.Failed(operation, err)
	default:
		now := time.Now()
		readAt.Store(&now)
		w.outage.Worked(operation)
	}
}

// age is how long ago the oldest of the gauges was read.
func (w *watch) age() float64 {
	age := time.Since(*w.clockReadAt.Load())
	if w.census != nil {
		age = max(age, time.Since(*w.timersReadAt.Load()))
	}
	return age.Seconds()
}

func (w *watch) count(ctx context.Context) error {
	now := w.clock()
	counts, err := w.census.Count(ctx, now)
	if err != nil {
		return err
	}
	w.pending.Set(float64(counts.Pending))
	w.overdue.Set(float64(counts.Overdue))
	w.parked.Set(float64(counts.Parked))
	w.oldest.Set(max(0, now.Sub(min(counts.OldestPlannedAt, now)).Seconds()))
	return nil
}

// compareClocks takes the middle of question and answer for when the store read its clock.
func (w *watch) compareClocks(ctx context.Context) error {
	asked := w.clock()
	there, err := w.store.Ping(ctx)
	if err != nil {
		return err
	}
	answered := w.clock()
	offset := there.Sub(asked + (answered-asked)/2)
	w.offset.Set(offset.Seconds())
	// Half of the way is the error of this measure.
	if sure := offset.Abs() - answered.Sub(asked)/2; sure > clockBound {
		w.logger.Error("clocks differ too much: timers may fire early or late", "offset", offset, "bound", clockBound)
	}
	return nil
}
