package storetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
)

// recorder is a testing.TB that can fail without failing the test in which it runs.
type recorder struct {
	testing.TB // all other methods

	ctx      context.Context //nolint:containedctx // testing.TB has a Context method
	mu       sync.Mutex
	failed   bool
	skipped  bool
	messages []string
	cleanups []func()
}

// record runs one subtest in a separate goroutine, because FailNow ends the goroutine.
func record(t *testing.T, run func(tb testing.TB)) *recorder {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{TB: t, ctx: ctx}
	var group sync.WaitGroup
	group.Go(func() {
		defer r.cleanUp()
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				r.Errorf("panic: %v", p)
			}
		}()
		run(r)
	})
	group.Wait()
	return r
}

func (r *recorder) cleanUp() {
	for _, f := range slices.Backward(r.cleanups) {
		f()
	}
}

func (r *recorder) note(failed bool, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = r.failed || failed
	if failed {
		r.messages = append(r.messages, message)
	}
}

func (r *recorder) Helper()                        {}
func (r *recorder) Name() string                   { return r.TB.Name() }
func (r *recorder) Context() context.Context       { return r.ctx }
func (r *recorder) Cleanup(f func())               { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Log(...any)                     {}
func (r *recorder) Logf(string, ...any)            {}
func (r *recorder) Error(args ...any)              { r.note(true, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, a ...any) { r.note(true, fmt.Sprintf(format, a...)) }
func (r *recorder) Fail()                          { r.note(true, "failed") }

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) Skipped() bool { return r.skipped }

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) SkipNow() {
	r.skipped = true
	runtime.Goexit()
}

func (r *recorder) Skip(...any)          { r.SkipNow() }
func (r *recorder) Skipf(string, ...any) { r.SkipNow() }

// factoryOf returns a factory of correct stores that wrong wraps.
func factoryOf(wrong func(*memstore.Store) store.Store) Factory {
	const reason = "broken stores keep what they get wrong in one handle"
	return Factory{
		New: func(testing.TB) Subject {
			s := Subject{Store: wrong(memstore.NewDatabase().Open())}
			if disk, ok := s.Store.(interface{ fill(full bool) }); ok {
				s.Fill = func(_ testing.TB, full bool) { disk.fill(full) }
			}
			if pool, ok := s.Store.(interface{ occupy() (release func()) }); ok {
				s.Occupy = func(testing.TB) func() { return pool.occupy() }
			}
			if crowd, ok := s.Store.(interface{ refusing(id shard.ID) store.Store }); ok {
				s.Refusing = func(_ testing.TB, id shard.ID) store.Store { return crowd.refusing(id) }
			}
			return s
		},
		Reference: func(testing.TB) store.Store { return memstore.NewDatabase().Open() },
		Without: map[Ability]string{
			AnyHandles: reason, AnyReopen: reason, AnyFill: "a store in memory has no disk", AnyRefusing: "it refuses nothing",
			AnyOccupy: "its calls wait for no connection",
		},
	}
}

// verdict is the suite's result for a store.
type verdict struct {
	failed, skipped []string
	why             map[string]string
}

func judge(t *testing.T, f Factory) verdict {
	t.Helper()
	v := verdict{why: map[string]string{}}
	for _, test := range tests() {
		if strings.HasPrefix(test.name, "Lockstep/") && test.name != "Lockstep/Seed1" {
			continue // one is enough here, because all run for memstore in its own test
		}
		r := record(t, func(tb testing.TB) { test.run(newWorld(tb, f)) })
		switch {
		case r.failed:
			v.failed = append(v.failed, test.name)
			v.why[test.name], _, _ = strings.Cut(r.messages[0], "\n")
		case r.skipped:
			v.skipped = append(v.skipped, test.name)
		}
	}
	return v
}

// catches fails unless the suite fails on the store, at least in the named subtests.
func catches(t *testing.T, wrong func(*memstore.Store) store.Store, by ...string) {
	t.Helper()
	v := judge(t, factoryOf(wrong))
	if len(v.failed) == 0 {
		t.Error("the suite passes on this broken store")
	}
	for _, name := range by {
		why, caught := v.why[name]
		if !caught {
			t.Errorf("%s passes on this broken store", name)
			continue
		}
		t.Logf("caught by %s: %.200s", name, why)
	}
	t.Logf("caught by %d subtests: %s", len(v.failed), strings.Join(v.failed, ", "))
}

// TestSuitePassesOnAStoreThatIsRight shows that the failures below are not caused by the recorder.
func TestSuitePassesOnAStoreThatIsRight(t *testing.T) {
	v := judge(t, factoryOf(func(s *memstore.Store) store.Store { return s }))
	for _, name := range v.failed {
		t.Errorf("%s: %s", name, v.why[name])
	}
	if want := []string{
		"Refused/AShardLeavesTheOthersOfABatchAlone", "Refused/AShardIsNoErrorOfTheWholeCall", "Refused/NothingIsAppliedBehindIt",
		"Cluster/TimeWaitsForNoOtherCall", "Cluster/PingTellsThatThereIsNoRoom", "Cluster/HandlesCloseApart", "Cluster/EverythingSurvivesReopening",
	}; !slices.Equal(v.skipped, want) {
		t.Errorf("skipped: %q, want %q", v.skipped, want)
	}
}

// TestSuiteAsksForAReason: a subtest fails if an ability is missing without a reason.
func TestSuiteAsksForAReason(t *testing.T) {
	f := factoryOf(func(s *memstore.Store) store.Store { return struct{ store.Store }{s} })
	f.Without, f.Reference = nil, nil
	v := judge(t, f)
	for _, name := range []string{
		"Refused/AShardLeavesTheOthersOfABatchAlone", "Positions/MoveWithTheBatch", "Census/CountsLiveRows", "Cluster/PingTellsThatThereIsNoRoom", "Cluster/HandlesCloseApart",
		"Cluster/EverythingSurvivesReopening", "Lockstep/Seed1",
	} {
		if !strings.Contains(v.why[name], "gives no reason") {
			t.Errorf("%s: %q, want it to ask for the reason", name, v.why[name])
		}
	}
}

// TestSubtestNamesAreUnique: a name in a report must identify one subtest.
func TestSubtestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, test := range tests() {
		if seen[test.name] {
			t.Errorf("two subtests are called %s", test.name)
		}
		seen[test.name] = true
	}
}
