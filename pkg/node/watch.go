package node

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// watchEvery is how old gauges get.
	watchEvery = 15 * time.Second
	// watchTimeout bounds each question to the store.
	watchTimeout = 5 * time.Second
	// watchRepeat is how often a question that keeps failing is logged.
	watchRepeat = time.Minute
	// clockBound is how far two clocks of a cluster may be apart (rule I8 of docs/design.md).
	clockBound = 250 * time.Millisecond
)

// watch looks at the store now and then: how many timers wait, and whether its clock and ours agree.
type watch struct {
	store  store.Cluster
	census store.Census // nil if the engine cannot count cheaply, or others do
	clock  timer.Clock
	logger *slog.Logger

	pending, overdue, parked, oldest, offset prometheus.Gauge

	// clocks and timers are the two questions. Only run touches them, except for readAt.
	clocks, timers question
}

// question is one read of the store that sets gauges.
type question struct {
	// readAt is when it was last answered, by the monotonic clock; at first when the process started.
	readAt atomic.Pointer[time.Time]
	// failures counts the failures since then; loggedAt is when the last of them was logged.
	failures int
	loggedAt time.Time
}

// newWatch makes one that counts only if told: the processes of one role are enough.
func newWatch(s store.Store, counts bool, clock timer.Clock, logger *slog.Logger, registerer prometheus.Registerer) *watch {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "timerbus", Name: name, Help: help})
		registerer.MustRegister(g)
		return g
	}
	w := &watch{
		store: s, clock: clock, logger: logger.With("component", "watch"),
		offset: gauge("clock_offset_seconds", "The store's clock minus this machine's."),
	}
	started := time.Now()
	w.clocks.readAt.Store(&started)
	w.timers.readAt.Store(&started)
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
	switch failing, err := w.clocks.ask(ctx, w.compareClocks); {
	case err != nil:
		w.logger.Warn("clock of the store not read", "error", err, "failures", failing.count)
	case failing.ended:
		w.logger.Info("clock of the store read again", "failures", failing.count, "after", failing.lasted)
	}
	if w.census == nil {
		return
	}
	switch failing, err := w.timers.ask(ctx, w.count); {
	case err != nil:
		w.logger.Warn("timers not counted", "error", err, "failures", failing.count)
	case failing.ended:
		w.logger.Info("timers counted again", "failures", failing.count, "after", failing.lasted)
	}
}

// outage is what a question's answer adds to a run of failures.
type outage struct {
	count int
	// ended: the question was answered after count failures; lasted is how long it was not.
	ended  bool
	lasted time.Duration
}

// ask asks one question. It returns an error for the first failure of an outage and for one a minute while it lasts. A
// question that takes longer than watchTimeout has failed, too.
func (q *question) ask(ctx context.Context, read func(context.Context) error) (outage, error) {
	limited, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	err := read(limited)
	now := time.Now()
	if ctx.Err() != nil {
		return outage{}, nil
	}
	if err == nil {
		over := outage{count: q.failures, ended: q.failures > 0, lasted: now.Sub(*q.readAt.Load()).Round(time.Second)}
		q.readAt.Store(&now)
		q.failures = 0
		return over, nil
	}
	q.failures++
	if q.failures > 1 && now.Sub(q.loggedAt) < watchRepeat {
		return outage{}, nil
	}
	q.loggedAt = now
	return outage{count: q.failures}, err
}

// age is how long ago the oldest of the gauges was read.
func (w *watch) age() float64 {
	age := time.Since(*w.clocks.readAt.Load())
	if w.census != nil {
		age = max(age, time.Since(*w.timers.readAt.Load()))
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
