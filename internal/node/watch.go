package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

const (
	// watchInterval is the time from the start of a count of timers to the start of the next, unless the count is slow
	// (countIntervalFactor). It is also the interval of clock reads on a store that charges for reads.
	watchInterval = 15 * time.Second
	// After a successful count, the next one starts countIntervalFactor times its duration after its start, but not
	// before watchInterval and not after maxCountInterval. A count reads every shard that has timers.
	countIntervalFactor = 100
	maxCountInterval    = 45 * time.Second
	// readClockEvery is the interval of clock reads on other stores. A step is noticed within this time and confirmed
	// 250 ms later, which is within the second of I15.
	readClockEvery = 500 * time.Millisecond
	// watchTimeout bounds each request to the store.
	watchTimeout = 5 * time.Second
	// clockWarnEvery is the minimum time between two log lines about a clock difference.
	clockWarnEvery = time.Minute
	// clockBound is how far the clocks of two processes may differ (rule I8 of docs/design.md).
	clockBound = 250 * time.Millisecond
)

// storeWatch synchronizes the process's clock with the store's, and counts the pending timers.
type storeWatch struct {
	store  store.Cluster
	census store.Census // nil if the engine cannot count cheaply, or other processes count
	clock  *store.Clock
	wall   timer.Clock // this machine's wall clock
	// clockEvery is the interval of reads of the store's clock.
	clockEvery time.Duration
	// warnedAt is when a difference of the clocks was last logged.
	warnedAt time.Time
	logger   *slog.Logger
	outage   *outage.Log

	pending, overdue, parked, paused, dead, oldest, offset, clockReadSeconds prometheus.Gauge

	// clockReadAt and timersReadAt are when the gauges were last read, by the monotonic clock; initially when the
	// process started.
	clockReadAt, timersReadAt atomic.Pointer[time.Time]
}

// newStoreWatch returns a watch. It counts timers if counts is true: it is sufficient if the processes of one role
// count.
func newStoreWatch(
	s store.Store, counts bool, clock *store.Clock, wall timer.Clock, logger *slog.Logger, registerer prometheus.Registerer,
) *storeWatch {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "timerbus", Name: name, Help: help})
		registerer.MustRegister(g)
		return g
	}
	logger = logger.With("component", "watch")
	w := &storeWatch{
		store: s, clock: clock, wall: wall, clockEvery: readClockEvery, logger: logger,
		outage: outage.New(logger, "store gauges", "operation"),
		offset: gauge("clock_offset_seconds", "The store's clock, which the process uses, minus this machine's wall clock."),
		clockReadSeconds: gauge("clock_read_seconds",
			"Duration of the last read of the store's clock; a read of 0.25 (the clock bound) or more is not exact enough."),
	}
	if store.AsksByShard(s) {
		w.clockEvery = watchInterval
	}
	started := time.Now()
	w.clockReadAt.Store(&started)
	w.timersReadAt.Store(&started)
	registerer.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "timerbus", Name: "clock_trusted",
		Help: "1 if this process's clock certainly agrees with the store's; while it is 0, no delivery begins.",
	}, func() float64 {
		if clock.Trusted() {
			return 1
		}
		return 0
	}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "timerbus", Name: "clock_error_seconds",
		Help: "Maximum difference between this process's clock and the store's; at 0.125 (half the clock bound) or more it is not trusted.",
	}, func() float64 {
		by, _ := clock.Doubt()
		return by.Seconds()
	}), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "timerbus", Name: "gauges_age_seconds",
		Help: "Time since the gauges that are read from the store (clock offset, timers) were last read; each keeps its last value.",
	}, w.age))
	if counts {
		w.census, _ = store.As[store.Census](s)
	}
	if w.census != nil {
		w.pending = gauge("timers_pending", "Timers that wait for their time or for a retry.")
		w.overdue = gauge("timers_overdue", "Pending timers whose time has passed.")
		w.paused = gauge("timers_paused", "Timers paused until a client resumes them.")
		w.parked = gauge("timers_parked", "Timers parked until they are updated, retried or deleted.")
		w.dead = gauge("timers_dead", "Dead timers that can be retried, up to 100000.")
		w.oldest = gauge("timers_oldest_overdue_seconds", "How long the oldest overdue timer has been due; 0 if none is.")
	}
	return w
}

// run reads the clock every clockEvery and counts timers every watchInterval, or less often, until ctx ends. It starts
// with one of each.
func (w *storeWatch) run(ctx context.Context) error {
	defer w.outage.Stop()
	var loops sync.WaitGroup
	loops.Go(func() {
		w.clock.Run(ctx, w.clockEvery, func(ctx context.Context) {
			w.read(ctx, "read the store's clock", &w.clockReadAt, w.compareClocks)
		})
	})
	if w.census != nil {
		loops.Go(func() { w.countRepeatedly(ctx) })
	}
	loops.Wait()
	return nil
}

// countRepeatedly counts timers until ctx ends. The pause is longer if a count takes long.
func (w *storeWatch) countRepeatedly(ctx context.Context) {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		began, pause := time.Now(), watchInterval
		if w.read(ctx, "count timers", &w.timersReadAt, w.count) {
			pause = max(watchInterval, min(countIntervalFactor*time.Since(began), maxCountInterval))
		}
		t.Reset(pause - time.Since(began))
	}
}

// read calls read, which sets gauges from the store, and records the time if it succeeded. It reports whether it
// succeeded. A read that takes longer than watchTimeout fails.
func (w *storeWatch) read(
	ctx context.Context, operation string, readAt *atomic.Pointer[time.Time], read func(context.Context) error,
) (done bool) {
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
		w.outage.Succeeded(operation)
	}
	return ctx.Err() == nil && err == nil
}

// age returns the time in seconds since the oldest of the gauges was read.
func (w *storeWatch) age() float64 {
	age := time.Since(*w.clockReadAt.Load())
	if w.census != nil {
		age = max(age, time.Since(*w.timersReadAt.Load()))
	}
	return age.Seconds()
}

func (w *storeWatch) count(ctx context.Context) error {
	now := w.clock.Now()
	counts, err := w.census.Count(ctx, now)
	if err != nil {
		return err
	}
	w.pending.Set(float64(counts.Pending))
	w.overdue.Set(float64(counts.Overdue))
	w.parked.Set(float64(counts.Parked))
	w.paused.Set(float64(counts.Paused))
	w.dead.Set(float64(counts.Dead))
	w.oldest.Set(max(0, now.Sub(min(counts.OldestPlannedAt, now)).Seconds()))
	return nil
}

// compareClocks adjusts the process's clock to the store's, and compares the machine's wall clock with it.
func (w *storeWatch) compareClocks(ctx context.Context) error {
	changed, took, err := w.clock.Read(ctx, w.store)
	if err != nil {
		return err
	}
	if changed.Abs() > clockBound {
		w.logger.Warn("store clock was set", "by", changed)
	}
	w.clockReadSeconds.Set(took.Seconds())
	offset := w.clock.Now().Sub(w.wall())
	w.offset.Set(offset.Seconds())
	by, _ := w.clock.Doubt()
	if now := time.Now(); offset.Abs()-by > clockBound && (w.warnedAt.IsZero() || now.Sub(w.warnedAt) >= clockWarnEvery) {
		w.warnedAt = now
		w.logger.Warn("wall clock differs from the store's clock, using the store's clock", "offset", offset, "bound", clockBound)
	}
	return nil
}
