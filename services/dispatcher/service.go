package dispatcher

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/outage"
	"github.com/timerbus/timerbus/pkg/runtime"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
)

// writers is how many workers each batch has: while one call is on its way, another batch gathers.
const writers = 2

// Service is one dispatcher process.
type Service struct {
	config  Config
	metrics *metrics
	outage  *outage.Log
	intake  *intake
	watch   timer.Stopwatch

	profiles *profiles

	finishes             *batch[*finishJob]
	fired, results, dead *batch[*publishJob]
	own                  *outlets
	hints                *batch[bus.Message]
	marks                *batch[store.Mark]

	// unknown has an entry for each first byte of a due event: the line about it has been logged.
	unknown [256]atomic.Bool

	randomMu sync.Mutex

	// life ends when what is under way is to be abandoned; calls outlives it, so that what was handed
	// to a batch is answered.
	life, calls context.Context
	work        sync.WaitGroup // deliveries, leases, parkings and postponements
}

// New checks the configuration and registers the metrics.
func New(config Config) (*Service, error) {
	if err := config.withDefaults(); err != nil {
		return nil, err
	}
	config.Logger = config.Logger.With("component", "dispatcher")
	s := &Service{
		config: config, intake: newIntake(&config.Limits), profiles: newProfiles(config.Keys),
		outage: outage.New(config.Logger, "dispatcher", "operation"),
	}
	s.metrics = newMetrics(config.Registerer, s.intake.hosts)
	s.finishes = newBatch(config.Room, config.Batch, s.flushFinishes)
	s.fired, s.results, s.dead = s.topicBatch(bus.Fired), s.topicBatch(bus.Results), s.topicBatch(bus.Dead)
	s.own = newOutlets(config.Batch, s.publishOwn)
	s.hints = newBatch(config.Room, config.Batch, s.flushHints)
	s.marks = newBatch(config.Room, config.Batch, s.flushMarks)
	return s, nil
}

// returnTimeout bounds how long a stopping service tries to make the timers due again whose deliveries it cut off.
const returnTimeout = time.Second

// Run delivers until ctx ends, then waits up to Drain for running deliveries, makes the timers of the others due again,
// and returns nil. It returns an error if the bus fails permanently. A Service runs once.
func (s *Service) Run(ctx context.Context) error {
	defer s.outage.Stop()
	s.watch = timer.NewStopwatch()
	s.calls = context.WithoutCancel(ctx)
	life, end := context.WithCancel(s.calls)
	defer end()
	s.life = life

	var batches, loops sync.WaitGroup
	closeBatches := s.startBatches(&batches)
	intake, stopIntake := context.WithCancel(ctx)
	defer stopIntake()
	loops.Go(func() { s.checkLoop(intake) })
	loops.Go(func() { s.keepHouse(intake) })
	loops.Go(func() { s.refreshNamespaces(intake) })
	drained, allDrained := context.WithCancel(s.calls)
	defer allDrained()
	loops.Go(func() { s.keep(drained) })
	loops.Go(func() {
		<-intake.Done()
		if sleep(drained, s.config.Drain) {
			s.config.Logger.Warn("drain deadline passed, deliveries are cut off", "deliveries", s.intake.running())
			end()
		}
	})

	// In reverse order of the way of a delivery: no new ones, then those under way, then what carries
	// their outcomes.
	s.readNamespaces(ctx) // their limits hold from the first event on
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
		err = bus.ErrClosed // by somebody else: a dispatcher that takes nothing must not look alive
	}
	if err != nil {
		return fmt.Errorf("consume due events: %w", err)
	}
	return nil
}

// rejoinAfter is how long a dispatcher waits before it takes messages again after the store or the clock was lost. By then the
// outcomes that wait for it are written, also in other processes, so that their timers are not delivered a second time.
const rejoinAfter = 500 * time.Millisecond

// consume takes due events until ctx ends, but not while the store (I17) or the clock (I8) is lost.
func (s *Service) consume(ctx context.Context) error {
	again := false
	return runtime.Rounds(ctx, s.config.Reach.Next, func(ctx context.Context) error {
		return runtime.Rounds(ctx, s.config.StoreClock.Next, func(ctx context.Context) error {
			if again && !sleep(ctx, rejoinAfter) {
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
	for range writers {
		group.Go(s.finishes.work)
		group.Go(s.fired.work)
		group.Go(s.results.work)
	}
	group.Go(s.dead.work)
	group.Go(s.hints.work)
	group.Go(s.marks.work)
	return func() {
		s.finishes.close()
		s.fired.close()
		s.results.close()
		s.dead.close()
		s.hints.close()
		s.marks.close()
	}
}
