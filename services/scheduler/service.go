package scheduler

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/budget"
)

// Service is one scheduler process.
type Service struct {
	config  Config
	metrics *metrics
	outage  *outage.Log
	budget  *budget.Budget
	floors  *floors
	// sweepSlots has an element for each page of a sweep that is being read.
	sweepSlots chan struct{}
}

// maxConcurrentSweeps bounds the pages of sweeps that a process reads concurrently.
const maxConcurrentSweeps = 2

// New checks the configuration and registers the metrics.
func New(config Config) (*Service, error) {
	if err := config.withDefaults(); err != nil {
		return nil, err
	}
	config.Logger = config.Logger.With("component", "scheduler")
	return &Service{
		config: config, metrics: newMetrics(config.Registerer, config.Clock), outage: outage.New(config.Logger, "scheduler", "operation"),
		budget: budget.New(config.QueueAhead, config.QueueDepth, config.QueueAheadFor, config.LocalQueue != nil), floors: newFloors(),
		sweepSlots: make(chan struct{}, maxConcurrentSweeps),
	}, nil
}

// Run owns partitions until ctx ends, releases them in an orderly way and returns nil. It returns an error if the bus
// fails permanently.
func (s *Service) Run(ctx context.Context) error {
	defer s.outage.Stop()
	if err := s.firstRefresh(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var refresher sync.WaitGroup
	refresher.Go(func() { s.refresh(ctx) })
	defer refresher.Wait()
	defer cancel()
	// I17: while this process does not reach the store, other processes own the partitions.
	err := process.RestartOnSignal(ctx, s.config.Reach.Next, func(ctx context.Context) error {
		// I15: sessions plan by the clock, so they are opened again after it was corrected. While it is not trusted,
		// other processes own the partitions.
		return process.RestartOnSignal(ctx, s.config.StoreClock.NextPlan, func(ctx context.Context) error {
			return s.config.Bus.Consume(ctx, bus.Spec{
				Topic: bus.Shards, Group: bus.GroupSchedulers, Mode: bus.Live,
			}, func(ctx context.Context, p shard.Partition) (bus.Session, error) { return s.open(ctx, p) })
		})
	})
	if err != nil {
		return fmt.Errorf("consume hints: %w", err)
	}
	return nil
}

// firstRefresh reads the namespaces, and retries while the store is unavailable.
func (s *Service) firstRefresh(ctx context.Context) error {
	pause := newBackoff()
	for {
		err := s.readNamespaces(ctx)
		if err == nil {
			s.outage.Succeeded("read namespaces")
			return nil
		}
		if ctx.Err() == nil && !store.IsTransient(err) && !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("read namespaces: %w", err)
		}
		s.outage.Failed("read namespaces", err)
		if !timer.Sleep(ctx, pause.NextBackOff()) {
			return nil
		}
	}
}

// refresh reads the namespaces every half hint window, so that shards of new namespaces are claimed even if all hints
// for them were lost.
func (s *Service) refresh(ctx context.Context) {
	for timer.Sleep(ctx, s.config.HintWindow/2) {
		s.recordResult(ctx, "read namespaces", s.readNamespaces(ctx))
		// Sessions that were lost in an outage of the bus report nothing more.
		s.recordResult(ctx, consumeOperation, s.config.Bus.Ready(bus.Shards, bus.GroupSchedulers))
	}
}

// recordResult records the result of a repeated operation, unless the service ends.
func (s *Service) recordResult(ctx context.Context, operation string, err error) {
	switch {
	case err == nil:
		s.outage.Succeeded(operation)
	case ctx.Err() == nil:
		s.outage.Failed(operation, err)
	}
}

func (s *Service) readNamespaces(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	return s.config.Directory.Refresh(ctx)
}

// open claims the partition's shards and starts its loop. Hints that arrive before it returns wait in the bus's
// subscription.
func (s *Service) open(ctx context.Context, p shard.Partition) (*session, error) {
	if err := s.readNamespaces(ctx); err != nil {
		return nil, fmt.Errorf("open partition %d: read namespaces: %w", p, err)
	}
	o := newSession(ctx, s, p, s.incarnation())
	claims, err := o.claim(ctx, o.missing(s.config.Clock()))
	if err != nil {
		o.cancel()
		return nil, fmt.Errorf("open partition %d: %w", p, err)
	}
	o.addClaims(claims)
	s.metrics.partitions.Inc()
	s.budget.AddPartition()
	s.config.Logger.Debug("partition opened", "partition", int(p), "shards", len(claims.answers))
	o.begin()
	return o, nil
}

// incarnation returns a random owner id.
func (s *Service) incarnation() timer.UUID {
	var u timer.UUID
	binary.BigEndian.PutUint64(u[:8], s.config.Random())
	binary.BigEndian.PutUint64(u[8:], s.config.Random())
	return u
}
