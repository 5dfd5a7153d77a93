package faultstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/faultstore"
	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/storetest"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestStore: without faults the decorator changes nothing.
func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Factory{
		New: func(testing.TB) storetest.Subject {
			db, faults := memstore.NewDatabase(), faultstore.New(nil)
			open := func(testing.TB) store.Store { return faults.Wrap(db.Open()) }
			return storetest.Subject{Store: open(nil), Another: open, Reopen: open}
		},
		Reference: func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
		Without:   map[storetest.Ability]string{storetest.AnyFill: "a store in memory has no disk", storetest.AnyRefusing: "it refuses nothing", storetest.AnyOccupy: "its calls wait for no connection"},
	})
}

// fixture is a store with faults, and a second handle on the same data without faults.
type fixture struct {
	faulty, plain store.Store
	faults        *faultstore.Faults
}

func newFixture(plan faultstore.Plan) *fixture {
	db, faults := memstore.NewDatabase(), faultstore.New(plan)
	return &fixture{faulty: faults.Wrap(db.Open()), plain: db.Open(), faults: faults}
}

func put(id string, revision timer.Revision) store.Op {
	return store.Put{
		Ref: ref(id), Namespace: "n", ID: id, Revision: revision,
		Spec: timer.Spec{ExecuteAt: 1000, Payload: []byte(`"` + id + `"`)},
	}
}

func ref(id string) store.Ref { return store.Ref{Shard: 1, UUID: timer.UUIDOf("n", id)} }

// there reports which of the timers are live.
func (f *fixture) there(t *testing.T, ids ...string) []bool {
	t.Helper()
	var out []bool
	for _, id := range ids {
		_, err := f.plain.Get(t.Context(), 0, ref(id))
		out = append(out, err == nil)
	}
	return out
}

func (f *fixture) want(t *testing.T, ids []string, want ...bool) {
	t.Helper()
	if got := f.there(t, ids...); !slices.Equal(got, want) {
		t.Errorf("%v are there: %v, want %v", ids, got, want)
	}
}

func TestFailBeforeAppliesNothing(t *testing.T) {
	f := newFixture(faultstore.OnCall("Write", 2, faultstore.Fault{Kind: faultstore.FailBefore}))
	for i, id := range []string{"a", "b", "c"} {
		_, err := f.faulty.Write(t.Context(), 0, []store.Op{put(id, timer.Revision(i+1))})
		if failed := i == 1; failed != errors.Is(err, store.ErrUnavailable) || !failed && err != nil {
			t.Errorf("call %d: %v", i+1, err)
		}
	}
	f.want(t, []string{"a", "b", "c"}, true, false, true)
	if n := f.faults.Calls("Write"); n != 3 {
		t.Errorf("%d calls counted, want 3", n)
	}
}

func TestFailAfterAppliesAndLosesTheAnswer(t *testing.T) {
	f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailAfter}, "Write", "Get", "Current"))
	out, err := f.faulty.Write(t.Context(), 0, []store.Op{put("a", 1)})
	if !errors.Is(err, store.ErrOutcomeUnknown) || out != nil {
		t.Errorf("write: %v, %v", out, err)
	}
	f.want(t, []string{"a"}, true)
	if _, err := f.faulty.Get(t.Context(), 0, ref("a")); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a read whose answer is lost: %v, want ErrUnavailable", err)
	}
	check := store.Check{Ref: ref("a"), Revision: 1}
	if _, err := f.faulty.Current(t.Context(), []store.Check{check}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("a row check whose answer is lost: %v, want ErrUnavailable", err)
	}
	check.CountStart = true
	if _, err := f.faulty.Current(t.Context(), []store.Check{check}); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("a counted start whose answer is lost: %v, want ErrOutcomeUnknown", err)
	}
	if got, _ := f.plain.Get(t.Context(), 0, ref("a")); got.Starts != 1 {
		t.Errorf("%d starts, want the one counted", got.Starts)
	}
}

func TestFailPartlyAppliesTheFirstHalf(t *testing.T) {
	f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailPartly}, "Write", "WriteAt"))
	_, err := f.faulty.Write(t.Context(), 0, []store.Op{put("a", 1), put("b", 2), put("c", 3)})
	if !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("write: %v", err)
	}
	f.want(t, []string{"a", "b", "c"}, true, false, false)

	positions, _ := store.As[store.Positions](f.faulty)
	move := store.Move{Topic: "commands", To: store.Position{Offset: 1}}
	if _, err := positions.WriteAt(t.Context(), 0, []store.Op{put("b", 4), put("c", 5)}, move); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("write at: %v", err)
	}
	f.want(t, []string{"b", "c"}, false, false) // FailPartly applies no part of a transaction
}

func TestDelayWaitsAndKeepsToTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Delay, For: 3 * time.Second}, "Write"))
		begin := time.Now()
		if _, err := f.faulty.Write(t.Context(), 0, []store.Op{put("a", 1)}); err != nil {
			t.Errorf("write: %v", err)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("took %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.faulty.Write(ctx, 0, []store.Op{put("b", 2)})
		if !errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("write under a context that ended: %v", err)
		}
		f.want(t, []string{"a", "b"}, true, false)
	})
}

func TestFreezeUntilReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		until := make(chan struct{})
		f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Freeze, Until: until}, "Write", "Due"))
		var done bool
		go func() {
			_, err := f.faulty.Write(t.Context(), 0, []store.Op{put("a", 1)})
			done = err == nil
		}()
		synctest.Wait()
		f.want(t, []string{"a"}, false)
		close(until)
		synctest.Wait()
		f.want(t, []string{"a"}, true)
		if !done {
			t.Error("the released call did not answer")
		}
	})
}

func TestFreezeUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.Freeze}, "Write", "Due"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, err := f.faulty.Write(ctx, 0, []store.Op{put("a", 1)})
		if !errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("write: %v", err)
		}
		_, err = f.faulty.Due(ctx, store.DueQuery{Shards: []store.DueAfter{{}}, PerShard: 1, Total: 1})
		if errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("due: %v", err)
		}
		f.want(t, []string{"a"}, false)
	})
}

func TestCommitLateAppliesWhenTold(t *testing.T) {
	f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.CommitLate}, "Write"))
	ctx, cancel := context.WithCancel(t.Context())
	op, ok := put("a", 1).(store.Put)
	if !ok {
		t.Fatal("not a Put")
	}
	ops := []store.Op{op}
	if _, err := f.faulty.Write(ctx, 0, ops); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("write: %v", err)
	}
	if _, err := f.faulty.Write(ctx, 0, []store.Op{put("b", 2)}); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("write: %v", err)
	}
	// The caller changes its context and its slices after the call.
	cancel()
	clear(op.Spec.Payload)
	ops[0] = put("other", 3)
	f.want(t, []string{"a", "b", "other"}, false, false, false)
	if n := f.faults.Late(); n != 2 {
		t.Errorf("%d late calls, want 2", n)
	}
	f.faults.CommitNext()
	f.want(t, []string{"a", "b", "other"}, true, false, false)
	if got, _ := f.plain.Get(t.Context(), 0, ref("a")); string(got.Payload) != `"a"` {
		t.Errorf("payload %q was applied, want what was passed in", got.Payload)
	}
	if !f.faults.CommitNext() || f.faults.CommitNext() {
		t.Error("CommitNext does not tell whether there was one")
	}
	f.want(t, []string{"a", "b", "other"}, true, true, false)
}

func TestCommitLateHeldUntilTheContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.CommitLate, Hold: true}, "Write"))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begin := time.Now()
		_, err := f.faulty.Write(ctx, 0, []store.Op{put("a", 1)})
		if !errors.Is(err, store.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("write: %v after %v", err, time.Since(begin))
		}
		f.want(t, []string{"a"}, false)
		f.faults.CommitNext()
		f.want(t, []string{"a"}, true)
	})
}

// TestALateAdvanceIsFenced: a delayed Advance of an earlier owner changes nothing.
func TestALateAdvanceIsFenced(t *testing.T) {
	f := newFixture(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.CommitLate}, "Advance"))
	ctx := t.Context()
	claimed, err := f.faulty.Claim(ctx, 0, store.Owner{Incarnation: timer.UUID{1}}, []shard.ID{1})
	if err != nil {
		t.Fatal(err)
	}
	advance := []store.Advance{{Claim: claimed[0].Claim, Watermark: store.MaxKeyAt(99)}}
	if _, err := f.faulty.Advance(ctx, 0, advance); !errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("advance: %v", err)
	}
	for range 2 { // before and after the delayed call is applied
		claimed, err = f.plain.Claim(ctx, 0, store.Owner{Incarnation: timer.UUID{2}}, []shard.ID{1})
		if err != nil || claimed[0].Watermark != store.MinKey() {
			t.Errorf("claim finds %v (%v), want MinKey", claimed, err)
		}
		f.faults.CommitNext()
	}
}

func TestPlansSeeCallsInOrder(t *testing.T) {
	var seen []int
	f := newFixture(func(method string, n int) faultstore.Fault {
		if method == "Ping" {
			seen = append(seen, n)
		}
		return faultstore.Fault{}
	})
	for range 3 {
		if err := f.faulty.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.faulty.Write(t.Context(), 0, nil); err != nil || f.faults.Calls("Write") != 0 {
		t.Errorf("an empty batch was counted as a call (%v)", err)
	}
	f.faults.Follow(faultstore.OnCall("Ping", 5, faultstore.Fault{Kind: faultstore.FailBefore}))
	fourth := f.faulty.Ping(t.Context())
	fifth := f.faulty.Ping(t.Context())
	if fourth != nil || !errors.Is(fifth, store.ErrUnavailable) || !slices.Equal(seen, []int{1, 2, 3}) {
		t.Errorf("counted %v, then %v, %v", seen, fourth, fifth)
	}
}

// TestEveryMethodCanFail: the plan is called for every method of the contract.
func TestEveryMethodCanFail(t *testing.T) {
	methods := map[string]bool{}
	f := newFixture(func(method string, _ int) faultstore.Fault {
		methods[method] = true
		return faultstore.Fault{Kind: faultstore.FailBefore}
	})
	s, ctx := f.faulty, t.Context()
	positions, _ := store.As[store.Positions](s)
	census, _ := store.As[store.Census](s)
	errs := map[string]error{"RemoveFromOutbox": s.RemoveFromOutbox(ctx, []store.OutboxID{{}})}
	_, errs["Write"] = s.Write(ctx, 0, []store.Op{put("a", 1)})
	_, errs["Get"] = s.Get(ctx, 0, ref("a"))
	_, errs["List"] = s.List(ctx, 0, store.ListQuery{Limit: 1})
	_, errs["CountLive"] = s.CountLive(ctx, store.Namespace{}, 1)
	_, errs["History"] = s.History(ctx, 0, ref("a"), 1)
	_, errs["Claim"] = s.Claim(ctx, 0, store.Owner{}, []shard.ID{1})
	_, errs["Release"] = s.Release(ctx, 0, []store.Release{{}})
	_, errs["Due"] = s.Due(ctx, store.DueQuery{Shards: []store.DueAfter{{}}})
	_, errs["Overdue"] = s.Overdue(ctx, store.OverdueQuery{Shards: []store.OverdueRange{{}}})
	_, errs["Advance"] = s.Advance(ctx, 0, []store.Advance{{}})
	_, errs["Outbox"] = s.Outbox(ctx, []shard.ID{1}, 0, 1)
	_, errs["Current"] = s.Current(ctx, []store.Check{{}})
	_, errs["Finish"] = s.Finish(ctx, 0, []store.Finish{{}})
	_, errs["Rearm"] = s.Rearm(ctx, 0, []store.Rearm{{}})
	_, errs["Forget"] = s.Forget(ctx, 0, []store.Forget{{}})
	_, errs["Purge"] = s.Purge(ctx, 0, 1)
	_, errs["CreateNamespace"] = s.CreateNamespace(ctx, store.Namespace{})
	_, errs["GetNamespace"] = s.GetNamespace(ctx, "n")
	_, errs["ListNamespaces"] = s.ListNamespaces(ctx, "", 1)
	_, errs["UpdateNamespace"] = s.UpdateNamespace(ctx, store.Namespace{})
	errs["DeleteNamespace"] = s.DeleteNamespace(ctx, store.Namespace{})
	_, errs["Init"] = s.Init(ctx, store.Identity{})
	errs["Ping"] = s.Ping(ctx)
	_, errs["Time"] = s.Time(ctx)
	_, errs["WriteAt"] = positions.WriteAt(ctx, 0, nil, store.Move{})
	_, errs["Position"] = positions.Position(ctx, "t", 0)
	_, errs["Count"] = census.Count(ctx, 0)
	for method, err := range errs {
		if !errors.Is(err, store.ErrUnavailable) || !methods[method] {
			t.Errorf("%s answered %v, planned: %t", method, err, methods[method])
		}
	}
	if len(methods) != len(errs) {
		t.Errorf("the plan saw %d methods, the test called %d", len(methods), len(errs))
	}
}

// byShard is a store that sends one request per shard.
type byShard struct{ store.Store }

func (byShard) AsksByShard() bool { return true }

func TestByShardIsTheInnerStores(t *testing.T) {
	inner := memstore.NewDatabase().Open()
	if store.AsksByShard(faultstore.New(nil).Wrap(inner)) {
		t.Error("a store that asks all shards at once is taken for another behind faults")
	}
	twice := faultstore.New(nil).Wrap(faultstore.New(nil).Wrap(byShard{inner}))
	if !store.AsksByShard(byShard{inner}) || !store.AsksByShard(twice) {
		t.Error("a store that asks by the shard does not behind faults")
	}
}

func TestPowersAreTheInnerStores(t *testing.T) {
	inner := memstore.NewDatabase().Open()
	type positionsOnly struct {
		store.Store
		store.Positions
	}
	type censusOnly struct {
		store.Store
		store.Census
	}
	for what, c := range map[string]struct {
		inner             store.Store
		positions, census bool
	}{
		"all":                {inner, true, true},
		"positions":          {positionsOnly{inner, inner}, true, false},
		"census":             {censusOnly{inner, inner}, false, true},
		"none":               {struct{ store.Store }{inner}, false, false},
		"all, twice wrapped": {faultstore.New(nil).Wrap(inner), true, true},
	} {
		faults := faultstore.New(faultstore.OnEvery(faultstore.Fault{Kind: faultstore.FailBefore}, "Position", "Count"))
		s := faults.Wrap(c.inner)
		p, positions := store.As[store.Positions](s)
		n, census := store.As[store.Census](s)
		if positions != c.positions || census != c.census {
			t.Errorf("%s: positions %t, census %t", what, positions, census)
		}
		if positions {
			if _, err := p.Position(t.Context(), "t", 0); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: position goes around the faults: %v", what, err)
			}
		}
		if census {
			if _, err := n.Count(t.Context(), 0); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: count goes around the faults: %v", what, err)
			}
		}
	}
}
