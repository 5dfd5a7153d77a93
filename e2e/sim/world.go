package sim

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// namespace is the namespace of most timers. lateNamespace may be created while the cluster runs, bulkNamespace has a
// backlog, and quietNamespace is idle before it.
const (
	namespace      = "sim"
	lateNamespace  = "late"
	bulkNamespace  = "bulk"
	quietNamespace = "quiet"
	// limitedNamespace has quotas, and removedNamespace is deleted.
	limitedNamespace = "limited"
	removedNamespace = "removed"
	// flowNamespace has limits of flows.
	flowNamespace = "flows"
)

// World is a cluster with its clients and receivers, in one bubble.
type World struct {
	plan   *Plan
	start  time.Time
	db     *memstore.Database
	broker *membus.Broker
	nodes  []*node
	blocks map[string]shard.Block
	oracle *oracle
	fence  *fence
	// identity issues the tokens of callbacks.
	identity *identity
	// quotas and removals are the states of limitedNamespace and removedNamespace.
	quotas   *quotas
	removals *removals
	// schedules is what clients and receivers of schedules see.
	schedules *scheduling
	// locals is what was written and delivered of timers with local times.
	locals *locals
	// recording is checked by the rules that need the whole life.
	recording *recording
	outside   *membus.Member // publishes commands and reads the public topics
	// healed: the faults have ended, at healedAt.
	healed   bool
	healedAt time.Duration
	// rollout has an element while a process is being replaced.
	rollout chan struct{}
	// late counts the writes that may still be applied: hanging ones, and those that were answered as failed.
	late atomic.Int64
	// tracing never changes; trace grows under mu.
	tracing bool
	trace   []string
	// outlive is the context of operations that may happen after the plan's end.
	outlive context.Context //nolint:containedctx // it ends with the world.
	// Goroutines outside the services.
	clients sync.WaitGroup
	others  sync.WaitGroup
	mu      sync.Mutex
}

// Options change the simulation.
type Options struct {
	// Change, if not nil, gets each node's configuration before its start. Planted changes are made in it.
	Change func(*Configs)
	// Trace records a line for everything that happens.
	Trace bool
}

// Run executes a plan and returns the oracle's report. t is the test of this bubble; it fails only if the simulation
// itself is broken.
func Run(t *testing.T, plan *Plan, options Options) *Report {
	t.Helper()
	var report *Report
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, plan, options)
		report = w.play(t.Context())
	})
	return report
}

func newWorld(t *testing.T, plan *Plan, options Options) *World {
	t.Helper()
	w := &World{
		plan: plan, tracing: options.Trace, start: time.Now(), db: memstore.NewDatabase(),
		broker: membus.New(membus.Options{Partitions: partitions}), rollout: make(chan struct{}, 1),
	}
	w.recording = &recording{start: w.start, sequences: map[sequence]int{}, handovers: map[subject][]handover{}}
	w.recording.hintFaults(plan)
	w.oracle = newOracle(w)
	w.fence, w.identity = newFence(w.oracle), newIdentity(w)
	w.fence.local = plan.Local
	w.outside = w.broker.Join("outside")
	settings := store.DefaultSettings()
	var err error
	if settings.FinalStatuses, err = settings.FinalStatuses.With(finalStatus); err != nil {
		t.Fatal(err)
	}
	if plan.HostLimit > 0 {
		settings.HostConcurrency = plan.HostLimit
	}
	w.blocks = map[string]shard.Block{}
	w.create(t, namespace, partitions, followUpSettings(plan, settings))
	// Blocks are consecutive.
	w.blocks[lateNamespace] = shard.Block{Base: w.blocks[namespace].Base + partitions, Count: partitions}
	if plan.backlog() {
		w.create(t, bulkNamespace, 16*partitions, settings)
		w.create(t, quietNamespace, partitions, settings)
	}
	w.quotas, w.removals, w.schedules = newQuotas(w), newRemovals(w), newScheduling(w)
	w.locals = newLocals(w)
	if plan.has(func(o *Op) bool { return o.Verb.onSchedule() }) {
		w.create(t, scheduleNamespace, partitions, settings)
	}
	if plan.has(func(o *Op) bool { return o.Verb.onLocal() }) {
		w.create(t, localNamespace, partitions, settings)
	}
	if plan.has(func(o *Op) bool { return o.Limited }) {
		w.create(t, limitedNamespace, partitions, settings)
	}
	if plan.has(func(o *Op) bool { return o.Removed }) {
		w.create(t, removedNamespace, partitions, settings)
		w.removals.begin(w.blocks[removedNamespace])
	}
	if len(plan.Flows) > 0 {
		w.create(t, flowNamespace, partitions, flowSettings(plan, settings))
	}
	for i := range ingests + plan.Schedulers + dispatchers {
		n := &node{
			world: w, index: i, role: role(plan, i), calls: map[string]int{}, offset: plan.Offsets[i], change: options.Change,
			clocks: newClocks(w),
		}
		if plan.Releases != nil {
			n.release = plan.Releases[i]
		}
		w.nodes = append(w.nodes, n)
	}
	return w
}

func (w *World) create(t *testing.T, name string, shards int, settings store.Settings) {
	t.Helper()
	settings.ZoneVersion, settings.Results = zone.Version, w.plan.resultsOf(name)
	if len(w.plan.Zones) > 0 {
		settings.ZoneVersion = zoneVersion(0)
	}
	ns, err := w.db.Open().CreateNamespace(t.Context(), store.Namespace{
		Name: name, Shards: shard.Block{Count: shards}, Settings: settings,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.blocks[name] = ns.Shards
}

// play starts the cluster, executes the plan, heals everything and waits until the cluster has settled.
func (w *World) play(ctx context.Context) *Report {
	ctx, stop := context.WithCancel(ctx)
	w.outlive = ctx
	w.listen(ctx)
	w.broker.SetFaults(w.busFaults())
	for _, n := range w.nodes {
		n.begin()
	}
	for _, f := range w.plan.Faults {
		w.strike(ctx, f)
	}
	w.runClients(ctx)
	if w.plan.has(func(o *Op) bool { return o.Limited }) {
		w.others.Go(func() { w.quotas.watch(ctx) })
	}
	sleep(ctx, w.plan.Length)
	w.clients.Wait()
	w.heal()
	w.locals.await(ctx)
	settled := w.settle(ctx)
	report := w.oracle.report(ctx, settled)
	stop()
	for _, n := range w.nodes {
		n.end()
	}
	w.others.Wait()
	report.Virtual = time.Since(w.start)
	report.Trace = w.trace
	return report
}

// heal ends every fault and starts every node that is down.
func (w *World) heal() {
	w.mu.Lock()
	w.healed, w.healedAt = true, w.since()
	w.mu.Unlock()
	w.note("healed")
	w.broker.SetFaults(membus.Faults{Publish: w.publishFault})
	for _, n := range w.nodes {
		n.heal()
	}
	synctest.Wait()
}

// settleLimit is how long after healing every timer must have ended: the longest backoff and reschedule of a script,
// the longest time until a lost event is published again, and the slowest answers.
const settleLimit = 10 * time.Minute

// settle waits until no timer is pending.
func (w *World) settle(ctx context.Context) bool {
	handle := w.db.Open()
	for range int(settleLimit / time.Second) {
		sleep(ctx, time.Second)
		counts, err := handle.Count(ctx, timer.SystemClock())
		if err == nil && counts.Pending == 0 && w.late.Load() == 0 && w.oracle.quiet() {
			// Results and dead events follow the rows. When all shards are idle, schedulers read the outbox every 30
			// s.
			sleep(ctx, 45*time.Second)
			return true
		}
	}
	return false
}

func (w *World) isHealed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.healed
}

// quietSince is when clients and faults ended.
func (w *World) quietSince() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.healedAt
}

func (w *World) since() time.Duration { return time.Since(w.start) }

func (w *World) note(format string, args ...any) {
	if !w.tracing {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, fmt.Sprintf("%10v  ", w.since())+fmt.Sprintf(format, args...))
}

// listen reads the public topics for the oracle.
func (w *World) listen(ctx context.Context) {
	for _, topic := range []bus.Topic{bus.Fired, bus.Results, bus.Dead} {
		w.others.Go(func() {
			spec := bus.Spec{Topic: topic, Group: "oracle", Mode: bus.Ordered}
			err := w.outside.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) {
				return &listener{world: w, topic: topic}, nil
			})
			if err != nil {
				panic(fmt.Sprintf("listen to %s: %v", topic, err))
			}
		})
	}
	synctest.Wait()
}

type listener struct {
	world *World
	topic bus.Topic
}

func (l *listener) Deliver(_ context.Context, d *bus.Delivery) error {
	l.world.oracle.heard(l.topic, d)
	d.Ack()
	return nil
}

func (l *listener) Close(context.Context, error) error { return nil }

// sleep lets virtual time pass.
func sleep(ctx context.Context, d time.Duration) { timer.Sleep(ctx, d) }

// seeded returns a source of random bits for several goroutines.
func seeded(seed, stream uint64) func() uint64 {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, stream))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return source.Uint64()
	}
}

// traceHandler writes the services' logs to the trace.
type traceHandler struct {
	slog.Handler

	node *node
	with []slog.Attr
}

func (h *traceHandler) Enabled(context.Context, slog.Level) bool { return h.node.world.tracing }

func (h *traceHandler) Handle(_ context.Context, r slog.Record) error {
	line := []string{r.Message}
	for _, a := range h.with {
		line = append(line, a.String())
	}
	r.Attrs(func(a slog.Attr) bool { line = append(line, a.String()); return true })
	h.node.world.note("%s  %s", h.node, strings.Join(line, " "))
	return nil
}

func (h *traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &traceHandler{node: h.node, with: append(append([]slog.Attr(nil), h.with...), attrs...)}
}

func (h *traceHandler) WithGroup(string) slog.Handler { return h }
