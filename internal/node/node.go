package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/url"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/encryption"
	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/internal/tracing"
	"github.com/timerbus/timerbus/internal/ui"
	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

const (
	// DefaultNamespace is the namespace of requests without a namespace. Open creates it.
	DefaultNamespace = "default"

	defaultShards = 16
)

// Role selects the services that a node runs.
type Role string

const (
	// All runs every service in one process.
	All Role = ""
	// Ingest accepts commands, by HTTP and from the command topic.
	Ingest Role = "ingest"
	// Scheduler publishes due events.
	Scheduler Role = "scheduler"
	// Dispatcher delivers due timers.
	Dispatcher Role = "dispatcher"
)

// Options configure Open. All fields but Role, Name, Close, Outbox, Access, UI, AllowedHosts, DueQueue, MetricsNamespaces, Tracer,
// TestClock and Callback… are required.
type Options struct {
	// Role is All by default.
	Role Role
	// Name identifies the node in lists of shards. Default: the host's name.
	Name string
	// Store and Bus are open. The bus has as many partitions as the cluster record in the store.
	Store store.Store
	Bus   bus.Bus
	// Close, if not nil, is called once after the services have stopped, or when Open fails.
	Close func() error
	// Outbox is the outbox in a database of the user; nil for none. Only roles with ingest use it.
	Outbox outbox.Outbox
	// Listener accepts the requests of the HTTP API or, for roles without it, of probes and metrics. The node closes
	// it.
	Listener net.Listener
	// Access are the credentials that clients of the HTTP API need; none by default. Open adds the API keys of the store.
	Access access.Options
	// UI is the web UI that nodes with the HTTP API serve; nil for none.
	UI *ui.Options
	// AllowedHosts are the hosts that requests may be addressed to in addition to loopback; process.ParseHosts parses
	// them. They are checked only if no credential is required, and on a Listener that is not on loopback only if AllowedHosts
	// is not empty.
	AllowedHosts string
	// CallbackAllow is the policy for the destinations of callbacks in addition to public addresses; egress.Parse
	// parses it. CallbackProxy returns the proxy for callbacks; nil for none. Only the user and password may change.
	CallbackAllow string
	CallbackProxy func() *url.URL
	// Keys encrypt and decrypt the secrets of namespaces. A node that delivers does not start if a secret of a
	// namespace is encrypted with a key that is not in Keys.
	Keys encryption.Keyring
	// DueQueue is that of process.Config; empty for process.DueQueueAuto. Only the role All uses it.
	DueQueue string
	// MetricsNamespaces is that of dispatcher.Config.
	MetricsNamespaces int
	// Tracer records spans; nil: none.
	Tracer *tracing.Tracer
	// Drain bounds the orderly stop.
	Drain time.Duration
	// Version is the version in metrics and in the User-Agent of callbacks.
	Version string
	Logger  *slog.Logger

	// TestClock, if not nil, is the clock of all services. Its Now must be the clock of the store, which must not be shared.
	TestClock *testclock.Clock
	// machine replaces this machine's clocks in tests; nil: this machine's clocks.
	machine store.Machine
}

// wallClock returns the time of the machine's wall clock.
func (o *Options) wallClock() timer.Millis {
	machine := o.machineClocks()
	if machine == nil {
		return timer.SystemClock()
	}
	wall, _ := machine()
	return timer.FromTime(wall)
}

// machineClocks returns the clocks that replace those of this machine; nil for none.
func (o *Options) machineClocks() store.Machine {
	if o.TestClock != nil {
		return o.TestClock.Machine
	}
	return o.machine
}

// Node is one process, ready to run.
type Node struct {
	group process.Group
	close func() error
}

// Open creates the cluster record and the default namespace if they do not exist, and builds the services. The caller
// must then call Run, which starts them; ctx bounds only the opening. If Open fails, it does not close the listener.
func Open(ctx context.Context, o *Options) (_ *Node, err error) {
	n := &Node{close: o.Close}
	if n.close == nil {
		n.close = func() error { return nil }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	identity, err := store.Identify(ctx, o.Store, o.Bus.Partitions(), o.wallClock(), rand.Uint64)
	if err != nil {
		return nil, err
	}
	clock := store.NewClock(store.ClockConfig{
		Bound: clockBound, Shared: store.Shared(o.Store), Virtual: o.TestClock != nil, Machine: o.machineClocks(), Logger: o.Logger,
	})
	if err := clock.Start(ctx, o.Store); err != nil {
		return nil, err
	}
	if err := ensureNamespace(ctx, o.Store, clock.Now()); err != nil {
		return nil, err
	}
	if err := checkSecrets(ctx, o.Store, clock.Now(), o); err != nil {
		return nil, err
	}
	revisions, opened := timer.NewRevisions(clock.Now, rand.Uint64), clock.Now()
	switch ended, err := endLeases(ctx, o.Store, clock.Now, revisions); {
	case err != nil: // for example, because the disk is full
		o.Logger.Warn("leases of the previous process not ended, its callbacks are repeated when the leases expire", "error", err)
	case ended > 0:
		o.Logger.Info("leases of the previous process ended, its callbacks are repeated now", "timers", ended)
	}
	parts, err := assemble(Source(identity), clock, opened, revisions, o)
	if err != nil {
		return nil, err
	}
	n.group = process.Group{Components: parts, Drain: o.Drain, Logger: o.Logger}
	return n, nil
}

// Source returns the CloudEvents source. All services of a cluster use the same one, so that an event that two of
// them publish has the same source and id.
func Source(cluster store.Identity) string { return "timerbus/" + cluster.ID.String() }

// Run runs the services until ctx ends, drains them and calls Options.Close. An error is the cause of an early end, or a
// failure while stopping. It wraps process.ErrNotDrained if a component did not stop in time.
func (n *Node) Run(ctx context.Context) error {
	err := n.group.Run(ctx)
	if errors.Is(err, process.ErrNotDrained) {
		// A component that did not stop may use the store and the bus indefinitely, so they are not closed. The state is the
		// same as after a crash, which the protocol tolerates.
		return err
	}
	return errors.Join(err, n.close())
}

// ensureNamespace creates DefaultNamespace if it does not exist. It reads first, because the users of some roles may only read
// namespaces.
func ensureNamespace(ctx context.Context, s store.Namespaces, now timer.Millis) error {
	_, err := s.GetNamespace(ctx, DefaultNamespace)
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	settings := store.DefaultSettings()
	settings.ZoneVersion = zone.Version // it has no timers
	_, err = s.CreateNamespace(ctx, store.Namespace{
		Name: DefaultNamespace, Shards: shard.Block{Count: defaultShards}, Settings: settings,
		CreatedAt: now, UpdatedAt: now,
	})
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("create namespace %s: %w", DefaultNamespace, err)
	}
	return nil
}

// checkSecrets returns an error if a secret of a namespace is encrypted with an unknown key, because every timer of
// that namespace would be postponed. It only logs a damaged secret, because one damaged secret must not stop the timers
// of other namespaces.
func checkSecrets(ctx context.Context, s store.Namespaces, now timer.Millis, o *Options) error {
	if o.Role != All && o.Role != Dispatcher {
		return nil
	}
	var all []store.Namespace
	for ns, err := range store.AllNamespaces(ctx, s) {
		if err != nil {
			return err
		}
		all = append(all, ns)
	}
	err := dispatcher.CheckSettings(o.Keys, all, now)
	if errors.Is(err, encryption.ErrUnknownKey) {
		return fmt.Errorf("secrets of namespaces cannot be decrypted: "+
			"add their key to TIMERBUS_SECRET_KEY (--secret-key), after the newest key: %w", err)
	}
	if err != nil {
		o.Logger.ErrorContext(ctx, "timers of a namespace are postponed: its secrets cannot be decrypted", "error", err)
	}
	return nil
}
