package scheduler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/membus"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
	"github.com/timerbus/timerbus/services/scheduler"
)

// partitions of the test bus; namespace "n" has the same number of shards.
const partitions = 4

// world has a store, a bus, and a dispatcher that only records its events. It runs in a synctest bubble.
type world struct {
	t         *testing.T
	db        *memstore.Database
	store     *memstore.Store
	broker    *membus.Broker
	directory *store.Directory
	client    *membus.Member
	revisions *timer.Revisions
	random    func() uint64
	made      int

	mu    sync.Mutex
	fired []fired
	// mode is how the dispatcher handles events, and pace the time for each.
	mode mode
	pace time.Duration
}

type mode int

const (
	finishing mode = iota // finish and acknowledge
	ignoring              // acknowledge only
	holding               // neither
)

func (w *world) set(m mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = m
}

// take returns the events published since its last call.
func (w *world) take() []fired {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.fired
	w.fired = nil
	return got
}

type fired struct {
	event.Due
	at timer.Millis
}

// inWorld runs a test in virtual time. The world's dispatcher stops by itself.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	inWorldOf(t, 0, test)
}

// inWorldOf is inWorld with a dispatcher that has at most inFlight events at a time.
func inWorldOf(t *testing.T, inFlight int, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db := memstore.NewDatabase()
		w := &world{
			t: t, db: db, store: db.Open(), broker: membus.New(membus.Options{Partitions: partitions}),
			random: seeded(1),
		}
		w.directory = store.NewDirectory(w.store)
		w.client = w.broker.Join("client")
		w.revisions = timer.NewRevisions(timer.SystemClock, w.random)
		w.namespace("n")
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			err := w.client.Consume(ctx, bus.Spec{Topic: bus.Due, Group: bus.GroupDispatchers, Mode: bus.Queue, MaxInFlight: inFlight},
				func(context.Context, shard.Partition) (bus.Session, error) { return (*receiver)(w), nil })
			if err != nil {
				t.Errorf("consume due events: %v", err)
			}
		}()
		synctest.Wait()
		test(w)
		cancel()
		<-stopped
	})
}

// seeded returns a source of random bits for several goroutines.
func seeded(seed uint64) func() uint64 {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, seed))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return source.Uint64()
	}
}

func (w *world) namespace(name string) store.Namespace {
	w.t.Helper()
	ns, err := w.store.CreateNamespace(w.t.Context(), store.Namespace{
		Name: name, Shards: shard.Block{Count: partitions}, Settings: store.DefaultSettings(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ns
}

// receiver is the world as the session of the due topic.
type receiver world

func (r *receiver) Deliver(ctx context.Context, d *bus.Delivery) error {
	due, err := event.UnmarshalDue(d.Body)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.fired = append(r.fired, fired{Due: due, at: timer.SystemClock()})
	mode, pace := r.mode, r.pace
	r.mu.Unlock()
	if pace > 0 {
		time.Sleep(pace)
	}
	if mode == holding {
		return nil
	}
	if mode == finishing {
		_, err = r.store.Finish(ctx, timer.SystemClock(), []store.Finish{{
			Ref: store.Ref{Shard: due.Shard, UUID: due.UUID}, DueAt: due.DueAt, Kind: store.FinishDone,
			If:     store.Guard{Generation: due.Generation},
			Record: store.Record{Attempt: due.Attempt, KeepFor: time.Hour},
		}})
	}
	d.Ack()
	return err
}

func (r *receiver) Close(context.Context, error) error { return nil }

// node is one running scheduler.
type node struct {
	w       *world
	member  *membus.Member
	stop    context.CancelFunc
	stopped chan error
}

func (w *world) start(name string, change ...func(*scheduler.Config)) *node {
	w.t.Helper()
	n := &node{w: w, member: w.broker.Join(name), stopped: make(chan error, 1)}
	handle := w.db.Open()
	config := scheduler.Config{
		Store: handle, Directory: store.NewDirectory(handle), Bus: n.member,
		Clock: timer.SystemClock, Random: w.random, Node: name, Source: "test",
	}
	for _, c := range change {
		c(&config)
	}
	s, err := scheduler.New(config)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	n.stop = cancel
	go func() { n.stopped <- s.Run(ctx) }()
	synctest.Wait()
	return n
}

// end stops the scheduler in an orderly way.
func (n *node) end() {
	n.w.t.Helper()
	n.stop()
	if err := <-n.stopped; err != nil {
		n.w.t.Errorf("scheduler: %v", err)
	}
}

// crash ends the scheduler without Close.
func (n *node) crash() {
	n.member.Crash()
	n.stop()
	if err := <-n.stopped; err != nil {
		n.w.t.Logf("scheduler after a crash: %v", err)
	}
}

// put creates a timer, and publishes a hint if hint is set.
func (w *world) put(namespace, id string, in time.Duration, hint bool) timer.Timer {
	w.t.Helper()
	ns, err := w.directory.Lookup(w.t.Context(), namespace)
	if err != nil {
		w.t.Fatal(err)
	}
	u := timer.UUIDOf(namespace, id)
	spec := timer.Spec{
		ExecuteAt: timer.SystemClock().Add(in), Deliver: timer.DeliverEvent,
		CallbackTimeout: timer.DefaultCallbackTimeout, Retry: timer.DefaultRetryPolicy(),
	}
	written, err := w.store.Write(w.t.Context(), timer.SystemClock(), []store.Op{store.Put{
		Ref: store.Ref{Shard: ns.Shards.Place(id), UUID: u}, Namespace: namespace, ID: id,
		Revision: w.revisions.Next(), Spec: spec,
	}})
	if err != nil || written[0].Err != nil {
		w.t.Fatal(err, written)
	}
	t := written[0].Timer
	if hint {
		w.hintAs(&t, func(today []byte) []byte { return today })
	}
	return t
}

// hintAs publishes a hint for a timer's state, encoded by change.
func (w *world) hintAs(t *timer.Timer, change func(today []byte) []byte) {
	w.t.Helper()
	ns, err := w.directory.Lookup(w.t.Context(), t.Namespace)
	if err != nil {
		w.t.Fatal(err)
	}
	id := ns.Shards.Place(t.ID)
	_, err = w.client.Publish(w.t.Context(), bus.Shards, bus.Message{
		Partition: shard.PartitionOf(id, partitions), Key: id.String(),
		Body: change(event.MarshalHint(event.Hint{
			Shard: id, UUID: t.UUID, Revision: t.Revision, Generation: t.Generation,
			Attempt: t.Attempts + 1, DueAt: t.DueAt, UpdatedAt: t.UpdatedAt,
		})),
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// pass lets virtual time pass.
func (w *world) pass(d time.Duration) {
	time.Sleep(d) // virtual: the bubble's clock jumps
	synctest.Wait()
}

// wantFired checks that each timer was published exactly once, never early, and at most late after its due time. Then
// it forgets the events.
func (w *world) wantFired(late time.Duration, timers ...timer.Timer) {
	w.t.Helper()
	events := w.take()
	seen := map[timer.Revision]int{}
	for _, f := range events {
		seen[f.Revision]++
		if f.at < f.DueAt {
			w.t.Errorf("published %v early", f.DueAt.Sub(f.at))
		}
	}
	for _, t := range timers {
		if seen[t.Revision] != 1 {
			w.t.Errorf("timer %s was published %d times", t.ID, seen[t.Revision])
		}
		for _, f := range events {
			if f.Revision == t.Revision && f.at.Sub(t.DueAt) > late {
				w.t.Errorf("timer %s was published %v late, want at most %v", t.ID, f.at.Sub(t.DueAt), late)
			}
		}
	}
	if len(events) != len(timers) {
		w.t.Errorf("%d events for %d timers", len(events), len(timers))
	}
}

// many creates timers spread over the shards.
func (w *world) many(n int, in time.Duration, hint bool) []timer.Timer {
	w.t.Helper()
	timers := make([]timer.Timer, n)
	for i := range timers {
		w.made++
		timers[i] = w.put("n", fmt.Sprintf("timer-%d", w.made), in, hint)
	}
	return timers
}
