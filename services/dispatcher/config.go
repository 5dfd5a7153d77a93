package dispatcher

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/seal"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// Store is the dispatcher's part of store.Store.
type Store interface {
	store.Outcomes
	// Announced is that of store.Shards.
	Announced(ctx context.Context, marks []store.Mark) error
}

type (
	// Caller makes callbacks. A simulation passes its own.
	Caller = callback.Caller
	// Request is what a Caller gets.
	Request = callback.Request
	// Answer is what it gives.
	Answer = callback.Answer
	// HTTP says where callbacks may go, and by which proxy.
	HTTP = callback.HTTP
	// Limits bound the deliveries that run and wait.
	Limits = admission.Limits
)

// Config is what a dispatcher needs. Numbers left at zero get the default in their comment.
type Config struct {
	Store Store
	// Reach reports when Store is lost: then the dispatcher takes no messages, and returns those that it has. nil: never.
	// Store should be the Reach itself, so that its calls are watched.
	Reach *store.Reach
	Bus   bus.Bus
	// Directory tells the settings of namespaces. The dispatcher refreshes it.
	Directory *store.Directory
	// Keys open the secrets in them.
	Keys seal.Keyring
	// Clock tells the present to the millisecond.
	Clock timer.Clock
	// StoreClock reports whether Clock, which is its Settled, is trusted, and when it was corrected. While it is not trusted,
	// no delivery begins, and after a moment the dispatcher returns its messages. nil: always.
	StoreClock *store.Clock
	// Revisions makes the revisions of what is written; one per process.
	Revisions *timer.Revisions
	// Random gives random bits for jitter (math/rand/v2.Uint64 in production). Calls are serialised.
	Random func() uint64
	// Caller makes the callbacks. Default: HTTP over callback.NewTransport with HTTP.
	Caller Caller
	// HTTP is for the default Caller; its PerHost is store.MaxHostConcurrency.
	HTTP HTTP
	// Version shows in the user agent of the default Caller: timerbus/<version>.
	Version string
	// Source and Format are for the public events.
	Source     string
	Format     event.Mode
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Redelivered tells whether a delivery's message may have been started before (I13). Default: the
	// bus counts at least two deliveries. A bus that does not count needs its own answer: whatever lay
	// below the queue's end when the session opened. An event whose revision says so counts as redelivered as well.
	Redelivered func(*bus.Delivery) bool

	// Limits bound the deliveries that run and wait.
	Limits

	// MaxInFlightBytes bounds the messages taken from the bus and not acknowledged by their size: 16 MiB and one message, on
	// Kafka for each partition.
	MaxInFlightBytes int
	// LeaseFor and LeaseRenew are for deliveries that take longer than LeaseAfter: the row is leased for 15 s, renewed
	// every 5 s.
	LeaseFor, LeaseRenew time.Duration
	// PostponeFor is how far a row is postponed, give or take the jitter: 5 s.
	PostponeFor time.Duration
	// HintWindow is within what time of its due_at a written row is hinted: 60 s.
	HintWindow time.Duration
	// ClockBound is how far the clocks of two nodes may be apart; events ahead of it are counted: 250 ms.
	ClockBound time.Duration
	// CallTimeout bounds one call of store or bus: 5 s.
	CallTimeout time.Duration
	// Drain is how long Run waits, after its context ended, for what is under way: 20 s. The rest is cut off; its
	// rows are made due again, which takes a second at most.
	Drain time.Duration
	// PurgeEvery and PurgeBatch are for old history: every minute, give or take the jitter, 1,000 rows
	// at a time.
	PurgeEvery time.Duration
	PurgeBatch int
	// RefreshEvery is how often the namespaces are read: every 30 s, give or take the jitter.
	RefreshEvery time.Duration

	// Planted is for the simulation only.
	Planted Planted
}

// Planted turns single rules off, so that the simulation can show that it would notice. Production never
// sets it.
type Planted struct {
	// ReadFirst reads the row when the event arrives, and waits for the time after that.
	ReadFirst bool
	// AckFirst acknowledges when a delivery begins, before its outcome is written.
	AckFirst bool
}

func (c *Config) withDefaults() error {
	if c.Store == nil || c.Bus == nil || c.Directory == nil || c.Clock == nil || c.Revisions == nil || c.Random == nil {
		return errors.New("dispatcher: Store, Bus, Directory, Clock, Revisions and Random are required")
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
	if c.Source == "" {
		c.Source = "timerbus"
	}
	if c.Redelivered == nil {
		c.Redelivered = func(d *bus.Delivery) bool { return d.Deliveries >= 2 }
	}
	setDefault(&c.Concurrency, 2048)
	setDefault(&c.Room, 2*c.Concurrency)
	setDefault(&c.RoomBytes, 256<<20)
	setDefault(&c.MaxInFlight, min(4*c.Concurrency, 1280))
	setDefault(&c.MaxInFlightBytes, 16<<20)
	setDefault(&c.Batch, 256)
	setDefault(&c.ParkAfter, 5)
	setDefault(&c.SecondStarts, 32)
	setDefault(&c.LaterStarts, 4)
	setDefault(&c.LeaseAfter, 2*time.Second)
	setDefault(&c.LeaseFor, 15*time.Second)
	setDefault(&c.LeaseRenew, 5*time.Second)
	setDefault(&c.HoldFor, 10*time.Second)
	setDefault(&c.PostponeFor, 5*time.Second)
	setDefault(&c.HostLimit, store.DefaultHostConcurrency)
	setDefault(&c.TopicLimit, max(1, c.Batch/2))
	setDefault(&c.HostPatience, time.Second)
	setDefault(&c.PostponeMost, time.Minute)
	setDefault(&c.HostsRemembered, 4096)
	setDefault(&c.CircuitAfter, 20)
	setDefault(&c.CircuitOpenFor, 10*time.Second)
	setDefault(&c.HintWindow, time.Minute)
	setDefault(&c.ClockBound, 250*time.Millisecond)
	setDefault(&c.CallTimeout, 5*time.Second)
	setDefault(&c.Drain, 20*time.Second)
	setDefault(&c.PurgeEvery, time.Minute)
	setDefault(&c.RefreshEvery, 30*time.Second)
	setDefault(&c.PurgeBatch, 1000)
	if c.Caller == nil {
		c.HTTP.PerHost = store.MaxHostConcurrency
		c.Caller = callback.NewHTTPCaller(&c.HTTP, c.Version)
	}
	return nil
}

func setDefault[V int | time.Duration](field *V, value V) {
	if *field <= 0 {
		*field = value
	}
}
