package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// world is the environment of a subtest: a fresh store, a namespace, and a present time that changes only when the
// subtest changes it.
type world struct {
	t       testing.TB
	ctx     context.Context //nolint:containedctx // the subtest's context
	factory Factory
	subject Subject
	store   store.Store

	// now is years from the machine's clock, so that an engine that reads the machine's clock fails.
	now  timer.Millis
	ns   store.Namespace
	last timer.Revision
}

// start is 2001-09-09T01:46:40Z.
const start timer.Millis = 1_000_000_000_000

// retention is how long history keeps the suite's outcomes.
const retention = time.Hour

const (
	second timer.Millis = 1000
	minute              = 60 * second
	hour                = 60 * minute
)

func newWorld(tb testing.TB, f Factory) *world {
	tb.Helper()
	w := &world{t: tb, ctx: tb.Context(), factory: f, subject: f.New(tb), now: start, last: 1 << 61}
	w.store = w.subject.Store
	w.ns = w.namespace("default", 4)
	return w
}

// handles returns n handles on the same database. If the engine has no further handles, all are the same one.
func (w *world) handles(n int) []store.Store {
	w.t.Helper()
	out := []store.Store{w.store}
	for len(out) < n {
		if w.subject.Another == nil {
			out = append(out, w.store)
			continue
		}
		out = append(out, w.subject.Another(w.t))
	}
	return out
}

func (w *world) namespace(name string, shards int) store.Namespace {
	w.t.Helper()
	ns, err := w.store.CreateNamespace(w.ctx, store.Namespace{
		Name:      name,
		Shards:    shard.Block{Count: shards},
		Settings:  store.DefaultSettings(),
		CreatedAt: w.now,
		UpdatedAt: w.now,
	})
	w.check(err, "create namespace %q", name)
	return ns
}

// next returns a revision. Consecutive revisions differ in many bits and are not in order, as real ones may be.
func (w *world) next() timer.Revision {
	const stride = 0x2545f4914f6cdd1d
	w.last = (w.last + stride) & (1<<63 - 1)
	return w.last
}

// ref returns the address of a timer of the world's namespace.
func (w *world) ref(id string) store.Ref { return refIn(w.ns, id) }

func refIn(ns store.Namespace, id string) store.Ref {
	return store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}
}

// spec returns a spec in which all fields are set.
func (w *world) spec(executeAt timer.Millis) timer.Spec {
	return timer.Spec{
		ExecuteAt:       executeAt,
		Deliver:         timer.DeliverBoth,
		CallbackURL:     "https://example.com/hook?a=1&b=%20",
		CallbackTimeout: 17*time.Second + time.Millisecond,
		Retry: timer.RetryPolicy{
			MaxAttempts:         7,
			MaxAttemptsDuration: 90 * time.Minute,
			InitialInterval:     1500 * time.Millisecond,
			BackoffMultiplier:   1.75,
			MaxInterval:         11 * time.Minute,
		},
		Payload:       []byte(`{"order": 1,  "ä":"\u00e4"}`),
		CorrelationID: "trace-1",
		Headers:       "X-Team: billing\nX-Trace: a, b;c=\"d\"\n",
		Topic:         "orders.timeouts",
		EventKey:      "customer 7/ä",
		Window:        10 * time.Minute,
		ExpireAfter:   time.Hour,
		OnDone:        "https://example.com/done",
		OnDead:        "https://example.com/dead?ä",
		FlowKey:       "customer 7/ä",
		Local: &timer.LocalTime{
			At: "2030-03-31T02:30:00.5", Zone: "Europe/Berlin", Gap: timer.GapSkip, Repeated: timer.RepeatedSecond,
		},
	}
}

func (w *world) putOp(id string, executeAt timer.Millis) store.Put {
	return store.Put{
		Ref: w.ref(id), Namespace: w.ns.Name, ID: id, Revision: w.next(), Spec: w.spec(executeAt),
	}
}

// put creates a timer and returns its state.
func (w *world) put(id string, executeAt timer.Millis) timer.Timer {
	w.t.Helper()
	return w.mustWrite(w.putOp(id, executeAt)).Timer
}

// putAt creates a timer at the given address. Its shard and uuid need not match an id.
func (w *world) putAt(ref store.Ref, dueAt timer.Millis) timer.Timer {
	w.t.Helper()
	op := w.putOp(fmt.Sprintf("at %x", ref.UUID), dueAt)
	op.Ref = ref
	return w.mustWrite(op).Timer
}

// write applies one operation.
func (w *world) write(op store.Op) store.Written {
	w.t.Helper()
	return w.writeAll(op)[0]
}

func (w *world) mustWrite(op store.Op) store.Written {
	w.t.Helper()
	out := w.write(op)
	w.check(out.Err, "write %T", op)
	return out
}

func (w *world) writeAll(ops ...store.Op) []store.Written {
	w.t.Helper()
	out, err := w.store.Write(w.ctx, w.now, ops)
	w.check(err, "write %d operations", len(ops))
	if len(out) != len(ops) {
		w.t.Fatalf("write of %d operations gave %d answers", len(ops), len(out))
	}
	return out
}

// row returns the present live row.
func (w *world) row(ref store.Ref) (timer.Timer, bool) {
	w.t.Helper()
	out, err := w.store.Current(w.ctx, []store.Check{{Ref: ref}})
	w.check(err, "current %s", ref.UUID)
	return out[0].Timer, out[0].Found
}

// wantRow fails unless the live row equals want.
func (w *world) wantRow(ref store.Ref, want *timer.Timer) {
	w.t.Helper()
	got, ok := w.row(ref)
	if !ok {
		w.t.Fatalf("timer %q is gone, want it live", want.ID)
	}
	w.equal("row of "+want.ID, got, *want)
}

func (w *world) wantNoRow(ref store.Ref) {
	w.t.Helper()
	if got, ok := w.row(ref); ok {
		w.t.Fatalf("a live row is there: %+v", got)
	}
}

func (w *world) get(ref store.Ref) (timer.Timer, error) {
	return w.store.Get(w.ctx, w.now, ref)
}

func (w *world) mustGet(ref store.Ref) timer.Timer {
	w.t.Helper()
	got, err := w.get(ref)
	w.check(err, "get %s", ref.UUID)
	return got
}

func (w *world) history(ref store.Ref) []store.HistoryEntry {
	w.t.Helper()
	out, err := w.store.History(w.ctx, w.now, ref, 1000)
	w.check(err, "history of %s", ref.UUID)
	return out
}

// finishOp returns an outcome for a timer in the given state, guarded by its revision.
func (w *world) finishOp(t *timer.Timer, kind store.FinishKind) store.Finish {
	return store.Finish{
		Ref:    refOf(w.ns, t),
		DueAt:  t.DueAt,
		Kind:   kind,
		If:     store.Guard{Revision: t.Revision},
		Next:   w.next(),
		NextAt: max(w.now, t.ExecuteAt) + minute,
		Record: store.Record{
			Attempt:    t.Attempts + 1,
			StartedAt:  w.now - 2*second,
			FinishedAt: w.now - second,
			StatusCode: 503,
			Error:      "receiver answered 503",
			KeepFor:    retention,
		},
	}
}

// refOf returns the address of a timer whose shard was computed from its id.
func refOf(ns store.Namespace, t *timer.Timer) store.Ref {
	return store.Ref{Shard: ns.Shards.Place(t.ID), UUID: t.UUID}
}

func (w *world) finish(f store.Finish) error {
	w.t.Helper()
	out, err := w.store.Finish(w.ctx, w.now, []store.Finish{f})
	w.check(err, "finish")
	if len(out) != 1 {
		w.t.Fatalf("finish of 1 item gave %d answers", len(out))
	}
	return out[0]
}

// end finishes a timer and returns the outcome.
func (w *world) end(t *timer.Timer, kind store.FinishKind) store.Finish {
	w.t.Helper()
	f := w.finishOp(t, kind)
	w.check(w.finish(f), "finish %q as kind %d", t.ID, kind)
	return f
}

// move is end for the kinds that keep the row. It returns the row's new state.
func (w *world) move(t *timer.Timer, kind store.FinishKind) timer.Timer {
	w.t.Helper()
	f := w.end(t, kind)
	got, ok := w.row(f.Ref)
	if !ok {
		w.t.Fatalf("timer %q is gone after kind %d", t.ID, kind)
	}
	return got
}

func (w *world) claim(shards ...shard.ID) []store.Claimed {
	w.t.Helper()
	return w.claimAs(w.owner(), shards...)
}

func (w *world) claimAs(owner store.Owner, shards ...shard.ID) []store.Claimed {
	w.t.Helper()
	out, err := w.store.Claim(w.ctx, w.now, owner, shards)
	w.check(err, "claim %v", shards)
	if len(out) != len(shards) {
		w.t.Fatalf("claim of %d shards gave %d answers", len(shards), len(out))
	}
	for i, c := range out {
		if c.Claim.Shard != shards[i] {
			w.t.Fatalf("answer %d is about shard %s, want %s", i, c.Claim.Shard, shards[i])
		}
	}
	return out
}

func (w *world) owner() store.Owner {
	return store.Owner{Incarnation: timer.UUIDOf("owner", w.next().String()), Node: "node-1"}
}

// allShards returns the shards of the world's namespace.
func (w *world) allShards() []shard.ID { return w.ns.Shards.In(0, 1) }

// due returns one shard's rows up to a horizon, with sufficient limits.
func (w *world) due(c store.Claim, after store.Key, horizon timer.Millis) store.DueShard {
	w.t.Helper()
	return w.dueAll(store.DueQuery{
		Shards: []store.DueAfter{{Claim: c, After: after}}, Horizon: horizon, PerShard: 1000, Total: 1000,
	})[0]
}

func (w *world) dueAll(q store.DueQuery) []store.DueShard {
	w.t.Helper()
	out, err := w.store.Due(w.ctx, q)
	w.check(err, "due")
	if len(out) != len(q.Shards) {
		w.t.Fatalf("due of %d shards gave %d answers", len(q.Shards), len(out))
	}
	return out
}

// overdue returns one shard's rows due before a time, with a sufficient limit.
func (w *world) overdue(c store.Claim, before timer.Millis) store.OverdueShard {
	w.t.Helper()
	return w.overdueAll(store.OverdueQuery{
		Shards: []store.OverdueRange{{Claim: c, From: store.MinKey(), Upto: store.MaxKeyAt(before)}},
		Before: before, Limit: 1000,
	})[0]
}

func (w *world) overdueAll(q store.OverdueQuery) []store.OverdueShard {
	w.t.Helper()
	out, err := w.store.Overdue(w.ctx, q)
	w.check(err, "overdue")
	if len(out) != len(q.Shards) {
		w.t.Fatalf("overdue of %d shards gave %d answers", len(q.Shards), len(out))
	}
	return out
}

// outbox returns all outbox entries, oldest first.
func (w *world) outbox() []store.OutboxEntry {
	w.t.Helper()
	out, err := w.store.Outbox(w.ctx, w.allShards(), timer.MaxMillis, 1000)
	w.check(err, "outbox")
	slices.SortStableFunc(out, func(a, b store.OutboxEntry) int { return cmp.Compare(a.MarkedAt, b.MarkedAt) })
	return out
}

// check ends the subtest on an error.
func (w *world) check(err error, doing string, args ...any) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", fmt.Sprintf(doing, args...), err)
	}
}

// wantErr fails unless the error wraps the wanted one.
func (w *world) wantErr(got, want error, doing string, args ...any) {
	w.t.Helper()
	if !errors.Is(got, want) {
		w.t.Fatalf("%s: got %v, want %v", fmt.Sprintf(doing, args...), got, want)
	}
}

// equal fails unless two values are equal, and names the fields that differ.
func (w *world) equal(what string, got, want any) {
	w.t.Helper()
	if d := diff(got, want); d != "" {
		w.t.Fatalf("%s differs: %s", what, d)
	}
}

func rowIDs(rows []store.DueRow) []timer.UUID {
	out := make([]timer.UUID, len(rows))
	for i := range rows {
		out[i] = rows[i].Ref.UUID
	}
	return out
}
