package scheduler

import (
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// Config is what a scheduler needs. Numbers left at zero get the default in their comment.
type Config struct {
	Store     store.Shards
	Directory *store.Directory
	Bus       bus.Bus
	// Clock tells the present to the millisecond.
	Clock timer.Clock
	// StoreClock reports whether Clock, which is its Now, is trusted, and when it was corrected. While it is not trusted,
	// sessions pause, and after a moment other processes own the partitions. nil: it is always trusted.
	StoreClock *store.Clock
	// Reach reports when Store is lost: then the scheduler owns no partitions. nil: never. Store should be the Reach
	// itself, so that its calls are watched.
	Reach *store.Reach
	// Random gives random bits for claim incarnations (math/rand/v2.Uint64 in production). It is called
	// from several goroutines.
	Random func() uint64
	// Node names this process in claims, for people.
	Node string
	// Source and Format are for the public events that schedulers send (dead and parked timers).
	Source     string
	Format     event.Mode
	Logger     *slog.Logger
	Registerer prometheus.Registerer

	// LookAhead is how far ahead rows are armed: 2 s.
	LookAhead time.Duration
	// BusyPoll is the shortest time between two polls of a shard that was read to the horizon: 500 ms.
	BusyPoll time.Duration
	// HintWindow is within what time of its due_at a written timer is hinted: 60 s. Every shard is
	// polled, and namespaces are read again, at least every half of it.
	HintWindow time.Duration
	// Slack is how far watermarks stay behind the present: 2 s.
	Slack time.Duration
	// Grace is how long after its due_at a row counts as overdue: 2 s.
	Grace time.Duration
	// Sweep is the pause between two sweeps of a partition: 2 s.
	Sweep time.Duration
	// SweepPublish bounds what one sweep publishes in a partition: 1,000.
	SweepPublish int
	// SweepMargin is how far before the start of the last sweep the next one begins to read, and so the longest time that
	// a write may take from its due time's computation to its commit without waiting for a full sweep: 1 min.
	SweepMargin time.Duration
	// FullSweep is how often a sweep reads from the first key: 5 min.
	FullSweep time.Duration
	// Outstanding bounds a partition's states in flight, which the dispatchers' ack floor has not passed: 4,096. Namespaces
	// that have less than their share may exceed it, to at most twice as many.
	Outstanding int
	// Agenda bounds the armed states of the process: 65,536 (about 200 bytes each). Partitions have
	// equal shares.
	Agenda int
	// PollPerShard and PollTotal bound the rows of one poll: 1,000 and 10,000. PollShards bounds its shards: 1,000.
	PollPerShard, PollTotal, PollShards int
	// QueueDepth is how full the due queue may be before publishing waits: 100,000.
	QueueDepth int
	// QueueAhead is how many due events may always be unacknowledged (I16): 64. Beyond it and nine tenths of what dispatchers
	// are seen to hold, only namespaces publish that have few timers due and in flight. While more wants to be published, the
	// floor is requested twice in QueueAheadFor, 50 ms.
	QueueAhead    int
	QueueAheadFor time.Duration
	// PublishBatch is the most due events handed to the bus at once: 512.
	PublishBatch int
	// HintQueue bounds the hints a partition has received and not yet looked at: 4,096. Hints beyond
	// it are dropped, and polls and sweeps make up for them.
	HintQueue int
	// LongBound is after how long a publication counts as lost in any case: the largest callback
	// timeout and a minute.
	LongBound time.Duration
	// CallTimeout bounds one call of store or bus, so that one that never returns does not hold up its
	// partition for ever: 10 s.
	CallTimeout time.Duration
	// ClockBound is how far the clocks of two nodes may be apart: 250 ms.
	ClockBound time.Duration
	// AdvanceEvery is the shortest time between two writes of a partition's watermarks: 1 s, with PaidByShard 10 s. An older
	// watermark makes who takes over after a crash read more, and publish again what is still in the store of it.
	AdvanceEvery time.Duration
	// FloorEvery is the pause between two looks at the due queue while something waits for it: 500 ms.
	FloorEvery time.Duration
	// ActiveFor is how long sweeps read a shard after a timer of it was last read or armed: 1 min, with PaidByShard until
	// a sweep has found no row. After that the shard is idle, and read only once in half a hint window: a timer whose
	// hint was lost is late by up to that.
	ActiveFor time.Duration
	// PaidByShard says that each shard of a query costs money (store.AsksByShard).
	PaidByShard bool
	// AnnounceAfter is how old an unannounced dead or parked timer is before the scheduler announces
	// it, and how often it looks: 5 s; in a partition whose shards are all idle, every half hint window.
	AnnounceAfter time.Duration

	// Planted is for the simulation only.
	Planted Planted
}

// Planted turns single rules off, so that the simulation can show that it would notice. Production never
// sets it.
type Planted = partition.Planted

func (c *Config) withDefaults() error {
	if c.Store == nil || c.Directory == nil || c.Bus == nil || c.Clock == nil || c.Random == nil {
		return errors.New("scheduler: Store, Directory, Bus, Clock and Random are required")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	if c.Format == 0 {
		c.Format = event.Structured
	}
	advance, active := time.Second, time.Minute
	if c.PaidByShard {
		advance, active = 10*time.Second, 0
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.LookAhead, 2 * time.Second},
		{&c.BusyPoll, 500 * time.Millisecond},
		{&c.HintWindow, time.Minute},
		{&c.Slack, 2 * time.Second},
		{&c.Grace, 2 * time.Second},
		{&c.Sweep, 2 * time.Second},
		{&c.SweepMargin, time.Minute},
		{&c.FullSweep, 5 * time.Minute},
		{&c.LongBound, timer.MaxCallbackTimeout + time.Minute},
		{&c.CallTimeout, 10 * time.Second},
		{&c.ClockBound, 250 * time.Millisecond},
		{&c.AdvanceEvery, advance},
		{&c.FloorEvery, 500 * time.Millisecond},
		{&c.QueueAheadFor, 50 * time.Millisecond},
		{&c.AnnounceAfter, 5 * time.Second},
		{&c.ActiveFor, active},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	for _, n := range []struct {
		field *int
		value int
	}{
		{&c.SweepPublish, 1000},
		{&c.Outstanding, 4096},
		{&c.Agenda, 65536},
		{&c.PollPerShard, 1000},
		{&c.PollTotal, 10000},
		{&c.PollShards, 1000},
		{&c.QueueDepth, 100000},
		{&c.QueueAhead, 64},
		{&c.PublishBatch, 512},
		{&c.HintQueue, 4096},
	} {
		if *n.field == 0 {
			*n.field = n.value
		}
	}
	return nil
}

func (c *Config) limits() partition.Limits {
	return partition.Limits{
		LookAhead: c.LookAhead, BusyPoll: c.BusyPoll, HintWindow: c.HintWindow, Slack: c.Slack,
		Grace: c.Grace, LongBound: c.LongBound,
		ClockBound: c.ClockBound, Outstanding: c.Outstanding,
		Agenda:       max(1, c.Agenda/c.Bus.Partitions()),
		PollPerShard: c.PollPerShard, PollTotal: c.PollTotal, QueueDepth: c.QueueDepth,
		SweepPublish: c.SweepPublish, SweepMargin: c.SweepMargin, FullSweep: c.FullSweep, ActiveFor: c.ActiveFor,
		PollShards: c.PollShards, Planted: c.Planted,
	}
}
