package storetest

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// Factory is how the suite gets at an engine. An engine's test is
//
//	func TestStore(t *testing.T) { storetest.Run(t, storetest.Factory{New: …, Reference: …}) }
type Factory struct {
	// New makes an empty database and opens it. It is called once for each subtest, and closes with
	// t.Cleanup what the subtest may have closed already.
	New func(tb testing.TB) Subject
	// Reference makes an empty store that is known to be right, in practice memstore's, for Lockstep
	// to compare with.
	Reference func(tb testing.TB) store.Store
	// LargeBatch is how many items a large batch has, LockstepSteps how many steps each walk of Lockstep makes.
	// 0 means 2,000 and 400. Engines that make a request for each item may do with fewer every day, where their
	// own limits lie lower.
	LargeBatch, LockstepSteps int
	// Only, if not empty, runs the subtests of one part, such as "List/": for an engine under other settings.
	Only string
	// Without says why the engine cannot have an ability. What is missing without a reason fails:
	// nothing is skipped silently.
	Without map[Ability]string
}

// defaultLargeBatch is beyond the parameters that SQL takes, several times.
const defaultLargeBatch = 2000

func (f *Factory) largeBatch() int { return cmp.Or(f.LargeBatch, defaultLargeBatch) }

// Subject is one fresh database.
type Subject struct {
	// Store is a handle on it.
	Store store.Store
	// Another opens one more handle on the same database, as another process would. Subtests about
	// concurrency and consistency spread over the handles.
	Another func(tb testing.TB) store.Store
	// Reopen closes all handles and opens the same data again.
	Reopen func(tb testing.TB) store.Store
	// Refusing opens one more handle on the same database, to which the database refuses everything that is
	// about a shard, as when the shard is hot.
	Refusing func(tb testing.TB, id shard.ID) store.Store
	// Fill takes the database's room away, as on a full disk, or gives it back.
	Fill func(tb testing.TB, full bool)
	// Occupy takes everything that calls of Store wait for in its process, such as its connections, until release.
	Occupy func(tb testing.TB) (release func())
}

// Ability is what an engine may do without, if it says why.
type Ability string

const (
	// AnyPositions is the rare power store.Positions.
	AnyPositions Ability = "Positions"
	// AnyCensus is the rare power store.Census.
	AnyCensus Ability = "Census"
	// AnyLeases is the rare power store.Exclusive.
	AnyLeases Ability = "Exclusive"
	// AnyHandles is Subject.Another.
	AnyHandles Ability = "Another"
	// AnyRefusing is Subject.Refusing.
	AnyRefusing Ability = "Refusing"
	// AnyFill is Subject.Fill.
	AnyFill Ability = "Fill"
	// AnyOccupy is Subject.Occupy.
	AnyOccupy Ability = "Occupy"
	// AnyReopen is Subject.Reopen.
	AnyReopen Ability = "Reopen"
	// AnyPurge is a Purge that removes history itself. Without it, it must answer 0 and remove nothing that is
	// marked or alive.
	AnyPurge Ability = "Purge"
	// AnyReference is Factory.Reference.
	AnyReference Ability = "Reference"
)

// Run runs the whole suite, or a part of it, each subtest on its own database.
func Run(t *testing.T, f Factory) {
	t.Helper()
	for _, test := range tests() {
		if !strings.HasPrefix(test.name, f.Only) {
			continue
		}
		t.Run(test.name, func(t *testing.T) { test.run(newWorld(t, f)) })
	}
}

// test is one subtest: one thing the contract says.
type test struct {
	name string
	run  func(w *world)
}

func tests() []test {
	return slices.Concat(
		commonTests(),
		refusedTests(),
		putTests(),
		updateTests(),
		deleteTests(),
		getTests(),
		historyTests(),
		listTests(),
		positionsTests(),
		claimTests(),
		advanceTests(),
		dueTests(),
		overdueTests(),
		noticeTests(),
		inspectTests(),
		currentTests(),
		finishTests(),
		rearmTests(),
		purgeTests(),
		namespaceTests(),
		isolationTests(),
		clusterTests(),
		concurrencyTests(),
		lockstepTests(),
	)
}

// need skips the subtest with the engine's reason for not having an ability, and fails it if there is
// none.
func (w *world) need(a Ability, has bool) {
	w.t.Helper()
	if has {
		return
	}
	reason, ok := w.factory.Without[a]
	if !ok {
		w.t.Fatalf("the engine has no %s, and Factory.Without gives no reason", a)
	}
	w.t.Skipf("the engine has no %s: %s", a, reason)
}
