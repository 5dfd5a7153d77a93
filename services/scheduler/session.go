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

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/outage"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/budget"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// effect is a kind of I/O. Of each kind, one runs at a time.
type effect int

const (
	effectPublish effect = iota
	effectPoll
	effectSweep
	effectFloor
	effectAdvance
	effectAnnounce
	effectClaim
	effects
)

// session owns one partition. The loop goroutine alone touches state and what stands below it; I/O runs in
// goroutines of its own, which hand what they learned back as functions for the loop to call.
type session struct {
	config    *Config
	metrics   *metrics
	log       *slog.Logger
	outage    *outage.Log
	budget    *budget.Budget
	floors    *floors
	sweeps    chan struct{}
	partition shard.Partition
	owner     store.Owner

	state *partition.Partition
	// at is when each effect may run next; running marks those under way; pauses are the back-offs of
	// those that failed the last time.
	at      [effects]timer.Millis
	running [effects]bool
	pauses  [effects]*backoff.ExponentialBackOff
	// sweptAt is when the last sweep ended, and flooredAt when the floor was last requested without one.
	sweptAt, flooredAt timer.Millis
	// hintsMissed: the bus failed when a sweep began, so that hints may be lost.
	hintsMissed bool
	// announcedAt is when marks were looked for last.
	announcedAt timer.Millis
	// refused are the entries of the outbox that the bus did not take last time.
	refused map[store.Mark]bool
	// fencedAt holds when a shard was lost to a newer claim, so that it is not claimed back at once.
	fencedAt map[shard.ID]timer.Millis
	// wanted: there may be shards to claim.
	wanted bool
	// layout is that of the directory when no shard of it was missing.
	layout uint64
	// closing: nothing new is begun.
	closing bool
	shown   gauges

	// hints are without Revision where only the shard is known.
	hints chan event.Hint
	// overflow is set when a hint did not fit.
	overflow atomic.Bool
	done     chan func(now timer.Millis)

	// stop is the session's life as the bus sees it; io outlives it until Close has flushed.
	stop    context.Context //nolint:containedctx // the session is the thing that has this life.
	io      context.Context //nolint:containedctx // as above.
	cancel  context.CancelFunc
	loop    sync.WaitGroup
	workers sync.WaitGroup
}

func newSession(ctx context.Context, s *Service, p shard.Partition, incarnation timer.UUID) *session {
	io, cancel := context.WithCancel(context.WithoutCancel(ctx))
	o := &session{
		config: &s.config, metrics: s.metrics, partition: p,
		log:    s.config.Logger.With("partition", int(p)),
		outage: s.outage, budget: s.budget, floors: s.floors, sweeps: s.sweeps,
		owner:    store.Owner{Incarnation: incarnation, Node: s.config.Node},
		state:    partition.New(s.config.limits()),
		fencedAt: map[shard.ID]timer.Millis{},
		hints:    make(chan event.Hint, s.config.HintQueue),
		done:     make(chan func(timer.Millis), effects),
		stop:     ctx, io: io, cancel: cancel,
	}
	now := s.config.Clock()
	o.at[effectSweep] = now.Add(s.config.Sweep)
	o.at[effectAnnounce] = now.Add(s.config.AnnounceAfter)
	return o
}

// newBackoff paces repetitions after failures: 250 ms, doubling, at most 10 s. It has no jitter: the
// partitions of a process are few, and a simulation must be able to replay it.
func newBackoff() *backoff.ExponentialBackOff {
	return backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(250*time.Millisecond), backoff.WithMultiplier(2),
		backoff.WithMaxInterval(10*time.Second), backoff.WithMaxElapsedTime(0),
		backoff.WithRandomizationFactor(0),
	)
}

func (o *session) begin() { o.loop.Go(o.run) }

// Deliver takes a hint in. It never waits: hints may be lost.
func (o *session) Deliver(_ context.Context, d *bus.Delivery) error {
	h, err := event.UnmarshalHint(d.Body)
	if err != nil {
		// A hint that cannot be read, for example that of a later release, counts as lost: a poll of the shard, which is
		// its key, finds the timer. It cannot return to a queue, because hints have none.
		result := "malformed"
		if errors.Is(err, event.ErrUnknown) {
			result = "unknown"
		}
		o.metrics.hints.WithLabelValues(result).Inc()
		id, err := strconv.ParseUint(d.Key, 10, 32)
		if err != nil {
			return nil //nolint:nilerr // it names no shard
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
		// By a clock that is ahead, everything would be due, and every publication lost.
		if !o.config.StoreClock.AwaitTrust(o.stop) {
			return
		}
		now := o.config.Clock()
		o.act(now)
		o.metrics.show(&o.shown, o.state)
		alarm.Reset(max(0, o.wakeAt(now).Sub(now)))
		select {
		case <-o.stop.Done():
			return
		case apply := <-o.done:
			apply(o.config.Clock())
		case h := <-o.hints:
			o.hint(h)
		case <-alarm.C:
		}
	}
}

// hint takes in one hint and whatever else has gathered.
func (o *session) hint(h event.Hint) {
	now := o.config.Clock()
	for range cap(o.hints) {
		result := o.state.Hint(now, h)
		if h.Revision != 0 { // else Deliver has counted it
			o.metrics.hints.WithLabelValues(string(result)).Inc()
		}
		if result == partition.HintForeign {
			// A namespace made after the partition was opened, or a shard lost to another owner.
			o.wanted = o.wanted || !o.lately(h.Shard, now)
		}
		select {
		case h = <-o.hints:
		default:
			return
		}
	}
}

// act starts every effect whose time has come.
func (o *session) act(now timer.Millis) {
	if o.overflow.Swap(false) {
		o.state.HintsLost(now)
	}
	for e := range effects {
		if !o.running[e] && o.dueAt(e, now) <= now {
			o.start(e, now)
		}
	}
}

// wakeAt returns when act has something to do if nothing is heard before, at most a minute ahead.
func (o *session) wakeAt(now timer.Millis) timer.Millis {
	next := now.Add(time.Minute)
	for e := range effects {
		if !o.running[e] {
			next = min(next, o.dueAt(e, now))
		}
	}
	return next
}

// dueAt returns when an effect that is not running should run.
func (o *session) dueAt(e effect, now timer.Millis) timer.Millis {
	switch e {
	case effectPublish:
		return max(o.at[e], o.state.ReleaseAt(now, o.budget.Left()))
	case effectPoll:
		return max(o.at[e], o.state.PollAt())
	case effectFloor:
		return o.floorAt(now)
	case effectAdvance:
		if !o.state.Behind() {
			return timer.Never
		}
	case effectSweep:
		if o.pauses[effectSweep] == nil {
			return min(o.at[e], max(o.state.SweepBy(), o.sweptAt.Add(soonSweep)))
		}
	case effectClaim:
		if !o.wanted {
			return timer.Never
		}
	case effectAnnounce:
		return o.announceAt()
	case effects:
	}
	return o.at[e]
}

// floorAt is when to request the floor next, apart from sweeps: soon if credit for publications is low, and after a failed
// request when its backoff ends.
func (o *session) floorAt(now timer.Millis) timer.Millis {
	switch {
	case o.budget.Low() && o.state.WantsCredit(now):
		if o.pauses[effectFloor] != nil {
			return o.at[effectFloor]
		}
		return o.flooredAt.Add(o.config.QueueAheadFor / 2)
	case o.state.NeedsFloor():
		return o.at[effectFloor]
	default:
		return timer.Never
	}
}

// announceAt is when to look for marks next. Marks come from timers that were in flight, so that one look a while after the
// last shard became idle finds them all. The owner continues to look as often as it polls, for what a dispatcher of an
// earlier owner may still do.
func (o *session) announceAt() timer.Millis {
	at := o.at[effectAnnounce]
	since, all := o.state.IdleSince()
	if !all || o.pauses[effectAnnounce] != nil || o.announcedAt < since.Add(o.config.AnnounceAfter) {
		return at
	}
	return max(at, o.announcedAt.Add(o.config.HintWindow/2))
}
