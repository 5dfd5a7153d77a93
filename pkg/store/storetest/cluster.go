package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func clusterTests() []test {
	return []test{
		{"Cluster/TheFirstInitMakesTheRecord", clusterInit},
		{"Cluster/OfManyThatInitOneDecides", clusterInitRace},
		{"Cluster/TimeIsTheDatabasesClock", clusterTime},
		{"Cluster/TimeWaitsForNoOtherCall", clusterTimeWaits},
		{"Cluster/PingTellsThatThereIsNoRoom", clusterFull},
		{"Cluster/AClosedHandleAnswersErrClosed", clusterClosed},
		{"Cluster/CloseWaitsForRunningCalls", clusterCloseWaits},
		{"Cluster/HandlesCloseApart", clusterCloseApart},
		{"Cluster/EverythingSurvivesReopening", clusterReopen},
		{"Census/CountsLiveRows", censusCounts},
		{"Census/CountsDeadTimersInHistory", censusDead},
		{"Census/PostponedTimersAreOverdueAndLeasedOnesAreNot", censusPostponed},
		{"Exclusive/ReturnsTheLeasesThatHaveNotEnded", exclusiveLeases},
	}
}

func (w *world) identity(name string, partitions int) store.Identity {
	return store.Identity{ID: timer.UUIDOf("cluster", name), Partitions: partitions, CreatedAt: w.now}
}

func clusterInit(w *world) {
	want := w.identity("first", 16)
	for _, asked := range []store.Identity{want, want, w.identity("second", 32)} {
		got, err := w.store.Init(w.ctx, asked)
		w.check(err, "init")
		w.equal("identity", got, want)
		w.now += minute
	}
}

func clusterInitRace(w *world) {
	const racers = 6
	handles := w.handles(racers)
	got := make([]store.Identity, racers)
	errs := make([]error, racers)
	var group sync.WaitGroup
	for r := range racers {
		wanted := w.identity(fmt.Sprint(r), r+1)
		group.Go(func() { got[r], errs[r] = handles[r].Init(w.ctx, wanted) })
	}
	group.Wait()
	for r := range racers {
		w.check(errs[r], "init by racer %d", r)
		w.equal(fmt.Sprintf("what racer %d was told", r), got[r], got[0])
	}
}

func clusterTime(w *world) {
	// The suite cannot know which clock the engine reads. It only checks that the clock does not go back.
	first, err := w.store.Time(w.ctx)
	w.check(err, "time")
	second, err := w.store.Time(w.ctx)
	w.check(err, "time")
	if first.At <= 0 || second.At < first.At || first.Within < time.Millisecond || first.Within > time.Second {
		w.t.Errorf("the clock shows %+v, then %+v", first, second)
	}
}

// clusterTimeWaits: a process that cannot read the clock of a busy store would stop, although both are healthy.
func clusterTimeWaits(w *world) {
	w.need(AnyOccupy, w.subject.Occupy != nil)
	there := w.put("there", w.now)
	release := sync.OnceFunc(w.subject.Occupy(w.t))
	defer release()
	within := func(limit time.Duration, call func(ctx context.Context) error) error {
		ctx, cancel := context.WithTimeout(w.ctx, limit)
		defer cancel()
		return call(ctx)
	}
	w.wantErr(within(50*time.Millisecond, func(ctx context.Context) error {
		_, err := w.store.Get(ctx, w.now, w.ref("there"))
		return err
	}), context.DeadlineExceeded, "a call of an occupied store")
	for range 2 {
		w.check(within(5*time.Second, func(ctx context.Context) error {
			_, err := w.store.Time(ctx)
			return err
		}), "time of an occupied store")
	}
	release()
	w.wantRow(w.ref("there"), &there)
}

// everyCall calls each method once, with a non-empty request.
func (w *world) everyCall() map[string]error {
	calls := map[string]error{}
	s, ref := w.store, w.ref("a")
	_, calls["Write"] = s.Write(w.ctx, w.now, []store.Op{w.putOp("a", w.now)})
	_, calls["Get"] = s.Get(w.ctx, w.now, ref)
	_, calls["List"] = s.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 1})
	_, calls["DueKeys"] = s.DueKeys(w.ctx, store.DueKeysQuery{Namespace: w.ns, After: store.MinKey(), Limit: 1})
	_, calls["CountLive"] = s.CountLive(w.ctx, w.ns, 1)
	_, calls["History"] = s.History(w.ctx, w.now, ref, 1)
	_, calls["Claim"] = s.Claim(w.ctx, w.now, w.owner(), []shard.ID{ref.Shard})
	_, calls["Release"] = s.Release(w.ctx, w.now, []store.Release{{}})
	_, calls["Due"] = s.Due(w.ctx, store.DueQuery{Shards: []store.DueAfter{{}}, PerShard: 1, Total: 1})
	_, calls["Overdue"] = s.Overdue(w.ctx, store.OverdueQuery{Shards: []store.OverdueRange{{}}, Limit: 1})
	_, calls["Advance"] = s.Advance(w.ctx, w.now, []store.Advance{{}})
	_, calls["Outbox"] = s.Outbox(w.ctx, []shard.ID{ref.Shard}, w.now, 1)
	calls["RemoveFromOutbox"] = s.RemoveFromOutbox(w.ctx, []store.OutboxID{{Ref: ref, Status: timer.StatusDead}})
	_, calls["Inspect"] = s.Inspect(w.ctx, []shard.ID{ref.Shard})
	_, calls["Current"] = s.Current(w.ctx, []store.Check{{Ref: ref}})
	_, calls["Finish"] = s.Finish(w.ctx, w.now, []store.Finish{{Ref: ref, Kind: store.FinishDone, If: store.Guard{Revision: 1}}})
	_, calls["Rearm"] = s.Rearm(w.ctx, w.now, []store.Rearm{{Ref: ref}})
	_, calls["Forget"] = s.Forget(w.ctx, w.now, []store.Forget{{Ref: ref, Generation: 1}})
	_, calls["Purge"] = s.Purge(w.ctx, w.now, 1)
	_, calls["CreateNamespace"] = s.CreateNamespace(w.ctx, store.Namespace{Name: "late", Shards: shard.Block{Count: 1}})
	_, calls["GetNamespace"] = s.GetNamespace(w.ctx, w.ns.Name)
	_, calls["ListNamespaces"] = s.ListNamespaces(w.ctx, "", 10)
	_, calls["UpdateNamespace"] = s.UpdateNamespace(w.ctx, w.ns)
	calls["DeleteNamespace"] = s.DeleteNamespace(w.ctx, w.ns)
	_, calls["Init"] = s.Init(w.ctx, w.identity("late", 1))
	calls["Ping"] = s.Ping(w.ctx)
	_, calls["Time"] = s.Time(w.ctx)
	if p, ok := store.As[store.Positions](s); ok {
		_, calls["WriteAt"] = p.WriteAt(w.ctx, w.now, nil, store.Move{Topic: topic, To: store.Position{Offset: 1}})
		_, calls["Position"] = p.Position(w.ctx, topic, 0)
	}
	if k, ok := store.As[store.APIKeys](s); ok {
		_, calls["GetAPIKey"] = k.GetAPIKey(w.ctx, "late")
		_, calls["ListAPIKeys"] = k.ListAPIKeys(w.ctx)
		calls["PutAPIKey"] = k.PutAPIKey(w.ctx, store.APIKey{Name: "late"})
		calls["DeleteAPIKey"] = k.DeleteAPIKey(w.ctx, "late")
	}
	if f, ok := store.As[store.Flows](s); ok {
		_, calls["GetFlow"] = f.GetFlow(w.ctx, store.FlowKey{Namespace: "default", Key: "late"})
		_, calls["ListFlows"] = f.ListFlows(w.ctx, "default", "", 1)
		calls["SwapFlow"] = f.SwapFlow(w.ctx, 0, flowOf("late", 1, "{}"))
	}
	if c, ok := store.As[store.Census](s); ok {
		_, calls["Count"] = c.Count(w.ctx, w.now)
	}
	return calls
}

func clusterFull(w *world) {
	w.need(AnyFill, w.subject.Fill != nil)
	ping := func() error { return w.store.Ping(w.ctx) }
	there := w.put("there", w.now)
	w.subject.Fill(w.t, true)
	w.check(ping(), "ping before anything failed")
	const most = 100 // each has 100 KiB
	n, refused := 0, error(nil)
	for ; n < most && refused == nil; n++ {
		op := w.putOp(fmt.Sprint("large ", n), w.now)
		op.Spec.Payload = append(append([]byte{'"'}, bytes.Repeat([]byte{'x'}, timer.MaxPayload-2)...), '"')
		_, refused = w.store.Write(w.ctx, w.now, []store.Op{op})
	}
	w.wantErr(refused, store.ErrUnavailable, "write %d on a full disk", n)
	w.wantErr(refused, store.ErrFull, "write %d on a full disk", n)
	for range 2 {
		w.wantErr(ping(), store.ErrFull, "ping on a full disk")
	}
	_, err := w.store.Time(w.ctx)
	w.check(err, "time on a full disk")
	w.wantRow(w.ref("there"), &there)
	w.subject.Fill(w.t, false)
	w.check(ping(), "ping when there is room again")
	w.put("more", w.now)
	w.check(ping(), "ping after a write")
}

func clusterClosed(w *world) {
	w.put("a", w.now)
	w.check(w.store.Close(), "close")
	for method, err := range w.everyCall() {
		if !errors.Is(err, store.ErrClosed) {
			w.t.Errorf("%s after Close answers %v, want ErrClosed", method, err)
		}
	}
	if err := w.store.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
		w.t.Errorf("closing again: %v", err)
	}
}

// clusterCloseWaits closes a handle under load: every call is answered or refused, and the answered writes are stored.
func clusterCloseWaits(w *world) {
	const each = 200
	ops := make([][]store.Op, racers)
	for r := range ops {
		for i := range each {
			ops[r] = append(ops[r], w.putOp(fmt.Sprintf("%d/%d", r, i), w.now))
		}
	}
	answered := make([]int, racers)
	errs := make([]error, racers)
	busy := make(chan struct{}, racers*each)
	var group sync.WaitGroup
	for r := range racers {
		group.Go(func() {
			sent := 0
			defer func() { // a racer that fails must not block the suite
				for ; sent < each; sent++ {
					busy <- struct{}{}
				}
			}()
			for _, op := range ops[r] {
				out, err := w.store.Write(w.ctx, w.now, []store.Op{op})
				if errs[r] = err; err != nil {
					return
				}
				answered[r]++
				if errs[r] = out[0].Err; errs[r] != nil {
					return
				}
				busy <- struct{}{}
				sent++
			}
		})
	}
	for range racers * 2 { // by now nearly all racers are running
		<-busy
	}
	w.check(w.store.Close(), "close")
	_, err := w.store.Write(w.ctx, w.now, ops[0][:1])
	w.wantErr(err, store.ErrClosed, "write after Close")
	group.Wait()
	for r, err := range errs {
		if err != nil && !errors.Is(err, store.ErrClosed) {
			w.t.Errorf("racer %d got %v, want ErrClosed", r, err)
		}
	}
	switch {
	case w.subject.Reopen != nil:
		w.store = w.subject.Reopen(w.t)
	case w.subject.Another != nil:
		w.store = w.subject.Another(w.t)
	default:
		return
	}
	for r := range racers {
		for i := range answered[r] {
			if _, err := w.get(w.ref(fmt.Sprintf("%d/%d", r, i))); err != nil {
				w.t.Fatalf("an answered write is gone: %v", err)
			}
		}
	}
}

func clusterCloseApart(w *world) {
	w.need(AnyHandles, w.subject.Another != nil)
	other := w.subject.Another(w.t)
	t := w.put("a", w.now)
	w.check(w.store.Close(), "close")
	w.store = other
	w.wantRow(w.ref("a"), &t)
	w.put("b", w.now)
}

func clusterReopen(w *world) {
	w.need(AnyReopen, w.subject.Reopen != nil)
	identity, err := w.store.Init(w.ctx, w.identity("lasting", 16))
	w.check(err, "init")
	w.oneOfEach()
	names := []string{"used"}
	w.used("used")
	for _, s := range timer.Statuses() {
		names = append(names, string(s))
	}
	at := store.Position{Epoch: 3, Offset: 4}
	if p, ok := store.As[store.Positions](w.store); ok {
		_, err := p.WriteAt(w.ctx, w.now, []store.Op{w.putOp("by topic", w.now)}, store.Move{Topic: topic, To: at})
		w.check(err, "write at")
	}
	claim := w.claim(w.ns.Shards.Base)[0].Claim
	w.check(w.advance(claim, store.MaxKeyAt(w.now)), "advance")
	w.check(w.release(claim, store.MaxKeyAt(w.now+second)), "release")
	before := w.everything(names...)
	held := w.claim(w.ns.Shards.Base)[0].Claim
	page, err := w.store.List(w.ctx, w.now, store.ListQuery{Namespace: w.ns, Limit: 2})
	w.check(err, "list")
	rest := w.list(store.ListQuery{Limit: 2, After: page.Next})

	w.store = w.subject.Reopen(w.t)
	if err := w.due(held, store.MinKey(), w.now).Err; err != nil {
		w.t.Errorf("a claim from before: %v", err)
	}
	w.equal("the rest of a walk from before", w.list(store.ListQuery{Limit: 2, After: page.Next}), rest)
	w.wantEverything("reopened", w.everything(names...), before)
	got, err := w.store.Init(w.ctx, w.identity("other", 1))
	w.check(err, "init")
	w.equal("identity", got, identity)
	ns, err := w.store.GetNamespace(w.ctx, w.ns.Name)
	w.check(err, "get namespace")
	w.equal("namespace", ns, w.ns)
	w.wantDisjoint([]store.Namespace{w.ns, w.namespace("after", 4)})
	if p, ok := store.As[store.Positions](w.store); ok {
		w.wantPosition(p, 0, at)
	}
	if got := w.claim(w.ns.Shards.Base)[0].Claim.Version; got <= held.Version {
		w.t.Errorf("version %d after version %d", got, held.Version)
	}
}

// census returns a function that counts and compares.
func (w *world) census() func(what string, want store.Counts) {
	w.t.Helper()
	c, ok := store.As[store.Census](w.store)
	w.need(AnyCensus, ok)
	return func(what string, want store.Counts) {
		w.t.Helper()
		got, err := c.Count(w.ctx, w.now)
		w.check(err, "count")
		w.equal(what, got, want)
	}
}

func censusCounts(w *world) {
	count := w.census()
	count("nothing", store.Counts{OldestPlannedAt: timer.Never})
	w.oneOfEach() // scheduled is due now, retrying in a minute
	count("one of each", store.Counts{Pending: 2, Parked: 1, Paused: 1, Dead: 1, OldestPlannedAt: w.now})
	first := w.now
	w.now++
	count("a millisecond later", store.Counts{Pending: 2, Overdue: 1, Parked: 1, Paused: 1, Dead: 1, OldestPlannedAt: first})
	w.now += hour
	count("an hour later", store.Counts{Pending: 2, Overdue: 2, Parked: 1, Paused: 1, Dead: 1, OldestPlannedAt: first})
	other := *w
	other.ns = w.namespace("other", 2)
	other.put("x", w.now)
	count("of all namespaces", store.Counts{Pending: 3, Overdue: 2, Parked: 1, Paused: 1, Dead: 1, OldestPlannedAt: first})
	w.mustWrite(store.Delete{Ref: w.ref("scheduled")})
	count("after a delete", store.Counts{Pending: 2, Overdue: 1, Parked: 1, Paused: 1, Dead: 1, OldestPlannedAt: first + minute})
}

// censusDead: the gauge of dead timers counts those that are neither started again nor removed.
func censusDead(w *world) {
	count := w.census()
	want := func(what string, pending, dead int64) {
		w.t.Helper()
		counts := store.Counts{Pending: pending, Dead: dead, OldestPlannedAt: timer.Never}
		if pending > 0 {
			counts.OldestPlannedAt = w.now
		}
		count(what, counts)
	}
	var dead []timer.Timer
	for _, id := range []string{"a", "b", "c"} {
		t := w.put(id, w.now)
		w.end(&t, store.FinishDead)
		dead = append(dead, t)
	}
	done := w.put("done", w.now)
	w.end(&done, store.FinishDone)
	want("three dead timers with their events to be published", 0, 3)
	w.publish()
	want("and published", 0, 3)
	w.check(w.forget(store.Forget{Ref: w.ref("a"), Generation: dead[0].Generation})[0], "forget")
	want("after one was forgotten", 0, 2)
	again := w.put("b", w.now)
	want("after one was created again", 1, 1)
	w.end(&again, store.FinishDead)
	want("after that died, too", 0, 2)
	w.publish()
	w.check(w.rearm(w.rearmOp("c", w.now)).Err, "rearm")
	want("after one was started again", 1, 1)
	w.mustWrite(store.Delete{Ref: w.ref("c")})
	if w.purges() {
		w.now += 10_000 * hour
		w.purge(100)
		want("after the retention", 0, 0)
	}
}

// censusPostponed: the overdue gauges count the timers of a receiver that is down, but not timers in delivery.
func censusPostponed(w *world) {
	count := w.census()
	planned := w.now
	t := w.put("a", planned)
	w.now += minute
	t = w.move(&t, store.FinishPostponed)
	count("postponed", store.Counts{Pending: 1, Overdue: 1, OldestPlannedAt: planned})
	w.now += 2 * minute
	count("postponed, and due again", store.Counts{Pending: 1, Overdue: 1, OldestPlannedAt: planned})
	t = w.move(&t, store.FinishLeased)
	count("leased", store.Counts{Pending: 1, OldestPlannedAt: t.DueAt})
	w.now = t.DueAt
	count("leased until now", store.Counts{Pending: 1, OldestPlannedAt: t.DueAt})
	w.now++
	count("leased until a millisecond ago", store.Counts{Pending: 1, Overdue: 1, OldestPlannedAt: planned})
	t = w.move(&t, store.FinishPostponed)
	count("postponed after the lease", store.Counts{Pending: 1, Overdue: 1, OldestPlannedAt: planned})
	b := w.put("b", w.now+hour)
	w.move(&b, store.FinishPostponed) // not before executeAt
	count("beside one that is not due", store.Counts{Pending: 2, Overdue: 1, OldestPlannedAt: planned})
	t = w.move(&t, store.FinishRetry)
	count("to be tried again", store.Counts{Pending: 2, OldestPlannedAt: t.DueAt})
	t = w.move(&t, store.FinishPostponed)
	w.move(&t, store.FinishParked)
	w.now += minute + 1
	count("parked", store.Counts{Pending: 1, Parked: 1, OldestPlannedAt: b.DueAt})
	w.mustWrite(store.Delete{Ref: w.ref("b")})
	count("after a delete", store.Counts{Parked: 1, OldestPlannedAt: timer.Never})
}

// exclusiveLeases: a process that opens the database finds the timers that a dead process was delivering, and no
// others.
func exclusiveLeases(w *world) {
	e, ok := store.As[store.Exclusive](w.store)
	w.need(AnyLeases, ok)
	want := func(what string, limit, n int, want ...timer.Timer) {
		w.t.Helper()
		got, err := e.Leased(w.ctx, w.now, limit)
		w.check(err, "leased")
		if len(got) != n {
			w.t.Fatalf("%s: %d leases, want %d", what, len(got), n)
		}
		for _, l := range got {
			if !slices.ContainsFunc(want, func(t timer.Timer) bool {
				return l == store.Lease{Ref: w.ref(t.ID), Until: t.DueAt, Revision: t.Revision}
			}) {
				w.t.Errorf("%s: the lease %+v is not among %+v", what, l, want)
			}
		}
	}
	a, b, parked := w.put("a", w.now), w.put("b", w.now), w.put("parked", w.now)
	w.put("scheduled", w.now+hour)
	postponed := w.put("postponed", w.now)
	w.move(&postponed, store.FinishPostponed)
	want("before any lease", 10, 0)
	a, b, parked = w.move(&a, store.FinishLeased), w.move(&b, store.FinishLeased), w.move(&parked, store.FinishLeased)
	w.move(&parked, store.FinishParked)
	want("leased", 10, 2, a, b)
	want("a page of one", 1, 1, a, b)
	w.move(&b, store.FinishRetry)
	want("one was delivered", 10, 1, a)
	w.now = a.DueAt
	want("the lease ends now", 10, 0)
}
