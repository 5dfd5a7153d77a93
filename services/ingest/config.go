package ingest

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Store is the part of the store that ingest uses.
type Store interface {
	store.Timers
	store.Namespaces
	Rearm(ctx context.Context, now timer.Millis, items []store.Rearm) ([]store.Written, error)
	Forget(ctx context.Context, now timer.Millis, items []store.Forget) ([]error, error)
	Inspect(ctx context.Context, shards []shard.ID) ([]store.ShardState, error)
	Ping(ctx context.Context) error
}

// Config configures an ingest service. Numbers that are zero get the default in their comment.
type Config struct {
	Store Store
	// Positions stores topic positions, found by store.As. If the store does not support it, it is nil, and topic
	// commands are applied at least once.
	Positions store.Positions
	// Flows has the state of flows, found by store.As; nil if the store does not support it.
	Flows store.Flows
	// Targets returns the hosts and user topics that a namespace uses, at most limit; nil if this process does not deliver.
	Targets func(namespace string, limit int) []api.Target
	// Changes is the log of the changes that this process has made, which streams of events send. Default: a log of 1 MiB with the changes
	// of this service.
	Changes *changes.Log
	// AllChanges: no other process can change timers of the store, so Changes has them all.
	AllChanges bool
	Directory  *store.Directory
	Bus        bus.Bus
	// Outbox is the outbox in a database of the user; nil: none.
	Outbox outbox.Outbox
	// Clock returns the present in milliseconds.
	Clock timer.Clock
	// StoreClock reports whether Clock, which must be its Settled, is trusted. While it is not, nothing is written
	// (ErrUnavailable), and no answer promises that a delivery will not follow. nil means that Clock is always trusted.
	StoreClock *store.Clock
	// TestClock moves the clock of the process; nil if it runs on the machine's clock.
	TestClock *testclock.Driver
	// Revisions generates the revisions. A process has one.
	Revisions *timer.Revisions

	// Source and Format apply to the public events that ingest publishes: answers to topic commands. The default of
	// Format is event.Structured.
	Source string
	Format event.Mode
	Logger *slog.Logger
	// Registerer registers ingest's metrics; Gatherer is served as /metrics. If Gatherer is nil and Registerer is a
	// Gatherer too, such as a *prometheus.Registry, it is used.
	Registerer prometheus.Registerer
	Gatherer   prometheus.Gatherer
	// Tracer records the spans of requests and topic commands; nil: none.
	Tracer *tracing.Tracer
	// Keys encrypt the secrets of namespaces. Without a key, secrets are refused.
	Keys encryption.Keyring
	// Access finds the caller of every request except /healthz and /readyz. If it is nil, no credential is required, and
	// API keys cannot be managed.
	Access *access.Authenticator

	// Hosts are the allowed hosts of requests other than /healthz and /readyz; nil allows all.
	Hosts *process.Hosts

	// Prefix begins the names of Timerbus' topics on the bus, which timers must not use for their events. Default
	// "timerbus".
	Prefix string
	// Zones is the time zone database of local times and schedules. Default: that of internal/zone, which dispatchers use.
	Zones Zones
	// ZonesRetry is the first pause after a failed operation of the check of local times; the pause doubles up to a minute. 1 s.
	ZonesRetry time.Duration
	// ZonesSettle is the time between the two checks of a namespace whose timers were moved. It must be longer than a write of a process
	// that has ended takes to be applied. 30 s.
	ZonesSettle time.Duration

	// Policy is the dispatchers' egress policy. A callback URL that it can never allow is refused. Nil allows all.
	Policy *egress.Policy

	// HintWindow: a written timer that is due within this time gets a hint. 60 s. The namespaces are read at half this
	// interval.
	HintWindow time.Duration
	// ClockBound is the largest allowed difference between the clocks of two nodes: 250 ms.
	ClockBound time.Duration
	// RequestTimeout bounds the processing of a request after its body has arrived: 10 s.
	RequestTimeout time.Duration
	// StoreTimeout bounds one call of the store or the bus: 10 s.
	StoreTimeout time.Duration
	// CountTimeout bounds the time for which a count or a forecast reads: 3 s. Then its answer is truncated.
	CountTimeout time.Duration
	// ReadyTimeout bounds each query of a readiness check: 2 s.
	ReadyTimeout time.Duration
	// Ready are additional readiness queries, for the dependencies of other services in the process. Default: none.
	Ready []process.Check

	// BodyLimit bounds a request's body and a command's data: 131,072 bytes.
	BodyLimit int
	// BatchBodyLimit bounds the body of a batch: 8 MiB. BatchesInFlight bounds the batches that are served
	// concurrently: 16. Further batches are refused.
	BatchBodyLimit, BatchesInFlight int
	// BodiesBytes bounds the memory of the bodies of all requests in progress, except batches: 64 MiB. BatchBodiesBytes
	// is the same for batches: 128 MiB. Requests above these bounds are refused.
	BodiesBytes, BatchBodiesBytes int
	// ListBytes bounds the memory of the pages of all lists in progress, with their text: 64 MiB. Requests above it
	// wait for up to RequestTimeout, and are then refused.
	ListBytes int
	// Streams and StreamsOfCaller bound the streams of events that are open, and those of one caller: 256 and 64. Further ones are refused.
	Streams, StreamsOfCaller int
	// StreamPause is the least time between two writes of a stream: 200 ms. StreamHeartbeat is the longest: 15 s. A client that does not
	// read a write within StreamWriteTimeout, 10 s, is disconnected. StreamCheck is how often the credential of a stream is checked: 1 min.
	StreamPause, StreamHeartbeat, StreamWriteTimeout, StreamCheck time.Duration
	// Writers is the number of concurrent group commits: 2.
	Writers int
	// BatchOps and BatchBytes bound one write of requests or of topic commands: 512 and 4 MiB.
	BatchOps, BatchBytes int
	// QueueOps and QueueBytes bound the requests that wait for the store: 8,192 and 64 MiB.
	QueueOps, QueueBytes int
	// CommandsInFlight bounds the commands that a partition has received and not answered: 256. CommandsBytes bounds
	// the total size of those of all partitions: 64 MiB. Each partition of the bus gets an equal share of it; in
	// addition to its share, a partition may have one command of up to 1 MiB. The bus may prefetch the same amount
	// again.
	CommandsInFlight, CommandsBytes int
	// OutboxPoll is how often the outbox is read if its database does not report new rows (MySQL: at least every 200 ms), and how
	// often a process that does not apply its rows tries to be elected: 1 s.
	OutboxPoll time.Duration
	// HintQueue bounds the hints that wait to be published (about 70 bytes each): 65,536. HintBatch bounds the hints of
	// one publish: 512.
	HintQueue, HintBatch int
}

// ChangesBytes bounds the log of the changes of a process.
const ChangesBytes = 1 << 20

// Zones is a time zone database.
type Zones struct {
	// Version is different for databases with different contents.
	Version string
	// Load finds a zone by its name, as time.LoadLocation does.
	Load schedule.Zones
}

func (c *Config) withDefaults() error {
	if c.Store == nil || c.Directory == nil || c.Bus == nil || c.Clock == nil || c.Revisions == nil || c.Source == "" {
		return errors.New("ingest: Store, Directory, Bus, Clock, Revisions and Source are required")
	}
	if c.Format == 0 {
		c.Format = event.Structured
	}
	if c.Zones.Load == nil {
		c.Zones = Zones{Version: zone.Version, Load: zone.Load}
	}
	if c.Changes == nil {
		c.Changes = changes.New(ChangesBytes, rand.Uint64())
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
		{&c.CountTimeout, 3 * time.Second},
		{&c.OutboxPoll, time.Second},
		{&c.ZonesRetry, time.Second},
		{&c.ZonesSettle, 30 * time.Second},
		{&c.StreamPause, 200 * time.Millisecond},
		{&c.StreamHeartbeat, 15 * time.Second},
		{&c.StreamWriteTimeout, 10 * time.Second},
		{&c.StreamCheck, time.Minute},
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
		{&c.Streams, 256},
		{&c.StreamsOfCaller, 64},
		{&c.Writers, 2},
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
