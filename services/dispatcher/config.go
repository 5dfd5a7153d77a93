package dispatcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher/internal/admission"
	"github.com/timerbus/timerbus/services/dispatcher/internal/callback"
)

// Store is the part of store.Store that the dispatcher uses.
type Store interface {
	store.Outcomes
	// Get and Write are methods of store.Timers. The dispatcher uses them for schedules.
	Get(ctx context.Context, now timer.Millis, ref store.Ref) (timer.Timer, error)
	Write(ctx context.Context, now timer.Millis, ops []store.Op) ([]store.Written, error)
	// RemoveFromOutbox is the method of store.Shards.
	RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error
}

// ErrNotConfirmed is the error of an Answer if Request.Confirm has returned false.
var ErrNotConfirmed = callback.ErrNotConfirmed

type (
	// Caller makes callbacks. A simulation passes another implementation.
	Caller = callback.Caller
	// Request is the argument of Caller.Call.
	Request = callback.Request
	// Answer is the result of Caller.Call.
	Answer = callback.Answer
	// TokenClient is implemented by Callers that can request tokens.
	TokenClient = callback.TokenClient
	// Credentials and Profile are the arguments of TokenClient.TokenFetcher.
	Credentials = callback.Credentials
	// Profile has the callback settings of a namespace.
	Profile = callback.Profile
	// FetchToken is the result of TokenClient.TokenFetcher.
	FetchToken = callback.FetchToken
	// Token and TokenError are the results of a FetchToken.
	Token = callback.Token
	// TokenError is why there is no token.
	TokenError = callback.TokenError
	// HTTP configures where callbacks may go, through which proxy, and the timeouts of connections.
	HTTP = callback.HTTP
	// Limits bound the deliveries that run and wait.
	Limits = admission.Limits
)

// Config configures a dispatcher. Numbers that are zero get the default in their comment.
type Config struct {
	Store Store
	// Reach reports when Store is lost. The dispatcher then takes no messages and returns the messages that it has. nil
	// means never. Store should be this Reach, so that Reach observes the calls.
	Reach *store.Reach
	Bus   bus.Bus
	// Directory caches the settings of namespaces. The dispatcher refreshes it.
	Directory *store.Directory
	// Changes is the log of the changes that this process has made; nil: none is kept.
	Changes *changes.Log
	// Flows stores the state of flows. nil: flow keys have no effect.
	Flows store.Flows
	// Keys decrypt the secrets in these settings.
	Keys encryption.Keyring
	// Clock returns the present in milliseconds.
	Clock timer.Clock
	// StoreClock reports whether Clock, which must be its Settled, is trusted, and when it was corrected. While it is
	// not trusted, no delivery begins; if that lasts, the dispatcher returns its messages. nil means that Clock is
	// always trusted.
	StoreClock *store.Clock
	// Revisions generates the revisions of written rows. A process has one.
	Revisions *timer.Revisions
	// Random returns random bits for jitter (math/rand/v2.Uint64 in production). Calls are serialised.
	Random func() uint64
	// Caller makes the callbacks. The default is HTTP over callback.NewTransport with the settings in HTTP.
	Caller Caller
	// HTTP configures the default Caller. Its PerHost is set to store.MaxHostConcurrency.
	HTTP HTTP
	// WebhookTime returns the time for webhook-timestamp of an attempt that begins at a time of Clock; nil: the same time. A
	// process on a test clock returns the machine's time, because receivers compare it with their own clocks.
	WebhookTime func(timer.Millis) timer.Millis
	// Version is part of the user agent of the default Caller: timerbus/<version>.
	Version string
	// Source and Format apply to the public events.
	Source     string
	Format     event.Mode
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	// Tracer records the spans of attempts; nil: none.
	Tracer *tracing.Tracer
	// MetricsNamespaces is how many namespaces have separate metrics; all others have the label "other". 50.
	MetricsNamespaces int
	// Redelivered reports whether an earlier delivery of the message may have started (I13). By default that is so if
	// the bus counts at least two deliveries. For a bus that does not count deliveries, it must report true for every
	// message below the queue's end at session open. An event whose revision reports MaybeStarted counts
	// as redelivered as well.
	Redelivered func(*bus.Delivery) bool

	// Limits bound the deliveries that run and wait.
	Limits

	// MaxInFlightBytes bounds the total size of the messages that were taken from the bus and not acknowledged: 16 MiB
	// and one message. On Kafka the bound applies to each partition.
	MaxInFlightBytes int
	// LeaseFor and LeaseRenew apply to deliveries that take longer than LeaseAfter: the row is leased for 15 s, and the
	// lease is renewed every 5 s.
	LeaseFor, LeaseRenew time.Duration
	// PostponeFor is how far a row is postponed: 5 s, with jitter.
	PostponeFor time.Duration
	// HintWindow: a written row that is due within this time gets a hint. 60 s.
	HintWindow time.Duration
	// ClockBound is the largest allowed difference between the clocks of two nodes: 250 ms. Events that arrive earlier
	// than that before their time are counted.
	ClockBound time.Duration
	// CallTimeout bounds one call of the store or the bus: 5 s.
	CallTimeout time.Duration
	// TokenTimeout bounds one request of a token for callbacks: 10 s.
	TokenTimeout time.Duration
	// Drain is how long Run waits for running deliveries after its context has ended: 20 s. Then the remaining
	// deliveries are cut off, and their rows are made due again, which takes at most a second.
	Drain time.Duration
	// PurgeEvery and PurgeBatch apply to expired history: every minute, with jitter, in batches of 1,000 rows.
	PurgeEvery time.Duration
	PurgeBatch int
	// RefreshEvery is the interval at which the namespaces are read: 30 s, with jitter.
	RefreshEvery time.Duration
}

func (c *Config) withDefaults() error {
	if c.Store == nil || c.Bus == nil || c.Directory == nil || c.Clock == nil || c.Revisions == nil || c.Random == nil {
		return errors.New("dispatcher: Store, Bus, Directory, Clock, Revisions and Random are required")
	}
	if err := c.HTTP.Timeouts.Validate(); err != nil {
		return fmt.Errorf("dispatcher: %w", err)
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	c.MetricsNamespaces = cmp.Or(c.MetricsNamespaces, 50)
	c.Format = cmp.Or(c.Format, event.Structured)
	c.Source = cmp.Or(c.Source, "timerbus")
	if c.Redelivered == nil {
		c.Redelivered = wasRedelivered
	}
	c.Concurrency = cmp.Or(c.Concurrency, 2048)
	c.Room = cmp.Or(c.Room, 2*c.Concurrency)
	c.RoomBytes = cmp.Or(c.RoomBytes, 256<<20)
	c.MaxInFlight = cmp.Or(c.MaxInFlight, min(4*c.Concurrency, 1280))
	c.MaxInFlightBytes = cmp.Or(c.MaxInFlightBytes, 16<<20)
	c.Batch = cmp.Or(c.Batch, 256)
	c.ParkAfter = cmp.Or(c.ParkAfter, 5)
	c.GroupSize = cmp.Or(c.GroupSize, 32)
	c.LaterInGroup = cmp.Or(c.LaterInGroup, 4)
	c.LeaseAfter = cmp.Or(c.LeaseAfter, 2*time.Second)
	if c.WebhookTime == nil {
		c.WebhookTime = func(at timer.Millis) timer.Millis { return at }
	}
	c.LeaseFor = cmp.Or(c.LeaseFor, 15*time.Second)
	c.LeaseRenew = cmp.Or(c.LeaseRenew, 5*time.Second)
	c.HoldFor = cmp.Or(c.HoldFor, 10*time.Second)
	c.PostponeFor = cmp.Or(c.PostponeFor, 5*time.Second)
	c.HostLimit = cmp.Or(c.HostLimit, store.DefaultHostConcurrency)
	c.TopicLimit = cmp.Or(c.TopicLimit, max(1, c.Batch/2))
	c.HostMaxWait = cmp.Or(c.HostMaxWait, time.Second)
	c.MaxPostpone = cmp.Or(c.MaxPostpone, time.Minute)
	c.KnownHosts = cmp.Or(c.KnownHosts, 4096)
	c.CircuitAfter = cmp.Or(c.CircuitAfter, 20)
	c.CircuitOpenFor = cmp.Or(c.CircuitOpenFor, 10*time.Second)
	c.HintWindow = cmp.Or(c.HintWindow, time.Minute)
	c.ClockBound = cmp.Or(c.ClockBound, 250*time.Millisecond)
	c.CallTimeout = cmp.Or(c.CallTimeout, 5*time.Second)
	c.TokenTimeout = cmp.Or(c.TokenTimeout, 10*time.Second)
	c.Drain = cmp.Or(c.Drain, 20*time.Second)
	c.PurgeEvery = cmp.Or(c.PurgeEvery, time.Minute)
	c.RefreshEvery = cmp.Or(c.RefreshEvery, 30*time.Second)
	c.PurgeBatch = cmp.Or(c.PurgeBatch, 1000)
	if c.Caller == nil {
		c.HTTP.PerHost = store.MaxHostConcurrency
		c.Caller = callback.NewHTTPCaller(&c.HTTP, c.Version)
	}
	return nil
}
