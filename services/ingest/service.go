package ingest

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/services/ingest/internal/commit"
	"github.com/timerbus/timerbus/services/ingest/internal/hints"
	"github.com/timerbus/timerbus/services/ingest/internal/quota"
)

// Group is the consumer group of the command topic.
const Group = bus.GroupIngest

// Service is the ingest service of one process.
type Service struct {
	cfg           Config
	metrics       *metrics
	committer     *commit.Committer
	hints         *hints.Publisher
	outage        *outage.Log
	state         atomic.Int32
	readiness     *process.Readiness
	settingsReads settingsReads
	backlog       backlog
	quotas        *quota.Limiter
	outboxState   outboxState
	streams       *streams
}

// The states of a Service.
const (
	idle int32 = iota
	running
	stopped
)

// New checks the configuration and builds the service; nothing runs yet.
func New(cfg Config) (*Service, error) {
	if err := cfg.withDefaults(); err != nil {
		return nil, err
	}
	s := &Service{
		cfg:    cfg,
		outage: outage.New(cfg.Logger, "ingest", "operation"), streams: newStreams(),
	}
	s.readiness = process.NewReadiness(cfg.Clock, cfg.ReadyTimeout, cfg.Logger, s.readinessChecks()...)
	s.backlog.set(math.NaN())
	s.outboxState.set(errOutboxStarting)
	s.quotas = quota.New(quota.Config{
		Count: cfg.Store.CountLive, Timeout: cfg.StoreTimeout,
		Counted: func(err error) { s.recordResult("count timers for quotas", err) },
	})
	s.metrics = newMetrics(cfg.Registerer, func() int { return s.committer.Waiting() }, s.backlog.value, s.streams.count)
	s.registerOutboxMetrics()
	s.hints = hints.New(hints.Config{
		Bus: cfg.Bus, Outage: s.outage,
		Queue: cfg.HintQueue, Batch: cfg.HintBatch, Timeout: cfg.StoreTimeout,
		Published: s.metrics.hints.WithLabelValues("published"),
		Failed:    s.metrics.hints.WithLabelValues("failed"),
		Dropped:   s.metrics.hints.WithLabelValues("dropped"),
	})
	s.committer = commit.New(commit.Config{
		Write: cfg.Store.Write, Now: s.writeNow, After: s.timeAfterWrite, Writers: cfg.Writers,
		BatchOps: cfg.BatchOps, BatchBytes: cfg.BatchBytes,
		QueueOps: cfg.QueueOps, QueueBytes: cfg.QueueBytes,
		Timeout: cfg.StoreTimeout, Committed: s.afterCommit,
		Sizes: s.metrics.commitSizes, Seconds: s.metrics.commitSeconds,
	})
	return s, nil
}

// Run commits the requests of Handler, applies topic commands and the rows of the outbox, refreshes the namespaces, and checks the
// local times once, until ctx ends or the bus fails permanently. Then it accepts no more requests and commands, commits and answers the
// accepted ones, flushes the hints and returns. That takes at most one timeout of the store and one of the bus, and with an outbox one
// timeout of the store for each of the last calls of its database. A Service runs once.
func (s *Service) Run(ctx context.Context) error {
	if !s.state.CompareAndSwap(idle, running) {
		return errors.New("ingest: Run was called before")
	}
	defer s.outage.Stop()
	var commits, publishing sync.WaitGroup
	commits.Go(s.committer.Run)
	publishing.Go(s.hints.Run)

	intake, ctx := errgroup.WithContext(ctx)
	intake.Go(func() error { return s.consume(ctx) })
	intake.Go(func() error { return s.consumeOutbox(ctx) })
	intake.Go(func() error { s.refresh(ctx); return nil })
	intake.Go(func() error { s.checkLocalTimes(ctx); return nil })
	intake.Go(func() error { s.watchBacklog(ctx); return nil })
	intake.Go(func() error { s.quotas.Run(ctx); return nil })
	err := intake.Wait()

	s.state.Store(stopped)
	s.EndStreams()
	s.committer.Stop()
	commits.Wait()
	s.hints.Stop()
	publishing.Wait()
	return err
}

// refresh reads the namespaces periodically, to learn changes by other nodes.
func (s *Service) refresh(ctx context.Context) {
	tick := time.NewTicker(s.cfg.HintWindow / 2)
	defer tick.Stop()
	for {
		s.refreshOnce(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) refreshOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.StoreTimeout)
	defer cancel()
	// An unknown namespace is looked up when a request names it, so after a failure only the settings are older.
	if err := s.cfg.Directory.Refresh(ctx); !errors.Is(err, context.Canceled) {
		s.recordResult("read namespaces", err)
	}
}

// recordResult records the result of an operation that is retried or compensated for if it fails.
func (s *Service) recordResult(operation string, err error, attrs ...any) {
	if err != nil {
		s.outage.Failed(operation, err, attrs...)
	} else {
		s.outage.Succeeded(operation)
	}
}
