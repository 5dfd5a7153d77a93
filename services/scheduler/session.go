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

// session owns one partition. Only the loop goroutine uses the fields from state to reported; open uses them before it begins, and
// Close after it has ended. I/O runs in other goroutines, which return their results as functions for the loop to call.
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
	// sweptAt is when a sweep last completed, and flooredAt when a request for the floor outside a sweep was last answered.
	sweptAt, flooredAt timer.Millis
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
	// layout is the directory's layout when lookForShards last found no missing shard.
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

func newSession(ctx context.Context, s *Service, p shard.Partition, incarnation timer.UUID) *session {
	io, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &session{
		config: &s.config, metrics: s.metrics, partition: p,
		log:    s.config.Logger.With("partition", int(p)),
		outage: s.outage, budget: s.budget, floors: s.floors, sweepSlots: s.sweepSlots,
		owner:      store.Owner{Incarnation: incarnation, Node: s.config.Node},
		state:      partition.New(s.config.limits()),
		fencedAt:   map[shard.ID]timer.Millis{},
		hints:      make(chan event.Hint, s.config.HintQueue),
		results:    make(chan func(timer.Millis), opCount),
		sessionCtx: ctx, ioCtx: io, cancel: cancel,
	}
	now := s.config.Clock()
	o.nextRun[opSweep] = now.Add(s.config.Sweep)
	o.nextRun[opOutbox] = now.Add(s.config.OutboxAfter)
	return o
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

func (o *session) begin() { o.loop.Go(o.run) }

// Deliver queues a hint. It never blocks: hints may be lost.
func (o *session) Deliver(_ context.Context, d *bus.Delivery) error {
	h, err := event.UnmarshalHint(d.Body)
	if err != nil {
		// A hint that cannot be decoded, for example that of a later release, counts as lost. The message key is the
		// shard, so a poll of the shard finds the timer. The hint cannot return to a queue, because hints have none.
		result := "malformed"
		if errors.Is(err, event.ErrUnknown) {
			result = "unknown"
		}
		o.metrics.hints.WithLabelValues(result).Inc()
		id, err := strconv.ParseUint(d.Key, 10, 32)
		if err != nil {
			return nil //nolint:nilerr // the key is not a shard
		}
		h = event.Hint{Shard: shard.ID(id)}
	}
	select {
	case o.hints <- h:
	default:
		o.overflow.Store(true)
		o.metrics.hints.WithLabelValues("dropped").Inc()
	}
	return nil
}

// run is the loop.
func (o *session) run() {
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for {
		stepped := o.config.StoreClock.VirtualStep()
		// With a clock that is ahead, all timers would seem due and all publications lost.
		if !o.config.StoreClock.AwaitTrust(o.sessionCtx) {
			return
		}
		now := o.config.Clock()
		o.act(now)
		o.metrics.show(&o.reported, o.state)
		alarm.Reset(max(0, o.wakeAt(now).Sub(now)))
		select {
		case <-o.sessionCtx.Done():
			return
		case apply := <-o.results:
			apply(o.config.Clock())
		case h := <-o.hints:
			o.hint(h)
		case <-stepped:
		case <-alarm.C:
		}
	}
}

// hint processes one hint and all others that are queued.
func (o *session) hint(h event.Hint) {
	now := o.config.Clock()
	for range cap(o.hints) {
		result := o.state.Hint(now, h)
		if h.Revision != 0 { // otherwise Deliver has counted it
			o.metrics.hints.WithLabelValues(string(result)).Inc()
		}
		if result == partition.HintForeign {
			// A namespace created after the partition was opened, or a shard lost to another owner.
			o.claimWanted = o.claimWanted || !o.recentlyFenced(h.Shard, now)
		}
		select {
		case h = <-o.hints:
		default:
			return
		}
	}
}

// act starts every operation that is due.
func (o *session) act(now timer.Millis) {
	if o.overflow.Swap(false) {
		o.state.HintsLost(now)
	}
	for e := range opCount {
		if !o.running[e] && o.dueAt(e, now) <= now {
			o.start(e, now)
		}
	}
}

// wakeAt returns when act must run next unless something happens earlier, at most a minute ahead.
func (o *session) wakeAt(now timer.Millis) timer.Millis {
	next := now.Add(time.Minute)
	for e := range opCount {
		if !o.running[e] {
			next = min(next, o.dueAt(e, now))
		}
	}
	return next
}

// dueAt returns when an operation that is not running is to run next.
func (o *session) dueAt(e operation, now timer.Millis) timer.Millis {
	switch e {
	case opPublish:
		return max(o.nextRun[e], o.state.NextPublishAt(now, o.budget.Left()))
	case opPoll:
		return max(o.nextRun[e], o.state.PollAt())
	case opFloor:
		return o.floorAt(now)
	case opAdvance:
		if !o.state.Behind() {
			return timer.Never
		}
	case opSweep:
		if o.backoffs[opSweep] == nil {
			return min(o.nextRun[e], max(o.state.SweepBy(), o.sweptAt.Add(minSweepDelay)))
		}
	case opClaim:
		if !o.claimWanted {
			return timer.Never
		}
	case opOutbox:
		return o.outboxAt()
	case opCount:
	}
	return o.nextRun[e]
}

// floorAt returns when to request the ack floor outside sweeps: soon if credit for publications is low, and after a
// failed request when its backoff ends.
func (o *session) floorAt(now timer.Millis) timer.Millis {
	switch {
	case o.budget.Low() && o.state.WantsCredit(now):
		if o.backoffs[opFloor] != nil {
			return o.nextRun[opFloor]
		}
		return o.flooredAt.Add(o.config.QueueAheadFor / 2)
	case o.state.NeedsFloor():
		return o.nextRun[opFloor]
	default:
		return timer.Never
	}
}

// outboxAt returns when to read the outbox next. Its entries come from timers that were in flight, so one read some time
// after the last shard became idle finds them all. Then the owner reads it only as often as it polls, because a
// dispatcher may still work on an event of an earlier owner.
func (o *session) outboxAt() timer.Millis {
	at := o.nextRun[opOutbox]
	since, all := o.state.IdleSince()
	if !all || o.backoffs[opOutbox] != nil || o.outboxReadAt < since.Add(o.config.OutboxAfter) {
		return at
	}
	return max(at, o.outboxReadAt.Add(o.config.HintWindow/2))
}
