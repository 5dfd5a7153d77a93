package dispatcher_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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
	"github.com/timerbus/timerbus/services/dispatcher"
)

const (
	partitions = 4
	// step is the poll interval of the world's scheduler.
	step = 5 * time.Millisecond
)

// world has a store, a bus, a receiver and a minimal scheduler. It runs in a synctest bubble.
type world struct {
	t         *testing.T
	db        *memstore.Database
	store     *memstore.Store
	broker    *membus.Broker
	client    *membus.Member
	revisions *timer.Revisions
	random    func() uint64
	namespace store.Namespace
	began     timer.Millis
	shards    []store.DueAfter
	published map[published]bool
	// targetOf returns the target in the due event of a row; nil: the row's target.
	targetOf func(store.DueRow) timer.Target
	// maybeStarted is that of published events.
	maybeStarted bool
	// ahead is how far the scheduler's clock is ahead.
	ahead time.Duration
	// limit is how many rows the scheduler reads in one poll.
	limit int

	mu    sync.Mutex
	calls []call
	trace []string
	heard []heard
	hints []event.Hint
	// answer is the receiver; nil answers 200.
	answer func(ctx context.Context, c call) dispatcher.Answer
	// connect is how long a connection takes.
	connect time.Duration
	// repeats is how often the transport repeats each request.
	repeats int
}

type published struct {
	uuid     timer.UUID
	revision timer.Revision
}

// call is one callback as seen by the receiver.
type call struct {
	id      string
	attempt timer.Attempt
	timer   timer.Timer
	at      timer.Millis
	node    *node
}

// heard is one public event.
type heard struct {
	topic bus.Topic
	event.CloudEvent
	at timer.Millis
}

func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db := memstore.NewDatabase()
		w := &world{
			t: t, db: db, store: db.Open(), broker: membus.New(membus.Options{Partitions: partitions}),
			random: seeded(1), published: map[published]bool{}, limit: 10_000, began: timer.SystemClock(),
		}
		w.client = w.broker.Join("client")
		w.revisions = timer.NewRevisions(timer.SystemClock, w.random)
		ns, err := w.store.CreateNamespace(t.Context(), store.Namespace{
			Name: "n", Shards: shard.Block{Count: partitions}, Settings: store.DefaultSettings(),
		})
		w.must(err)
		w.namespace = ns
		var ids []shard.ID
		for p := range partitions {
			ids = append(ids, ns.Shards.In(shard.Partition(p), partitions)...)
		}
		claimed, err := w.store.Claim(t.Context(), timer.SystemClock(), store.Owner{Incarnation: timer.UUID{1}}, ids)
		w.must(err)
		for _, c := range claimed {
			w.shards = append(w.shards, store.DueAfter{Claim: c.Claim, After: store.MinKey()})
		}
		ctx, cancel := context.WithCancel(t.Context())
		var listeners sync.WaitGroup
		for _, topic := range []bus.Topic{bus.Fired, bus.Results, bus.Dead} {
			listeners.Go(func() { w.listen(ctx, topic) })
		}
		listeners.Go(func() { w.takeHints(ctx) })
		t.Cleanup(func() { cancel(); listeners.Wait() })
		synctest.Wait()
		test(w)
	})
}

func seeded(seed uint64) func() uint64 {
	var mu sync.Mutex
	source := rand.New(rand.NewPCG(seed, seed))
	return func() uint64 {
		mu.Lock()
		defer mu.Unlock()
		return source.Uint64()
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) listen(ctx context.Context, topic bus.Topic) {
	spec := bus.Spec{Topic: topic, Group: "listener", Mode: bus.Ordered}
	if err := w.client.Consume(ctx, spec, func(context.Context, shard.Partition) (bus.Session, error) {
		return &listener{w, topic}, nil
	}); err != nil {
		w.t.Errorf("listen to %s: %v", topic, err)
	}
}

type listener struct {
	*world
	topic bus.Topic
}

func (l *listener) Deliver(_ context.Context, d *bus.Delivery) error {
	defer d.Ack()
	e, err := event.Decode(d.Headers, d.Body)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, heard{topic: l.topic, CloudEvent: e, at: timer.SystemClock()})
	return nil
}

func (l *listener) Close(context.Context, error) error { return nil }

func (w *world) takeHints(ctx context.Context) {
	spec := bus.Spec{Topic: bus.Shards, Group: bus.GroupSchedulers, Mode: bus.Live}
	if err := w.client.Consume(ctx, spec, func(_ context.Context, p shard.Partition) (bus.Session, error) {
		return &hinted{w, p}, nil
	}); err != nil {
		w.t.Errorf("listen to hints: %v", err)
	}
}

type hinted struct {
	*world
	p shard.Partition
}

func (l *hinted) Deliver(_ context.Context, d *bus.Delivery) error {
	h, err := event.UnmarshalHint(d.Body)
	if err != nil || shard.PartitionOf(h.Shard, partitions) != l.p {
		l.t.Errorf("partition %d got the hint %+v: %v", l.p, h, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hints = append(l.hints, h)
	return nil
}

func (l *hinted) Close(context.Context, error) error { return nil }

// wantHint checks that the last hint of the timer has its present state.
func (w *world) wantHint(id string) {
	w.t.Helper()
	now := w.get(id)
	want := event.Hint{
		Shard: w.ref(id).Shard, UUID: now.UUID, Revision: now.Revision, Generation: now.Generation,
		Attempt: now.Attempts + 1, DueAt: now.DueAt, UpdatedAt: now.UpdatedAt, Target: now.Target(),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var last event.Hint
	for _, h := range w.hints {
		if h.UUID == now.UUID {
			last = h
		}
	}
	if last != want {
		w.t.Fatalf("%s: hinted\n%+v, the row is\n%+v", id, last, want)
	}
}

// events lists the types of the public events about a timer so far, ordered by time, and for equal times by topic.
func (w *world) events(id string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.heard, func(a, b heard) int {
		rank := bus.Topics()
		return cmp.Or(cmp.Compare(a.at, b.at),
			cmp.Compare(slices.Index(rank, a.topic), slices.Index(rank, b.topic)))
	})
	var types []string
	for _, h := range w.heard {
		if h.Subject == event.Subject("n", id) {
			types = append(types, h.Type[len("timerbus.timer."):])
		}
	}
	return types
}

// put creates a timer with a callback, due after d. change may be nil.
func (w *world) put(id string, d time.Duration, change func(*timer.Spec)) timer.Timer {
	w.t.Helper()
	spec := timer.Spec{
		ExecuteAt: timer.SystemClock().Add(d), CallbackURL: "http://receiver.test/" + id,
		CallbackTimeout: timer.DefaultCallbackTimeout, Retry: timer.DefaultRetryPolicy(),
	}
	if change != nil {
		change(&spec)
	}
	return w.write(store.Put{
		Ref: w.ref(id), Namespace: "n", ID: id, Revision: w.revisions.Next(), Spec: spec,
	}).Timer
}

func (w *world) write(op store.Op) store.Written {
	w.t.Helper()
	out, err := w.store.Write(w.t.Context(), timer.SystemClock(), []store.Op{op})
	w.must(err)
	w.must(out[0].Err)
	return out[0]
}

func (w *world) ref(id string) store.Ref {
	return store.Ref{Shard: w.namespace.Shards.Place(id), UUID: timer.UUIDOf("n", id)}
}

// get returns a timer as the API does; the zero timer if there is none.
func (w *world) get(id string) timer.Timer {
	w.t.Helper()
	t, err := w.store.Get(w.t.Context(), timer.SystemClock(), w.ref(id))
	if err != nil {
		return timer.Timer{}
	}
	return t
}

// pass lets time pass, and publishes the timers that become due. The steps of more than a minute are longer, because reading
// the due timers in each step would take most of the tests' time.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	step := max(step, d/12_000)
	for range max(1, int(d/step)) {
		time.Sleep(step)
		w.release()
	}
	synctest.Wait()
}

func (w *world) release() {
	w.t.Helper()
	found, err := w.store.Due(w.t.Context(), store.DueQuery{
		Shards: w.shards, Horizon: timer.SystemClock().Add(w.ahead), PerShard: w.limit, Total: w.limit,
	})
	w.must(err)
	for _, sh := range found {
		for _, row := range sh.Rows {
			key := published{row.Ref.UUID, row.Revision}
			if !w.published[key] {
				w.published[key] = true
				w.publish(row)
			}
		}
	}
}

func (w *world) publish(row store.DueRow) {
	w.t.Helper()
	if w.targetOf != nil {
		row.Target = w.targetOf(row)
	}
	_, err := w.client.Publish(w.t.Context(), bus.Due, bus.Message{
		Partition: shard.PartitionOf(row.Ref.Shard, partitions), Key: row.Ref.Shard.String(),
		Body: event.MarshalDue(event.Due{
			Shard: row.Ref.Shard, UUID: row.Ref.UUID, Revision: row.Revision, Generation: row.Generation,
			Attempt: row.Attempt, DueAt: row.DueAt, Target: row.Target, MaybeStarted: w.maybeStarted,
		}),
	})
	w.must(err)
}

// again publishes a timer's present state a second time, as a sweep would.
func (w *world) again(id string) {
	t := w.get(id)
	w.publish(store.DueRow{
		Ref: w.ref(id), Revision: t.Revision, Generation: t.Generation, Attempt: t.Attempts + 1, DueAt: t.DueAt, Target: t.Target(),
	})
	synctest.Wait()
}

// depth returns the number of due events that are not acknowledged.
func (w *world) depth() int {
	w.t.Helper()
	floors, err := w.client.Floor(w.t.Context(), bus.Due, bus.GroupDispatchers)
	w.must(err)
	return floors[0].Depth
}

func (w *world) wantDepth(want int) {
	w.t.Helper()
	if d := w.depth(); d != want {
		w.t.Fatalf("%d due events are not acknowledged, want %d", d, want)
	}
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, fmt.Sprintf(format, args...))
}

func (w *world) wantTrace(want ...string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.trace, want) {
		w.t.Fatalf("\n got %q\nwant %q", w.trace, want)
	}
}

// called lists the attempts of a timer that the receiver saw.
func (w *world) called(id string) []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found []call
	for _, c := range w.calls {
		if c.id == id {
			found = append(found, c)
		}
	}
	return found
}

func (w *world) wantCalls(id string, n int) {
	w.t.Helper()
	if got := len(w.called(id)); got != n {
		w.t.Fatalf("%s was called %d times, want %d", id, got, n)
	}
}

func (w *world) wantStatus(id string, want timer.Status) timer.Timer {
	w.t.Helper()
	t := w.get(id)
	if t.Status != want {
		w.t.Fatalf("%s is %q, want %q", id, t.Status, want)
	}
	return t
}

// node is one dispatcher process.
type node struct {
	*world
	member *membus.Member
	store  *faulty
	cancel context.CancelFunc
	done   chan struct{}
	killed chan struct{}
	once   sync.Once

	service *dispatcher.Service
}

func (w *world) start(change ...func(*dispatcher.Config)) *node {
	w.t.Helper()
	n := &node{world: w, member: w.broker.Join("node"), done: make(chan struct{}), killed: make(chan struct{})}
	n.store = &faulty{Store: w.db.Open(), node: n}
	config := dispatcher.Config{
		Store: n.store, Flows: n.store, Bus: n.member, Directory: store.NewDirectory(w.store), Clock: timer.SystemClock,
		Revisions: timer.NewRevisions(timer.SystemClock, w.random), Random: w.random, Caller: n,
	}
	for _, f := range change {
		f(&config)
	}
	service, err := dispatcher.New(config)
	w.must(err)
	n.service = service
	ctx, cancel := context.WithCancel(w.t.Context())
	n.cancel = cancel
	go func() {
		defer close(n.done)
		if err := service.Run(ctx); err != nil && !n.dead() {
			w.t.Errorf("run: %v", err)
		}
	}()
	w.t.Cleanup(n.end)
	synctest.Wait()
	return n
}

// end stops the node in an orderly way.
func (n *node) end() {
	n.cancel()
	<-n.done
}

// kill ends the node like kill -9: its later calls have no effect.
func (n *node) kill() {
	n.once.Do(func() {
		close(n.killed)
		n.member.Crash()
		n.cancel()
	})
}

func (n *node) dead() bool {
	select {
	case <-n.killed:
		return true
	default:
		return false
	}
}

// Call is the receiver.
func (n *node) Call(ctx context.Context, r dispatcher.Request) dispatcher.Answer {
	c := call{id: r.Timer.ID, attempt: r.Timer.Attempts + 1, timer: *r.Timer, at: timer.SystemClock(), node: n}
	n.mu.Lock()
	connect, answer, repeats := n.connect, n.answer, n.repeats
	n.mu.Unlock()
	if connect > 0 {
		time.Sleep(connect)
	}
	for range 1 + repeats {
		if r.Confirm != nil && !r.Confirm() {
			return dispatcher.Answer{Err: dispatcher.ErrNotConfirmed}
		}
		c.at = timer.SystemClock()
		n.mu.Lock()
		n.calls = append(n.calls, c)
		n.mu.Unlock()
	}
	if answer == nil {
		return dispatcher.Answer{Status: 200}
	}
	return answer(ctx, c)
}

// after answers with a status after d.
func after(ctx context.Context, d time.Duration, status int) dispatcher.Answer {
	if !timer.Sleep(ctx, d) {
		return dispatcher.Answer{Err: ctx.Err()}
	}
	return dispatcher.Answer{Status: status}
}

// answerAfter is a receiver that answers every call with a status after d.
func answerAfter(d time.Duration, status int) func(context.Context, call) dispatcher.Answer {
	return func(ctx context.Context, _ call) dispatcher.Answer { return after(ctx, d, status) }
}

// faulty is a node's store with faults.
type faulty struct {
	*memstore.Store
	node *node

	mu sync.Mutex
	// before is called before each call: if it returns an error, that is the answer. after is called after it.
	before, after func(op string, items []store.Finish) error
	counts        int // requested by checks
	reads         int // rows read
	// refused is the error for one row, in calls of kind refusedOp: "current", "reread" (all reads of the row except
	// the first), "counted" (reads that count a start, which is counted nevertheless) or "finish".
	refused   error
	refusedOp string
	hot       store.Ref
	hotReads  int
}

func (f *faulty) refuse(op string, hot store.Ref, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refusedOp, f.hot, f.refused, f.hotReads = op, hot, err, 0
}

func (f *faulty) refusal(op string, ref store.Ref) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ref != f.hot {
		return nil
	}
	if op == "current" && f.refusedOp == "reread" {
		if f.hotReads++; f.hotReads == 1 {
			return nil
		}
		return f.refused
	}
	if op == f.refusedOp {
		return f.refused
	}
	return nil
}

// hotRead returns how often the row named in refuse was read.
func (f *faulty) hotRead() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hotReads
}

func (f *faulty) set(before, after func(op string, items []store.Finish) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// refuseFinish lets every write of an outcome or a lease fail until the returned function is called.
func (f *faulty) refuseFinish() (end func()) {
	f.set(func(op string, _ []store.Finish) error {
		if op == "finish" {
			return store.ErrUnavailable
		}
		return nil
	}, nil)
	return func() { f.set(nil, nil) }
}

// killInFinish is a fault that kills the node in a write of an outcome.
func (n *node) killInFinish(op string, _ []store.Finish) error {
	if op != "finish" {
		return nil
	}
	n.kill()
	return store.ErrClosed
}

func (f *faulty) around(op string, items []store.Finish, do func() error) error {
	if f.node.dead() {
		return store.ErrClosed
	}
	f.mu.Lock()
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(op, items); err != nil {
			return err
		}
	}
	err := do()
	if after != nil && err == nil {
		err = after(op, items)
	}
	return err
}

func (f *faulty) Current(ctx context.Context, checks []store.Check) (out []store.Checked, err error) {
	f.mu.Lock()
	f.reads += len(checks)
	for _, c := range checks {
		if c.CountStart {
			f.counts++
		}
	}
	f.mu.Unlock()
	err = f.around("current", nil, func() error {
		out, err = f.Store.Current(ctx, checks)
		return err
	})
	for i := range out {
		op := "current"
		if checks[i].CountStart {
			op = "counted"
		}
		if refused := f.refusal(op, checks[i].Ref); refused != nil {
			out[i] = store.Checked{Err: refused}
		}
	}
	return out, err
}

func (f *faulty) Finish(ctx context.Context, now timer.Millis, items []store.Finish) (out []error, err error) {
	err = f.around("finish", items, func() error {
		out = make([]error, len(items))
		var rest []store.Finish
		var at []int
		for i := range items {
			if out[i] = f.refusal("finish", items[i].Ref); out[i] == nil {
				rest, at = append(rest, items[i]), append(at, i)
			}
		}
		done, err := f.Store.Finish(ctx, now, rest)
		for n, answer := range done {
			out[at[n]] = answer
		}
		return err
	})
	return out, err
}

func (f *faulty) RemoveFromOutbox(ctx context.Context, ids []store.OutboxID) error {
	return f.around("remove from outbox", nil, func() error { return f.Store.RemoveFromOutbox(ctx, ids) })
}

func isKind(items []store.Finish, kind store.FinishKind) bool {
	return len(items) > 0 && items[0].Kind == kind
}

// rowsRead returns the number of rows that the node has read.
func (f *faulty) rowsRead() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

// asked returns the number of counts that the node has requested, including the present call.
func (f *faulty) asked() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}
