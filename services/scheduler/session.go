package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/outage"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/budget"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// operation is a kind of I/O operation. At most one operation of each kind runs at a time.
type operation int

const (
	opPublish operation = iota
	opPoll
	opSweep
	opFloor
	opAdvance
	opOutbox
	opClaim
	opCount
)

// session owns one partition. open, the loop and Close use the fields from state to reported one after the other, so no lock is needed.
// I/O runs in other goroutines, which return their results as functions for the loop to call.
type session struct {
	config     *Config
	metrics    *metrics
	log        *slog.Logger
	outage     *outage.Log
	budget     *budget.Budget
	floors     *floors
	sweepSlots chan struct{}
	partition  shard.Partition
	owner      store.Owner

	state *partition.Partition
	// nextRun is when each operation may run next; running marks running operations; backoffs are those of operations
	// that failed last time.
	nextRun  [opCount]timer.Millis
	running  [opCount]bool
	backoffs [opCount]*backoff.ExponentialBackOff
	// sweptAt is when a sweep last completed, and floorReadAt when a request for the floor outside a sweep was last answered.
	sweptAt, floorReadAt timer.Millis
	// hintsMissed: the bus failed when a sweep began, so hints may have been lost.
	hintsMissed bool
	// outboxReadAt is when the outbox of all shards was last read, and outboxPages counts the pages.
	outboxReadAt timer.Millis
	outboxPages  int
	// refusedEntries are the outbox entries that the bus refused last time.
	refusedEntries map[store.OutboxID]bool
	// fencedAt is when a shard was lost, so that it is not claimed again immediately.
	fencedAt map[shard.ID]timer.Millis
	// claimWanted: there may be shards to claim.
	claimWanted bool
	// layout is the result of Directory.Layout when lookForShards last found no missing shard.
	layout uint64
	// closing: no new operation begins.
	closing  bool
	reported gauges

	// hints have no Revision if only the shard is known.
	hints chan event.Hint
	// overflow is set when a hint was dropped because the queue was full.
	overflow atomic.Bool
	results  chan func(now timer.Millis)

	// sessionCtx is the context of the session from the bus. ioCtx lives longer, until Close has flushed.
	sessionCtx context.Context //nolint:containedctx // it ends with the session.
	ioCtx      context.Context //nolint:containedctx // it ends when Close has flushed.
	cancel     context.CancelFunc
	loop       sync.WaitGroup
	workers    sync.WaitGroup
}

func newSession(ctx context.Context, service *Service, p shard.Partition, incarnation timer.UUID) *session {
	io, cancel := context.WithCancel(context.WithoutCancel(ctx))
	config := &service.config
	s := &session{
		config: config, metrics: service.metrics, partition: p,
		log:    config.Logger.With("partition", int(p)),
		outage: service.outage, budget: service.budget, floors: service.floors, sweepSlots: service.sweepSlots,
		owner:      store.Owner{Incarnation: incarnation, Node: config.Node},
		state:      partition.New(config.limits()),
		fencedAt:   map[shard.ID]timer.Millis{},
		hints:      make(chan event.Hint, config.HintQueue),
		results:    make(chan func(timer.Millis), opCount),
		sessionCtx: ctx, ioCtx: io, cancel: cancel,
	}
	now := config.Clock()
	s.nextRun[opSweep] = now.Add(config.Sweep)
	s.nextRun[opOutbox] = now.Add(config.OutboxAfter)
	return s
}

// newBackoff returns the backoff after failures: 250 ms, doubling, at most 10 s. It has no jitter: a process has few
// partitions, and simulations must be repeatable.
func newBackoff() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(250*time.Millisecond), backoff.WithMultiplier(2),
		backoff.WithMaxInterval(10*time.Second), backoff.WithMaxElapsedTime(0),
		backoff.WithRandomizationFactor(0),
	)
}

func (s *session) begin() { s.loop.Go(s.run) }

// Deliver queues a hint. It never blocks: hints may be lost.
func (s *session) Deliver(_ context.Context, d *bus.Delivery) error {
	h, err := event.UnmarshalHint(d.Body)
	if err != nil {
		// A hint that cannot be decoded, for example that of a later release, is replaced by one with only the shard, which is the
		// message key. So a poll finds the timer. The hint cannot be redelivered, because the bus does not queue hints.
		result := "malformed"
		if errors.Is(err, event.ErrUnknown) {
			result = "unknown"
		}
		s.metrics.hints.WithLabelValues(result).Inc()
		id, err := strconv.ParseUint(d.Key, 10, 32)
		if err != nil {
			return nil //nolint:nilerr // the key is not a shard
		}
		h = event.Hint{Shard: shard.ID(id)}
	}
	select {
	case s.hints <- h:
	default:
		s.overflow.Store(true)
		s.metrics.hints.WithLabelValues("dropped").Inc()
	}
	return nil
}

// run is the loop.
func (s *session) run() {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		stepped := s.config.StoreClock.VirtualStep()
		// With a clock that is ahead, all timers would seem due and all publications lost.
		if !s.config.StoreClock.AwaitTrust(s.sessionCtx) {
			return
		}
		now := s.config.Clock()
		s.act(now)
		s.metrics.show(&s.reported, s.state)
		alarm.Reset(max(0, s.wakeAt(now).Sub(now)))
		select {
		case <-s.sessionCtx.Done():
			return
		case apply := <-s.results:
			apply(s.config.Clock())
		case h := <-s.hints:
			s.hint(h)
		case <-stepped:
		case <-alarm.C:
		}
	}
}

// hint processes one hint and all others that are queued.
func (s *session) hint(h event.Hint) {
	now := s.config.Clock()
	for range cap(s.hints) {
		result := s.state.Hint(now, h)
		if h.Revision != 0 { // otherwise Deliver has counted it
			s.metrics.hints.WithLabelValues(string(result)).Inc()
		}
		if result == partition.HintForeign {
			// A namespace created after the partition was opened, or a shard lost to another owner.
			s.claimWanted = s.claimWanted || !s.recentlyFenced(h.Shard, now)
		}
		select {
		case h = <-s.hints:
		default:
			return
		}
	}
}

// act starts every operation that is due.
func (s *session) act(now timer.Millis) {
	if s.overflow.Swap(false) {
		s.state.HintsLost(now)
	}
	for op := range opCount {
		if !s.running[op] && s.runAt(op, now) <= now {
			s.start(op, now)
		}
	}
}

// wakeAt returns when act must run next unless something happens earlier, at most a minute ahead.
func (s *session) wakeAt(now timer.Millis) timer.Millis {
	next := now.Add(time.Minute)
	for op := range opCount {
		if !s.running[op] {
			next = min(next, s.runAt(op, now))
		}
	}
	return next
}

// runAt returns when an operation that is not running is to run next.
func (s *session) runAt(op operation, now timer.Millis) timer.Millis {
	switch op {
	case opPublish:
		return max(s.nextRun[op], s.state.NextPublishAt(now, s.budget.Left()))
	case opPoll:
		return max(s.nextRun[op], s.state.PollAt())
	case opFloor:
		return s.floorAt(now)
	case opAdvance:
		if !s.state.Behind() {
			return timer.Never
		}
	case opSweep:
		if s.backoffs[opSweep] == nil {
			return min(s.nextRun[op], max(s.state.SweepBy(), s.sweptAt.Add(minSweepDelay)))
		}
	case opClaim:
		if !s.claimWanted {
			return timer.Never
		}
	case opOutbox:
		return s.outboxAt()
	case opCount:
	}
	return s.nextRun[op]
}

// floorAt returns when to request the ack floor outside sweeps. If credit is low and wanted, that is QueueAheadFor/2 after the last
// answer; otherwise, if the partition needs the floor, at nextRun; otherwise never. After a failure, it is when the backoff ends.
func (s *session) floorAt(now timer.Millis) timer.Millis {
	switch {
	case s.budget.Low() && s.state.WantsCredit(now):
		if s.backoffs[opFloor] != nil {
			return s.nextRun[opFloor]
		}
		return s.floorReadAt.Add(s.config.QueueAheadFor / 2)
	case s.state.NeedsFloor():
		return s.nextRun[opFloor]
	default:
		return timer.Never
	}
}

// outboxAt returns when to read the outbox next. Its entries come from timers that were in flight, so a read some time
// after the last shard became idle finds them all. Later reads are at least HintWindow/2 apart. They continue because a dispatcher may
// still work on an event of an earlier owner.
func (s *session) outboxAt() timer.Millis {
	at := s.nextRun[opOutbox]
	since, all := s.state.IdleSince()
	if !all || s.backoffs[opOutbox] != nil || s.outboxReadAt < since.Add(s.config.OutboxAfter) {
		return at
	}
	return max(at, s.outboxReadAt.Add(s.config.HintWindow/2))
}
