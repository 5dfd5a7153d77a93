package dispatcher

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

// batchWorkers is the number of workers of each batch: while one call is in flight, another batch fills.
const batchWorkers = 2

// Service is one dispatcher process.
type Service struct {
	config    Config
	metrics   *metrics
	outage    *outage.Log
	intake    *intake
	stopwatch timer.Stopwatch

	profiles *profiles

	writes               *batch[*finishJob]
	postponements        *batch[*finishJob]
	fired, results, dead *batch[*publishJob]
	hints                *batch[bus.Message]
	outboxIDs            *batch[store.OutboxID]

	// unknown has an entry for each first byte of a due event. It is true if the unknown version has been logged.
	unknown [256]atomic.Bool

	randomMu sync.Mutex

	schedules schedules

	flowHolder string // identifies this process in the state of flows
	// flowsReadAt is when namespaces were last read because they had no limit for a flow key. Only the checker uses it.
	flowsReadAt map[string]timer.Millis

	writing atomic.Int64 // running calls of flushWrites

	// intakeEnd ends when the intake ends, life when running deliveries must be abandoned. calls lives longer, so that jobs
	// already handed to a batch get their result.
	intakeEnd, life, calls context.Context
	work                   sync.WaitGroup // deliveries, leases, parkings and postponements
}

// New checks the configuration and registers the metrics.
func New(config Config) (*Service, error) {
	if err := config.withDefaults(); err != nil {
		return nil, err
	}
	config.Logger = config.Logger.With("component", "dispatcher")
	s := &Service{
		config: config, intake: newIntake(&config.Limits),
		outage: outage.New(config.Logger, "dispatcher", "operation"), flowsReadAt: map[string]timer.Millis{},
	}
	s.flowHolder = strconv.FormatUint(config.Random(), 36)
	s.profiles = newProfiles(config.Keys, s.newTokens)
	s.metrics = newMetrics(config.Registerer, config.MetricsNamespaces, s.intake.hosts, s.intake.flowCounts)
	s.writes = newBatch(config.Room, config.Batch, s.flushWrites)
	s.postponements = newBatch(config.Room, config.Batch, s.flushPostponements)
	s.fired, s.results, s.dead = s.topicBatch(bus.Fired), s.topicBatch(bus.Results), s.topicBatch(bus.Dead)
	s.hints = newBatch(config.Room, config.Batch, s.flushHints)
	s.outboxIDs = newBatch(config.Room, config.Batch, s.flushOutboxIDs)
	return s, nil
}

// Targets returns the hosts and user topics that a namespace uses in this process, at most limit, in the order of
// admission.CompareHostUses.
func (s *Service) Targets(namespace string, limit int) []api.Target {
	uses := s.intake.hostUses(namespace)
	slices.SortFunc(uses, admission.CompareHostUses)
	uses = uses[:min(len(uses), limit)]
	targets := make([]api.Target, len(uses))
	for i, u := range uses {
		targets[i] = api.Target{Target: u.Name, Concurrency: u.Limit, Running: u.Calls, Waiting: u.Waiting, CircuitOpen: u.Open}
	}
	return targets
}

// returnRowsTimeout bounds how long a stopping service tries to make the timers of the deliveries that it cut off due
// again.
const returnRowsTimeout = time.Second

// Run delivers until ctx ends. Then it waits up to Drain for running deliveries, makes the timers of the remaining ones
// due again, and returns nil. It returns an error if the bus fails permanently. A Service runs once.
func (s *Service) Run(ctx context.Context) error {
	defer s.outage.Stop()
	s.stopwatch = timer.NewStopwatch()
	s.calls = context.WithoutCancel(ctx)
	life, end := context.WithCancel(s.calls)
	defer end()
	s.life = life

	intake, stopIntake := context.WithCancel(ctx)
	defer stopIntake()
	s.intakeEnd = intake
	var batches, loops sync.WaitGroup
	closeBatches := s.startBatches(&batches)
	loops.Go(func() { s.checkLoop(intake) })
	loops.Go(func() { s.purgeHistory(intake) })
	loops.Go(func() { s.refreshNamespaces(intake) })
	drained, allDrained := context.WithCancel(s.calls)
	defer allDrained()
	loops.Go(func() { s.runAging(drained) })
	if s.config.Flows != nil {
		loops.Go(func() { s.runFlows(drained) })
		loops.Go(func() { s.runPermits(drained) })
	}
	loops.Go(func() {
		<-intake.Done()
		if timer.Sleep(drained, s.config.Drain) {
			s.config.Logger.Warn("drain deadline exceeded, canceling deliveries", "deliveries", s.intake.running())
			end()
		}
	})

	// Stop in the order in which a delivery passes through the components: first new deliveries, then running ones,
	// then the batches that write their outcomes.
	s.readNamespaces(ctx) // the limits of namespaces must apply to the first event
	err := s.consume(ctx)
	stopIntake()
	s.intake.step((*admission.Queue).Close)
	<-s.intake.idle
	allDrained()
	loops.Wait()
	s.work.Wait()
	closeBatches()
	batches.Wait()
	s.profiles.close()
	if c, ok := s.config.Caller.(interface{ Close() }); ok {
		c.Close()
	}
	if err == nil && ctx.Err() == nil {
		err = bus.ErrClosed // another component closed the bus: a dispatcher that takes no messages must not look healthy
	}
	if err != nil {
		return fmt.Errorf("consume due events: %w", err)
	}
	return nil
}

// rejoinAfter is how long a dispatcher waits before it takes messages again after it lost the store or the clock.
// Within this time this and other processes write their pending outcomes, so that these timers are not delivered twice.
const rejoinAfter = 500 * time.Millisecond

// consume takes due events until ctx ends, except while the store (I17) or the clock (I8) is lost.
func (s *Service) consume(ctx context.Context) error {
	again := false
	return process.RestartOnSignal(ctx, s.config.Reach.Next, func(ctx context.Context) error {
		return process.RestartOnSignal(ctx, s.config.StoreClock.Next, func(ctx context.Context) error {
			if again && !timer.Sleep(ctx, rejoinAfter) {
				return nil
			}
			again = true
			return s.config.Bus.Consume(ctx, bus.Spec{
				Topic: bus.Due, Group: bus.GroupDispatchers, Mode: bus.Queue,
				MaxInFlight: s.config.MaxInFlight, MaxBytes: s.config.MaxInFlightBytes,
			}, s.open)
		})
	})
}

func (s *Service) startBatches(group *sync.WaitGroup) (closeAll func()) {
	for range batchWorkers {
		group.Go(s.writes.work)
		group.Go(s.fired.work)
		group.Go(s.results.work)
	}
	group.Go(s.postponements.work)
	group.Go(s.dead.work)
	group.Go(s.hints.work)
	group.Go(s.outboxIDs.work)
	return func() {
		s.writes.close()
		s.postponements.close()
		s.fired.close()
		s.results.close()
		s.dead.close()
		s.hints.close()
		s.outboxIDs.close()
	}
}
