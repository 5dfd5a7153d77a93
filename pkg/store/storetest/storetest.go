package storetest

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
)

// Factory gives the suite access to an engine. An engine's test is
//
//	func TestStore(t *testing.T) { storetest.Run(t, storetest.Factory{New: …, Reference: …}) }
type Factory struct {
	// New creates an empty database and opens it. It is called once for each subtest. It closes the handles with
	// t.Cleanup, even if the subtest has already closed them.
	New func(tb testing.TB) Subject
	// Reference creates an empty store that is known to be correct, usually memstore's, with which Lockstep compares.
	Reference func(tb testing.TB) store.Store
	// LargeBatch is the size of a large batch, and LockstepSteps the number of steps of each run of Lockstep. 0 means
	// 2,000 and 400. Engines that send a request for each item may use smaller values in daily runs, if these are above
	// their own limits.
	LargeBatch, LockstepSteps int
	// Only, if not empty, selects the subtests of one part by their prefix, such as "List/", for an engine with other
	// settings.
	Only string
	// Without has the reasons why the engine lacks abilities. A subtest whose ability is missing without a reason
	// fails, so nothing is skipped silently.
	Without map[Ability]string
}

// defaultLargeBatch is several times the number of parameters of an SQL statement.
const defaultLargeBatch = 2000

func (f *Factory) largeBatch() int { return cmp.Or(f.LargeBatch, defaultLargeBatch) }

// Subject is one fresh database.
type Subject struct {
	// Store is a handle on the database.
	Store store.Store
	// Another opens one more handle on the same database, as another process would. Subtests about concurrency and
	// consistency use several handles.
	Another func(tb testing.TB) store.Store
	// Reopen closes all handles and opens the same data again.
	Reopen func(tb testing.TB) store.Store
	// Refusing opens one more handle on the same database, to which the database refuses all requests for a shard, as
	// if the shard were hot.
	Refusing func(tb testing.TB, id shard.ID) store.Store
	// Fill fills the database's disk, or ends that.
	Fill func(tb testing.TB, full bool)
	// Occupy takes all resources for which calls of Store wait in its process, such as connections, until release is
	// called.
	Occupy func(tb testing.TB) (release func())
}

// Ability is a part of the contract that an engine may lack with a reason.
type Ability string

const (
	// AnyPositions is the optional capability store.Positions.
	AnyPositions Ability = "Positions"
	// AnyAPIKeys is the optional capability store.APIKeys.
	AnyAPIKeys Ability = "APIKeys"
	// AnyFlows is the optional capability store.Flows.
	AnyFlows Ability = "Flows"
	// AnyCensus is the optional capability store.Census.
	AnyCensus Ability = "Census"
	// AnyLeases is the optional capability store.Exclusive.
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
	// AnyPurge is a Purge that removes history itself. Without this ability, Purge must return 0 and remove neither
	// rows with an outbox entry nor live rows.
	AnyPurge Ability = "Purge"
	// AnyReference is Factory.Reference.
	AnyReference Ability = "Reference"
)

// Run runs the suite, or the part that Only selects, each subtest on a separate database.
func Run(t *testing.T, f Factory) {
	t.Helper()
	for _, test := range tests() {
		if !strings.HasPrefix(test.name, f.Only) {
			continue
		}
		t.Run(test.name, func(t *testing.T) { test.run(newWorld(t, f)) })
	}
}

// test is one subtest, for one statement of the contract.
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
		pauseTests(),
		getTests(),
		historyTests(),
		listTests(),
		countLiveTests(),
		dueKeysTests(),
		positionsTests(),
		claimTests(),
		advanceTests(),
		dueTests(),
		overdueTests(),
		outboxTests(),
		inspectTests(),
		currentTests(),
		finishTests(),
		followUpTests(),
		rearmTests(),
		forgetTests(),
		purgeTests(),
		namespaceTests(),
		apiKeyTests(),
		flowTests(),
		isolationTests(),
		clusterTests(),
		concurrencyTests(),
		lockstepTests(),
	)
}

// need skips the subtest with the engine's reason for lacking an ability, and fails it if there is none.
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
