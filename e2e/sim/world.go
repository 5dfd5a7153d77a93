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

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// namespace is the one that timers live in; lateNamespace may be made while the cluster runs, bulkNamespace has a
// backlog, and quietNamespace is idle before it.
const (
	namespace      = "sim"
	lateNamespace  = "late"
	bulkNamespace  = "bulk"
	quietNamespace = "quiet"
)

// World is a cluster and those outside it, in one bubble.
type World struct {
	plan   *Plan
	start  time.Time
	db     *memstore.Database
	broker *membus.Broker
	nodes  []*node
	blocks map[string]shard.Block
	oracle *oracle
	fence  *fence
	// recording is what the rules are judged by that need the whole life.
	recording *recording
	outside   *membus.Member // publishes commands and reads the public topics
	// healed: the faults have stopped.
	healed bool
	// rollout has an element while a process is being replaced.
	rollout chan struct{}
	// late counts the writes that may still be applied: those that hang, and those that were answered as failed.
	late atomic.Int64
	// tracing never changes; trace grows under mu.
	tracing bool
	trace   []string
	// outlive is the life of what may still happen after the plan's end.
	outlive context.Context //nolint:containedctx // the world is what has this life.
	// groups of goroutines that belong to those outside.
	clients sync.WaitGroup
	others  sync.WaitGroup
	mu      sync.Mutex
}

// Options change what is simulated.
type Options struct {
	// Change, if not nil, is given each node's configuration before it starts: how planted changes
	// get in.
	Change func(*Configs)
	// Trace keeps a line for everything that happens.
	Trace bool
}

// Run plays a plan and returns what the oracle says. t is the test whose bubble this is; it fails only
// if the simulation itself is broken.
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
	w.fence = newFence(w.oracle)
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
	w.create(t, namespace, partitions, settings)
	// Blocks follow each other.
	w.blocks[lateNamespace] = shard.Block{Base: w.blocks[namespace].Base + partitions, Count: partitions}
	if plan.backlog() {
		w.create(t, bulkNamespace, 16*partitions, settings)
		w.create(t, quietNamespace, partitions, settings)
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

// create makes a namespace.
func (w *World) create(t *testing.T, name string, shards int, settings store.Settings) {
	t.Helper()
	ns, err := w.db.Open().CreateNamespace(t.Context(), store.Namespace{
		Name: name, Shards: shard.Block{Count: shards}, Settings: settings,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.blocks[name] = ns.Shards
}

// play starts the cluster, lets the plan happen, heals everything and waits until it has settled.
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
	sleep(ctx, w.plan.Length)
	w.clients.Wait()
	w.heal()
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
	w.healed = true
	w.mu.Unlock()
	w.note("healed")
	w.broker.SetFaults(membus.Faults{Publish: w.publishFault})
	for _, n := range w.nodes {
		n.heal()
	}
	synctest.Wait()
}

// settleLimit is how long after healing everything must have come to its end: the longest backoff and
// reschedule of a script, the longest a lost event may take to be published again, and the slowest answers.
const settleLimit = 10 * time.Minute

// settle waits until no timer is pending.
func (w *World) settle(ctx context.Context) bool {
	handle := w.db.Open()
	for range int(settleLimit / time.Second) {
		sleep(ctx, time.Second)
		counts, err := handle.Count(ctx, timer.SystemClock())
		if err == nil && counts.Pending == 0 && w.late.Load() == 0 && w.oracle.quiet() {
			// Results and marks follow the rows. When all shards are idle, schedulers look for marks every 30 s.
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

// since is the time of the world.
func (w *World) since() time.Duration { return time.Since(w.start) }

func (w *World) note(format string, args ...any) {
	if !w.tracing {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, fmt.Sprintf("%10v  ", w.since())+fmt.Sprintf(format, args...))
}

// listen reads the public topics from outside, for the oracle.
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
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// seeded is a source of random bits that several goroutines may use.
func seeded(seed, stream uint64) func() uint64 {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, stream))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return source.Uint64()
	}
}

// traceHandler puts the services' logs into the trace.
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
