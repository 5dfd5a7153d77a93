package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/timerbus/timerbus/internal/bus/localqueue"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/dispatcher"
	"github.com/timerbus/timerbus/services/ingest"
	"github.com/timerbus/timerbus/services/scheduler"
)

// Configs is the configuration of a node before its start. Only that of its role is used.
type Configs struct {
	Ingest     ingest.Config
	Scheduler  scheduler.Config
	Dispatcher dispatcher.Config
	// Release is the release of the process.
	Release Release
	// Wall is the wall clock of the node's machine.
	Wall timer.Clock
}

type nodeRole string

const (
	roleIngest     nodeRole = "ingest"
	roleScheduler  nodeRole = "scheduler"
	roleDispatcher nodeRole = "dispatcher"
	// roleWorker is scheduler and dispatcher, with a due queue in memory.
	roleWorker nodeRole = "worker"
)

func (r nodeRole) schedules() bool { return r == roleScheduler || r == roleWorker }

func (r nodeRole) delivers() bool { return r == roleDispatcher || r == roleWorker }

func role(p *Plan, index int) nodeRole {
	switch {
	case index < ingests:
		return roleIngest
	case p.Local:
		return roleWorker
	case index < ingests+p.Schedulers:
		return roleScheduler
	default:
		return roleDispatcher
	}
}

// node is a machine that runs one service, which dies and starts again. The machine's clocks remain.
type node struct {
	world  *World
	index  int
	role   nodeRole
	offset time.Duration // error of its reading of the store's clock
	clocks *clocks
	change func(*Configs)

	mu      sync.Mutex
	life    *life   // nil while it is down
	release Release // of the next process
	zones   int     // the time zone database of the next process, as an index of Plan.Zones
	lives   int
	// running has all processes ever started, to wait for at the end.
	running sync.WaitGroup
	// calls counts store calls over all lives, by method and, under "", all; publishes counts publishes.
	calls     map[string]int
	publishes int
}

// life is one process on a node.
type life struct {
	node    *node
	number  int
	handle  *faulty
	reach   *store.Reach // of the handle
	clock   *store.Clock
	reader  clockReader
	member  *membus.Member
	queue   *localqueue.Bus // of a worker
	handler http.Handler
	// stop ends the service, and then its dependencies; kill ends everything.
	stop, kill context.CancelFunc
	ended      chan struct{} // closed when the service has ended
	release    Release
	zones      int
	begun      time.Duration
	// Guarded by node.mu. stopping: it accepts no new requests.
	dead, stopping bool
}

func (n *node) String() string { return fmt.Sprintf("%s-%d", n.role, n.index) }

// begin starts a process.
func (n *node) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life != nil {
		return
	}
	n.lives++
	l := &life{
		node: n, number: n.lives, member: n.world.broker.Join(n.String()), release: n.release, ended: make(chan struct{}),
		zones: n.zones, begun: n.world.since(),
	}
	l.handle = newFaulty(n.world.db.Open(), l)
	ctx, kill := context.WithCancel(context.Background())
	serving, stop := context.WithCancel(ctx)
	l.stop, l.kill = stop, kill
	n.life = l
	run := l.service()
	n.world.note("%s  started, %s release", n, l.release)
	n.running.Go(func() { must(l.reach.Run(ctx)) })
	n.running.Go(func() { l.clock.Run(ctx, readClockEvery, l.readClock) })
	n.running.Go(func() {
		err := run(serving)
		kill()
		close(l.ended)
		n.mu.Lock()
		defer n.mu.Unlock()
		if err != nil && !l.dead {
			panic(fmt.Sprintf("%s ended unexpectedly: %v", n, err))
		}
	})
}

// service returns the run function of the node's service.
func (l *life) service() func(context.Context) error {
	n := l.node
	random := seeded(n.world.plan.Seed, uint64(n.index*1000+l.number))
	l.clock = store.NewClock(store.ClockConfig{Bound: clockBound, Shared: true, Machine: n.clocks.machine})
	l.reader.life = l
	l.readClock(context.Background())
	l.reader.random = seeded(n.world.plan.Seed, uint64(n.index*1000+l.number)|1<<32)
	revisions := timer.NewRevisions(l.now, random)
	log := slog.New(&traceHandler{node: n})
	l.reach = store.NewReach(l.handle, log)
	directory := store.NewDirectory(l.reach)
	positions, _ := store.As[store.Positions](l.handle)
	flows := l.handle.flows
	shared := &link{Bus: l.member, life: l}
	if n.role == roleWorker {
		l.queue = localqueue.New(l.member, log, false)
		shared.Bus = l.queue
	}
	c := Configs{
		Release: l.release,
		Ingest: ingest.Config{
			Store: l.handle, Positions: positions, Flows: flows, Directory: directory, Bus: shared, Clock: l.settled,
			StoreClock: l.clock, Revisions: revisions, Source: n.String(), Logger: log, ClockBound: clockBound,
		},
		Scheduler: scheduler.Config{
			Store: l.reach, Reach: l.reach, Directory: directory, Bus: &publisher{Bus: shared, node: n, queue: l.queue}, Clock: l.now, Random: random,
			StoreClock: l.clock, Node: n.String(), Source: n.String(), Logger: log, ClockBound: clockBound,
			PaidByShard: n.world.plan.Paid,
		},
		Dispatcher: dispatcher.Config{
			Store: l.reach, Flows: flows, Reach: l.reach, Directory: directory, Bus: shared, Clock: l.settled, Revisions: revisions,
			StoreClock: l.clock, Random: random, Caller: &receiver{life: l}, Keys: keys(), Source: n.String(), Logger: log, ClockBound: clockBound,
		},
	}
	if l.queue != nil {
		c.Scheduler.LocalQueue = l.queue
	}
	if len(n.world.plan.Zones) > 0 {
		c.Ingest.Zones = ingest.Zones{Version: zoneVersion(l.zones), Load: n.world.plan.Zones[l.zones].load}
	}
	c.Wall = func() timer.Millis { wall, _ := n.clocks.machine(); return timer.FromTime(wall.Add(n.offset)) }
	c.Dispatcher.Concurrency = n.world.plan.Narrow
	if n.world.plan.backlog() {
		c.Scheduler.MaxArmed, c.Scheduler.MaxInFlight, c.Scheduler.QueueAhead = 16*partitions, 8, 16
	}
	c.Dispatcher.CircuitAfter, c.Dispatcher.CircuitOpenFor = n.world.plan.Circuit, n.world.plan.OpenFor
	if n.change != nil {
		n.change(&c)
	}
	c.Scheduler.Store = &watched{Shards: c.Scheduler.Store, fence: n.world.fence}
	switch n.role {
	case roleIngest:
		s, err := ingest.New(c.Ingest)
		must(err)
		l.handler = s.Handler()
		return s.Run
	case roleScheduler:
		s, err := scheduler.New(c.Scheduler)
		must(err)
		return s.Run
	case roleWorker:
		s, err := scheduler.New(c.Scheduler)
		must(err)
		d, err := dispatcher.New(c.Dispatcher)
		must(err)
		return both(s.Run, d.Run)
	default:
		s, err := dispatcher.New(c.Dispatcher)
		must(err)
		return s.Run
	}
}

// both runs a scheduler and a dispatcher until ctx ends. The scheduler stops first.
func both(schedule, deliver func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		delivering, stop := context.WithCancel(context.WithoutCancel(ctx))
		delivered := make(chan error, 1)
		go func() { delivered <- deliver(delivering) }()
		err := schedule(ctx)
		stop()
		return errors.Join(err, <-delivered)
	}
}

// crash ends the process without a Close: its later calls have no effect.
func (n *node) crash() {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.life
	if l == nil {
		return
	}
	n.world.note("%s  crashed", n)
	n.world.recording.struck(Crash, n, 0)
	l.dead, n.life = true, nil
	l.handle.kill()
	l.member.Crash()
	l.kill()
}

// alive reports whether the process has not crashed.
func (l *life) alive() bool {
	l.node.mu.Lock()
	defer l.node.mu.Unlock()
	return !l.dead
}

// current returns the running process, or nil.
func (n *node) current() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// serving returns the running process, or nil if it stops.
func (n *node) serving() *life {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life == nil || n.life.stopping {
		return nil
	}
	return n.life
}

// heal ends the effects of faults on the node.
func (n *node) heal() {
	n.begin()
	l := n.current()
	l.member.Thaw()
	l.member.Connect()
	l.handle.heal()
}

// end stops the process in an orderly way and waits for all processes that ever ran here.
func (n *node) end() {
	if l := n.current(); l != nil {
		l.stop()
	}
	n.running.Wait()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
