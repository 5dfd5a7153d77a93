package ingest

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/egress"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/runtime"
	"github.com/timerbus/timerbus/pkg/seal"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Store is what ingest needs of the store.
type Store interface {
	store.Timers
	store.Namespaces
	Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error)
	Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error)
	Ping(ctx context.Context) error
}

// Config is what an ingest service needs. Numbers left at zero get the default in their comment.
type Config struct {
	Store Store
	// Positions is the store's power to keep topic positions, found by store.As; nil if it has none,
	// and topic commands are then applied at least once.
	Positions store.Positions
	Directory *store.Directory
	Bus       bus.Bus
	// Clock tells the present to the millisecond.
	Clock timer.Clock
	// StoreClock reports whether Clock, which is its Settled, is trusted. While it is not, nothing is written
	// (ErrUnavailable), and no answer promises that a delivery will not follow. nil: always.
	StoreClock *store.Clock
	// Revisions are the process's.
	Revisions *timer.Revisions

	// Source and Format are for the public events that ingest sends: answers to topic commands.
	// Format's default is event.Structured.
	Source string
	Format event.Mode
	Logger *slog.Logger
	// Registerer takes ingest's metrics; Gatherer is what /metrics shows. Where only a Registerer is
	// given that is a Gatherer too, such as a *prometheus.Registry, it is used.
	Registerer prometheus.Registerer
	Gatherer   prometheus.Gatherer
	// Keys seal the secrets of namespaces. Without any, none are taken.
	Keys seal.Keyring
	// Token, if not empty, is asked of every request but /healthz and /readyz.
	Token string

	// Hosts are the hosts that requests other than /healthz and /readyz may name; nil for all.
	Hosts *runtime.Hosts

	// Prefix begins the names of the service's own topics on the bus, where no timer's event may go. Default
	// "timerbus".
	Prefix string
	// Policy is the dispatchers': a callback URL that it can never allow is refused. Nil allows all.
	Policy *egress.Policy

	// HintWindow is within what time of its due_at a written timer is hinted: 60 s. Namespaces are
	// read again every half of it.
	HintWindow time.Duration
	// ClockBound is how far the clocks of two nodes may be apart: 250 ms.
	ClockBound time.Duration
	// RequestTimeout bounds a request's work, from when its body is there: 10 s.
	RequestTimeout time.Duration
	// StoreTimeout bounds one call of the store or the bus: 10 s.
	StoreTimeout time.Duration
	// ReadyTimeout bounds each question of a readiness check: 2 s.
	ReadyTimeout time.Duration
	// Ready are further questions of the readiness check, about what other services of the process require. Default: none.
	Ready []runtime.Question

	// BodyLimit bounds a request's body and a command's data: 131,072 bytes.
	BodyLimit int
	// BatchBodyLimit bounds the body of a batch: 8 MiB. BatchesInFlight bounds how many are served at
	// once, the others being refused: 16.
	BatchBodyLimit, BatchesInFlight int
	// BodiesBytes bounds the memory of the bodies of all requests in progress, without batches: 64 MiB.
	// BatchBodiesBytes is the same for batches: 128 MiB. Requests beyond these bounds are refused.
	BodiesBytes, BatchBodiesBytes int
	// ListBytes bounds the memory of the pages of all lists in progress, with their text: 64 MiB. Requests beyond it wait
	// up to RequestTimeout, and are then refused.
	ListBytes int
	// Lanes is how many group commits may run at once: 2.
	Lanes int
	// BatchOps and BatchBytes bound one write, of requests or of commands: 512 and 4 MiB.
	BatchOps, BatchBytes int
	// QueueOps and QueueBytes bound the requests that wait for the store: 8,192 and 64 MiB.
	QueueOps, QueueBytes int
	// CommandsInFlight bounds the commands a partition has received and not yet answered: 256. CommandsBytes
	// bounds those of all partitions by their size: 64 MiB, of which each partition of the bus has an equal
	// share; beyond its share a partition holds one command, of up to 1 MiB. The bus may read as much again ahead.
	CommandsInFlight, CommandsBytes int
	// HintQueue bounds the hints that wait to be published (about 70 bytes each): 65,536; HintBatch
	// those of one publish: 512.
	HintQueue, HintBatch int

	// Planted is for the simulation only.
	Planted Planted
}

// Planted turns single rules off, so that the simulation can show that it would notice. Production never
// sets it.
type Planted struct {
	// HintBeforeCommit decides on hints as if there were only good commits.
	HintBeforeCommit bool
	// JudgeBeforeCommit decides with the time before the commit what is in time.
	JudgeBeforeCommit bool
}

func (c *Config) withDefaults() error {
	if c.Store == nil || c.Directory == nil || c.Bus == nil || c.Clock == nil || c.Revisions == nil || c.Source == "" {
		return errors.New("ingest: Store, Directory, Bus, Clock, Revisions and Source are required")
	}
	if c.Format == 0 {
		c.Format = event.Structured
	}
	if c.Prefix == "" {
		c.Prefix = "timerbus"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	if c.Gatherer == nil {
		c.Gatherer, _ = c.Registerer.(prometheus.Gatherer)
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.HintWindow, time.Minute},
		{&c.ClockBound, 250 * time.Millisecond},
		{&c.RequestTimeout, 10 * time.Second},
		{&c.StoreTimeout, 10 * time.Second},
		{&c.ReadyTimeout, 2 * time.Second},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	for _, n := range []struct {
		field *int
		value int
	}{
		{&c.BodyLimit, 128 << 10},
		{&c.BatchBodyLimit, 8 << 20},
		{&c.BatchesInFlight, 16},
		{&c.BodiesBytes, 64 << 20},
		{&c.BatchBodiesBytes, 128 << 20},
		{&c.ListBytes, 64 << 20},
		{&c.Lanes, 2},
		{&c.BatchOps, 512},
		{&c.BatchBytes, 4 << 20},
		{&c.QueueOps, 8192},
		{&c.QueueBytes, 64 << 20},
		{&c.CommandsInFlight, 256},
		{&c.CommandsBytes, 64 << 20},
		{&c.HintQueue, 65536},
		{&c.HintBatch, 512},
	} {
		if *n.field == 0 {
			*n.field = n.value
		}
	}
	return nil
}
