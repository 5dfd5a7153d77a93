package node

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/bus/localqueue"
	"github.com/timerbus/timerbus/internal/changes"
	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/internal/testclock"
	"github.com/timerbus/timerbus/internal/ui"
	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
	"github.com/timerbus/timerbus/services/ingest"
	"github.com/timerbus/timerbus/services/scheduler"
)

// requestTimeout bounds an HTTP request.
const requestTimeout = 10 * time.Second

// assemble builds the services of the role and returns the components of the process in the order in which they start.
// The intake is the last component, so that it stops first.
func assemble(source string, clock *store.Clock, opened timer.Millis, revisions *timer.Revisions, o *Options) ([]process.Component, error) {
	properties := o.Bus.Properties()
	registry := process.NewRegistry(o.Version)
	alone := !store.Shared(o.Store)
	b, queue := o.Bus, (*localqueue.Bus)(nil)
	if keepsDueEvents(o) {
		queue = localqueue.New(b, o.Logger, alone)
		b = queue
	}
	w := &dependencies{
		options: o, registry: registry, store: o.Store, bus: measureBus(b, registry), queue: queue,
		clock: clock, revisions: revisions,
		source: source, format: event.ModeOf(properties.HeaderAttributes), prefix: properties.Prefix, name: o.Name,
		changes: changes.New(ingest.ChangesBytes, rand.Uint64()),
	}
	if alone {
		w.aloneSince = opened
	}
	if w.name == "" {
		var err error
		if w.name, err = os.Hostname(); err != nil {
			w.name = "unknown" // the name is only for people
		}
	}
	var err error
	if w.policy, err = egress.Parse(o.CallbackAllow); err != nil {
		return nil, err
	}
	if keys, ok := store.As[store.APIKeys](o.Store); ok {
		o.Access.Keys = access.NewKeys(keys, clock.Now)
	}
	w.access = access.New(o.Access)
	if w.hosts, err = hostsOf(o, w.access != nil); err != nil {
		return nil, err
	}
	if metered, ok := store.As[prometheus.Collector](o.Store); ok {
		w.registry.MustRegister(metered)
	}
	if metered, ok := bus.As[prometheus.Collector](o.Bus); ok {
		w.registry.MustRegister(metered)
	}
	if o.Role != Ingest {
		w.store = measureStore(o.Store, registry)
	}
	if store.Shared(o.Store) && o.Role != Ingest {
		w.reach = store.NewReach(w.store, o.Logger)
		w.store = w.reach
	}
	w.directory = store.NewDirectory(w.store)
	if o.TestClock != nil {
		if w.driver, err = testclock.NewDriver(o.TestClock, o.Store, clock.Now); err != nil {
			return nil, err
		}
	}
	watch := newStoreWatch(w.store, o.Role == All || o.Role == Scheduler, w.clock, o.wallClock, o.Logger, w.registry)
	components := []process.Component{{Name: "watch", Run: watch.run}}
	if w.reach != nil {
		components = append(components, process.Component{Name: "reach", Run: w.reach.Run})
	}
	for _, service := range []struct {
		role  Role
		build func() ([]process.Component, error)
	}{{Dispatcher, w.dispatcher}, {Scheduler, w.scheduler}, {Ingest, w.ingest}} {
		if o.Role != All && o.Role != service.role {
			continue
		}
		more, err := service.build()
		if err != nil {
			return nil, err
		}
		components = append(components, more...)
	}
	if o.Role == Scheduler || o.Role == Dispatcher {
		components = append(components, w.probes())
	}
	return components, nil
}

// dependencies are the dependencies that the services of one process share.
type dependencies struct {
	options *Options
	// store is Options.Store with metrics; if reach is not nil, it is reach, which observes the calls. reach is nil if no other
	// process could take over the work.
	store     store.Store
	bus       bus.Bus
	queue     *localqueue.Bus // the due queue in memory, which is a part of bus; nil: the bus has it
	reach     *store.Reach
	registry  *prometheus.Registry
	directory *store.Directory
	clock     *store.Clock
	// aloneSince is when the process opened a store that no other process can use; 0 if others can.
	aloneSince timer.Millis
	revisions  *timer.Revisions
	policy     *egress.Policy
	hosts      *process.Hosts // nil accepts all hosts
	access     *access.Authenticator
	changes    *changes.Log                                   // of this process
	targets    func(namespace string, limit int) []api.Target // nil without a dispatcher in this process
	driver     *testclock.Driver                              // nil: no test clock
	source     string
	format     event.Mode // of public events on the bus
	prefix     string     // of the service's topics
	name       string
}

// keepsDueEvents reports whether the process keeps its due events in memory.
func keepsDueEvents(o *Options) bool {
	if o.Role != All {
		return false
	}
	switch o.DueQueue {
	case process.DueQueueMemory:
		return true
	case process.DueQueueBus:
		return false
	default:
		return !store.Shared(o.Store)
	}
}

// hostsOf returns the hosts that requests may be addressed to; nil for all. If a credential is required, the check is
// unnecessary, because a web page does not have one. Beyond loopback the names of this machine are unknown.
func hostsOf(o *Options, credentialRequired bool) (*process.Hosts, error) {
	listen := o.Listener.Addr().String()
	if credentialRequired || !process.Loopback(listen) && o.AllowedHosts == "" {
		return nil, nil //nolint:nilnil // nil accepts all hosts.
	}
	hosts, err := process.ParseHosts(o.AllowedHosts)
	if err != nil {
		return nil, err
	}
	return hosts.Listening(listen), nil
}

func (w *dependencies) dispatcher() ([]process.Component, error) {
	o := w.options
	flows, _ := store.As[store.Flows](o.Store)
	var webhookTime func(timer.Millis) timer.Millis
	if o.TestClock != nil {
		webhookTime = o.TestClock.Real
	}
	s, err := dispatcher.New(dispatcher.Config{
		Store: w.store, Flows: flows, Reach: w.reach, Bus: w.bus, Directory: w.directory, Clock: w.clock.Settled, StoreClock: w.clock,
		Revisions: w.revisions, Random: rand.Uint64,
		Version: o.Version, Source: w.source, Format: w.format, Logger: o.Logger, Registerer: w.registry, WebhookTime: webhookTime,
		MetricsNamespaces: o.MetricsNamespaces, Tracer: o.Tracer,
		HTTP: dispatcher.HTTP{Policy: w.policy, Proxy: o.CallbackProxy}, Keys: o.Keys, Changes: w.changes,
		// The components that stop before the dispatcher need some of the time, and so do the timers that are made due
		// again after it.
		Drain: max(o.Drain-3*time.Second, o.Drain/2, time.Millisecond),
	})
	if err != nil {
		return nil, err
	}
	w.targets = s.Targets
	return []process.Component{{Name: string(Dispatcher), Run: s.Run}}, nil
}

func (w *dependencies) scheduler() ([]process.Component, error) {
	o := w.options
	var queue scheduler.LocalQueue
	if w.queue != nil {
		queue = w.queue
	}
	s, err := scheduler.New(scheduler.Config{
		Store: w.store, Reach: w.reach, Bus: w.bus, LocalQueue: queue, AloneSince: w.aloneSince,
		Directory: w.directory, Clock: w.clock.Now, StoreClock: w.clock,
		Random: rand.Uint64, Node: w.name, Source: w.source, Format: w.format, Logger: o.Logger, Registerer: w.registry,
		PaidByShard: store.AsksByShard(o.Store),
	})
	if err != nil {
		return nil, err
	}
	return []process.Component{{Name: string(Scheduler), Run: s.Run}}, nil
}

func (w *dependencies) ingest() ([]process.Component, error) {
	o := w.options
	positions, _ := store.As[store.Positions](o.Store)
	flows, _ := store.As[store.Flows](o.Store)
	others := []process.Check{w.clockCheck()}
	if o.Role == All {
		others = append(others, w.consumeCheck(Dispatcher), w.consumeCheck(Scheduler), w.busCheck())
	}
	s, err := ingest.New(ingest.Config{
		Store: o.Store, Positions: positions, Flows: flows, Targets: w.targets, Outbox: o.Outbox,
		Directory: w.directory, Bus: w.bus, Clock: w.clock.Settled, StoreClock: w.clock,
		Revisions: w.revisions, Source: w.source, Format: w.format, Prefix: w.prefix, Logger: o.Logger.With("component", "ingest"),
		Registerer: w.registry, Gatherer: w.registry, Ready: others,
		Access: w.access, Hosts: w.hosts, RequestTimeout: requestTimeout, Policy: w.policy, Keys: o.Keys, Tracer: o.Tracer,
		TestClock: w.driver, Changes: w.changes, AllChanges: o.Role == All && w.aloneSince > 0,
	})
	if err != nil {
		return nil, err
	}
	handler := s.Handler()
	if o.UI != nil {
		page := *o.UI
		page.CheckHost = w.hosts.Check
		if handler, err = ui.New(page, handler); err != nil {
			return nil, err
		}
	}
	server := ingest.NewServer(handler, requestTimeout, o.Logger)
	server.RegisterOnShutdown(s.EndStreams)
	if w.driver != nil {
		server.RegisterOnShutdown(w.driver.Stop)
	}
	return []process.Component{{Name: string(Ingest), Run: s.Run}, httpComponent(server, o.Listener, o.Drain/5)}, nil
}
