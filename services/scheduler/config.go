package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler/internal/partition"
)

// Config configures a scheduler. Numbers that are zero get the default in their comment.
type Config struct {
	Store     store.Shards
	Directory *store.Directory
	Bus       bus.Bus
	// LocalQueue is the due queue if it is in the memory of this process, and Bus then publishes due events to it; nil if the bus has it.
	LocalQueue LocalQueue
	// AloneSince is when this process opened a Store that no other process can use, so that only it has published rows that were written
	// since. 0 means that other processes use the Store.
	AloneSince timer.Millis
	// Clock returns the present in milliseconds.
	Clock timer.Clock
	// StoreClock reports whether Clock, which must be its Now, is trusted, and when it was corrected. While it is not
	// trusted, sessions pause; if that lasts, other processes own the partitions. nil means that Clock is always
	// trusted.
	StoreClock *store.Clock
	// Reach reports when Store is lost. The scheduler then owns no partitions. nil means never. Store should be this
	// Reach, so that Reach observes the calls.
	Reach *store.Reach
	// Random returns random bits for claim incarnations (math/rand/v2.Uint64 in production). Several goroutines call
	// it.
	Random func() uint64
	// Node is the readable name of this process in claims.
	Node string
	// Source and Format apply to the public events that schedulers publish (dead and parked timers).
	Source     string
	Format     event.Mode
	Logger     *slog.Logger
	Registerer prometheus.Registerer

	// LookAhead: rows that are due within this time are armed. 2 s.
	LookAhead time.Duration
	// BusyPoll is the minimum interval between two polls of a shard that was read up to the look-ahead: 500 ms.
	BusyPoll time.Duration
	// HintWindow: a written timer that is due within this time gets a hint. 60 s. Every shard is polled, and the
	// namespaces are read, at least at half this interval.
	HintWindow time.Duration
	// Slack is the minimum time by which watermarks stay behind the present: 2 s.
	Slack time.Duration
	// Grace is how long a row must have been due before a sweep publishes it: 2 s.
	Grace time.Duration
	// Sweep is the interval between two sweeps of a partition: 2 s. It is longer after a sweep that read many rows.
	Sweep time.Duration
	// SweepPublish bounds the rows that one sweep publishes in a partition: 1,000.
	SweepPublish int
	// SweepMargin is how far before the start of the last sweep the next one begins to read: 1 min. It is also the
	// longest time from the computation of a due time to the commit of its write for which the next normal sweep finds
	// the row; after that, only a full sweep does.
	SweepMargin time.Duration
	// FullSweep is the interval between sweeps that read from the first key: 5 min.
	FullSweep time.Duration
	// MaxInFlight bounds a partition's states in flight, which the dispatchers' ack floor has not passed: 4,096.
	// Namespaces that have less than their share may exceed it, up to twice the bound in total.
	MaxInFlight int
	// MaxArmed bounds the armed states of the process: 65,536 (about 200 bytes each). Partitions have equal shares.
	MaxArmed int
	// PollPerShard and PollTotal bound the rows of one poll: 1,000 and 10,000. PollShards bounds its shards: 1,000.
	PollPerShard, PollTotal, PollShards int
	// QueueDepth is the depth of the due queue at which publishing stops: 100,000.
	QueueDepth int
	// QueueAhead is the number of due events that may always be unacknowledged (I16): 64. Above it and above nine
	// tenths of the learnt capacity of dispatchers, only namespaces with few timers due and in flight publish. While
	// more timers are ready to be published, the ack floor is requested twice in QueueAheadFor, 50 ms.
	QueueAhead    int
	QueueAheadFor time.Duration
	// PublishBatch bounds the due events of one publish: 512.
	PublishBatch int
	// HintQueue bounds the hints that a partition has received and not processed: 4,096. Further hints are dropped;
	// polls and sweeps find their timers.
	HintQueue int
	// LongBound is the age at which a publication counts as lost, regardless of the ack floor: the largest callback
	// timeout plus a minute.
	LongBound time.Duration
	// CallTimeout bounds one call of the store or the bus, so that a call that never returns does not block its
	// partition: 10 s.
	CallTimeout time.Duration
	// ClockBound is the largest allowed difference between the clocks of two nodes: 250 ms.
	ClockBound time.Duration
	// AdvanceEvery is the minimum interval between two writes of a partition's watermarks: 1 s, with PaidByShard 10 s.
	// After a crash, the new owner reads from the watermark and publishes again the rows that are still in the store,
	// so an older watermark means more repetitions.
	AdvanceEvery time.Duration
	// FloorEvery is the pause after a successful request for the ack floor while the partition waits for it, and after a
	// successful claim of missing shards: 500 ms.
	FloorEvery time.Duration
	// ActiveFor is how long sweeps read a shard after a timer of it was last read or armed: 1 min; with PaidByShard 0,
	// so until a sweep finds no row. Then the shard is idle, and read only every half hint window: a timer whose hint
	// was lost may be late by that.
	ActiveFor time.Duration
	// PaidByShard: each shard of a query costs money (store.AsksByShard).
	PaidByShard bool
	// OutboxAfter is the age at which the scheduler publishes the outbox entry of a dead or parked timer, and the
	// interval at which it reads the outbox: 5 s. If all shards of a partition are idle, the interval is half a hint
	// window.
	OutboxAfter time.Duration
}

// LocalQueue is a due queue in the memory of this process.
type LocalQueue interface {
	// Withdraw removes the events of a partition that this process does not own any more. With cause bus.ErrLost it does not wait.
	// Otherwise it waits, until ctx ends, for the deliveries that have begun, unless no other process could repeat them.
	Withdraw(ctx context.Context, p shard.Partition, cause error)
}

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
		{&c.OutboxAfter, 5 * time.Second},
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
		{&c.MaxInFlight, 4096},
		{&c.MaxArmed, 65536},
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
		Grace: c.Grace, LongBound: c.LongBound, LocalQueue: c.LocalQueue != nil, AloneSince: c.AloneSince,
		ClockBound: c.ClockBound, MaxInFlight: c.MaxInFlight,
		MaxArmed:     max(1, c.MaxArmed/c.Bus.Partitions()),
		PollPerShard: c.PollPerShard, PollTotal: c.PollTotal, QueueDepth: c.QueueDepth,
		SweepPublish: c.SweepPublish, SweepMargin: c.SweepMargin, FullSweep: c.FullSweep, ActiveFor: c.ActiveFor,
		PollShards: c.PollShards,
	}
}
