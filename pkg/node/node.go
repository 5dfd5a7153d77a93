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

	"github.com/timerbus/timerbus/pkg/backend"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/runtime"
	"github.com/timerbus/timerbus/pkg/seal"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
)

const (
	// DefaultNamespace is the one that requests without a namespace mean. Open makes it.
	DefaultNamespace = "default"

	defaultShards = 16
)

// Role is what a node runs.
type Role string

const (
	// All runs every service in one process.
	All Role = ""
	// Ingest takes timers in, by HTTP and from the command topic.
	Ingest Role = "ingest"
	// Scheduler publishes due events.
	Scheduler Role = "scheduler"
	// Dispatcher delivers.
	Dispatcher Role = "dispatcher"
)

// Over puts a bus over the one that was opened, for the services to use. source is the CloudEvents source of what
// the node sends.
type Over func(below Layer, source string) (Layer, error)

// Layer is a bus and what the services must know of it.
type Layer struct {
	Bus bus.Bus
	// Format is how public events lie in its messages.
	Format event.Mode
	// Prefix begins the names of the service's own topics.
	Prefix string
}

// Options say what to run on what. All fields but Role, Name, Migrate, Over, Token, AllowedHosts and Callback… are required.
type Options struct {
	// Role is All by default.
	Role Role
	// Name tells the node from others, for people. Default: the host's name.
	Name string
	// StoreURL, BusURL and Partitions are pkg/backend's.
	StoreURL, BusURL string
	Partitions       int
	// Migrate is pkg/backend's.
	Migrate bool
	// Over, if not nil, is called once by Open. The node closes what it made, before the bus below.
	Over Over
	// Listener takes the requests of the HTTP API, or where the role has none, of probes and metrics. The
	// node closes it.
	Listener net.Listener
	// Token is what clients of the HTTP API and of an embedded bus must present; empty lets everybody in.
	Token string
	// AllowedHosts are the hosts that requests may name in addition to loopback, as runtime.ParseHosts reads them. They are
	// checked where there is no Token and the Listener is on loopback; on other addresses only if there are any.
	AllowedHosts string
	// CallbackAllow says where callbacks may go beside public addresses, as pkg/egress reads it; CallbackProxy
	// is what they go by, nil for none.
	CallbackAllow string
	CallbackProxy *url.URL
	// Keys seal and open the secrets of namespaces. A node that delivers does not start where namespaces have
	// secrets that they do not open.
	Keys seal.Keyring
	// Drain bounds the orderly stop.
	Drain time.Duration
	// Version is what the node says it is.
	Version string
	Logger  *slog.Logger

	// machine is set by tests; nil: this machine's clocks.
	machine store.Machine
}

// wallClock is the machine's wall clock.
func (o *Options) wallClock() timer.Millis {
	if o.machine == nil {
		return timer.SystemClock()
	}
	wall, _ := o.machine()
	return timer.FromTime(wall)
}

// Node is one process, ready to run.
type Node struct {
	backend *backend.Backend
	over    bus.Bus // nil if there is none
	group   runtime.Group
}

// Open opens the store and the bus, makes the default namespace if it is missing, and builds the services.
// Nothing runs before Run, which is to follow; ctx bounds the opening only. When Open fails, everything it
// opened is closed again, but not the listener.
func Open(ctx context.Context, o *Options) (_ *Node, err error) {
	b, err := backend.Open(ctx, backend.Options{
		StoreURL: o.StoreURL, BusURL: o.BusURL, Partitions: o.Partitions, Migrate: o.Migrate, BusToken: o.Token,
		Clock: o.wallClock, Random: rand.Uint64, Logger: o.Logger,
	})
	if err != nil {
		return nil, err
	}
	n, below := &Node{backend: b}, b.Bus
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	if err := n.cover(o); err != nil {
		return nil, err
	}
	clock := store.NewClock(store.ClockConfig{Bound: clockBound, Shared: b.Shared, Machine: o.machine, Logger: o.Logger})
	if err := clock.Start(ctx, b.Store); err != nil {
		return nil, err
	}
	if err := ensureNamespace(ctx, b.Store, clock.Now()); err != nil {
		return nil, err
	}
	if err := checkSecrets(ctx, b.Store, clock.Now(), o); err != nil {
		return nil, err
	}
	revisions := timer.NewRevisions(clock.Now, rand.Uint64)
	switch ended, err := endLeases(ctx, b.Store, clock.Now, revisions); {
	case err != nil: // such as a full disk
		o.Logger.Warn("leases not ended: callbacks that the last process was making are repeated when their leases end", "error", err)
	case ended > 0:
		o.Logger.Info("leases ended: callbacks that the last process was making are repeated now", "timers", ended)
	}
	parts, err := assemble(b, below, clock, revisions, o)
	if err != nil {
		return nil, err
	}
	n.group = runtime.Group{Parts: parts, Drain: o.Drain, Logger: o.Logger}
	return n, nil
}

// cover puts Options.Over's bus over the backend's.
func (n *Node) cover(o *Options) error {
	if o.Over == nil {
		return nil
	}
	b := n.backend
	over, err := o.Over(Layer{b.Bus, b.Format, b.Prefix}, sourceOf(b))
	if err != nil {
		return fmt.Errorf("put a bus over the one that was opened: %w", err)
	}
	n.over = over.Bus
	b.Bus, b.Format, b.Prefix = over.Bus, over.Format, over.Prefix
	return nil
}

// sourceOf is one for all services: an event that two of them tell is the same one.
func sourceOf(b *backend.Backend) string { return "timerbus/" + b.Cluster.ID.String() }

// close closes what Open opened.
func (n *Node) close() error {
	var err error
	if n.over != nil {
		err = n.over.Close()
	}
	return errors.Join(err, n.backend.Close())
}

// BusAddress is where others reach an embedded bus; empty if they cannot.
func (n *Node) BusAddress() string { return n.backend.BusAddress }

// Run runs the services until ctx ends, drains them and closes everything. An error says what killed the
// node or what went wrong while stopping; runtime.ErrNotDrained is among it if a part was left behind.
func (n *Node) Run(ctx context.Context) error {
	err := n.group.Run(ctx)
	if errors.Is(err, runtime.ErrNotDrained) {
		// What was left behind may hold on to the backend for ever. Everything is as after a crash,
		// which it is made for.
		return err
	}
	return errors.Join(err, n.close())
}

// ensureNamespace makes the namespace that requests without one mean.
func ensureNamespace(ctx context.Context, s store.Namespaces, now timer.Millis) error {
	_, err := s.CreateNamespace(ctx, store.Namespace{
		Name: DefaultNamespace, Shards: shard.Block{Count: defaultShards}, Settings: store.DefaultSettings(),
		CreatedAt: now, UpdatedAt: now,
	})
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("make namespace %s: %w", DefaultNamespace, err)
	}
	return nil
}

// checkSecrets refuses to start without a key that is in use: every timer of its namespaces would wait. A single
// damaged secret must not stop the timers of others, and is told.
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
	if errors.Is(err, seal.ErrUnknownKey) {
		return fmt.Errorf("secrets of namespaces cannot be opened: "+
			"add their key to TIMERBUS_SECRET_KEY (--secret-key), behind the newest: %w", err)
	}
	if err != nil {
		o.Logger.ErrorContext(ctx, "timers of a namespace will wait: its secrets cannot be opened", "error", err)
	}
	return nil
}
