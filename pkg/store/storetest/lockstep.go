package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Lockstep makes the same random calls to the engine and the reference and compares every answer. The other subtests
// check known rules; this one finds other differences. All seeds but one are fixed; the last one is new in every run.
// All are logged. The variables below replay a seed, or make more steps.
const (
	seedVariable  = "TIMERBUS_LOCKSTEP_SEED"
	stepsVariable = "TIMERBUS_LOCKSTEP_STEPS"
)

const (
	lockstepSeeds = 4
	lockstepSteps = 400
	// auditEvery is the number of steps between two comparisons of everything that can be read.
	auditEvery = 40
)

func lockstepTests() []test {
	var tests []test
	for seed := range uint64(lockstepSeeds) {
		tests = append(tests, test{fmt.Sprint("Lockstep/Seed", seed+1), func(w *world) { lockstepRun(w, seed+1) }})
	}
	return append(tests, test{"Lockstep/FreshSeed", func(w *world) { lockstepRun(w, rand.Uint64()) }})
}

func lockstepRun(w *world, seed uint64) {
	w.need(AnyReference, w.factory.Reference != nil)
	steps := cmp.Or(w.factory.LockstepSteps, lockstepSteps)
	if n, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		seed = n
	}
	if n, err := strconv.Atoi(os.Getenv(stepsVariable)); err == nil {
		steps = n
	}
	w.t.Logf("%s=%d %s=%d replays this", seedVariable, seed, stepsVariable, steps)
	l := newLockstep(w, rand.New(rand.NewPCG(seed, 0)))
	for n := range steps {
		l.step = n
		l.act()
		if n%auditEvery == auditEvery-1 || n == steps-1 {
			l.audit()
		}
		if w.t.Failed() {
			return
		}
	}
}

// lockstep is one run. Namespaces exist in the engine only; the reference gets their shard numbers.
type lockstep struct {
	*world

	random    *rand.Rand
	engines   []store.Store // handles of the engine's database
	reference store.Store
	spaces    []store.Namespace
	names     []string
	step      int
	log       []note // the last steps, oldest first

	claims    map[shard.ID][]claimPair // oldest first
	revisions map[timer.UUID][]timer.Revision
	finished  map[timer.Millis]bool
	keys      []store.Key // some keys that were returned
}

// claimPair is one claim with the version of each side.
type claimPair struct{ engine, reference store.Claim }

func newLockstep(w *world, random *rand.Rand) *lockstep {
	l := &lockstep{
		world:     w,
		random:    random,
		reference: w.factory.Reference(w.t),
		spaces:    []store.Namespace{w.namespace("narrow", 1), w.namespace("wide", 2)},
		claims:    map[shard.ID][]claimPair{},
		revisions: map[timer.UUID][]timer.Revision{},
		finished:  map[timer.Millis]bool{},
		keys:      []store.Key{store.MinKey()},
	}
	for i := range 10 {
		l.names = append(l.names, fmt.Sprint("timer ", i))
	}
	l.engines = w.handles(3)
	for _, ns := range l.spaces {
		l.claimBoth(ns.Shards.In(0, 1))
	}
	return l
}

// engine returns a random handle, because all must behave alike.
func (l *lockstep) engine() store.Store { return l.engines[l.random.IntN(len(l.engines))] }

func (l *lockstep) chance(percent int) bool { return l.random.IntN(100) < percent }

// act makes one random call.
func (l *lockstep) act() {
	l.tick()
	actions := []struct {
		name   string
		weight int
		run    func()
	}{
		{"write", 28, l.write},
		{"write at", 5, l.writeAt},
		{"finish", 26, l.finishSome},
		{"current", 8, l.currentSome},
		{"rearm", 8, l.rearmSome},
		{"due", 8, l.dueSome},
		{"overdue", 6, l.overdueSome},
		{"claim", 3, l.claimSome},
		{"advance", 5, l.advanceSome},
		{"release", 2, l.releaseSome},
		{"remove from outbox", 4, l.publishSome},
		{"list", 5, l.listSome},
		{"forget", 4, l.forgetSome},
		{"purge", 2, l.purgeSome},
		{"reopen", 1, l.reopen},
	}
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	pick := l.random.IntN(sum)
	for _, a := range actions {
		if pick < a.weight {
			l.note(a.name)
			a.run()
			return
		}
		pick -= a.weight
	}
}

// tick moves the present time: usually a little, sometimes beyond the retentions.
func (l *lockstep) tick() {
	switch {
	case l.chance(30):
	case l.chance(50):
		l.now += timer.Millis(l.random.IntN(3))
	case l.chance(90):
		l.now += timer.Millis(l.random.IntN(int(minute)))
	default:
		l.now += timer.Millis(l.random.IntN(int(2 * hour)))
	}
}

// note is one step of the log. It is formatted only after a failure.
type note struct {
	step  int
	now   timer.Millis
	what  string
	asked []any
}

// note adds a step to the log.
func (l *lockstep) note(what string) {
	const most = 12
	l.log = append(l.log, note{step: l.step, now: l.now, what: what})
	l.log = l.log[max(0, len(l.log)-most):]
}

// asked adds the request of both sides to the present step.
func (l *lockstep) asked(what ...any) {
	if len(l.log) > 0 {
		l.log[len(l.log)-1].asked = what
	}
}

// same compares the two answers.
func (l *lockstep) same(what string, engine, reference any) {
	l.t.Helper()
	if d := diff(engine, reference); d != "" {
		var recent []byte
		for _, n := range l.log {
			recent = fmt.Appendf(recent, "%d %s at %s: %s\n", n.step, n.what, n.now, describe(reflect.ValueOf(n.asked)))
		}
		l.t.Fatalf("step %d: %s: the engine differs from the reference: %s\nthe last steps:\n%s", l.step, what, d, recent)
	}
}

// kindOf returns the contract's errors that an error wraps, as text.
func kindOf(err error) string {
	if err == nil {
		return ""
	}
	for _, sentinel := range []error{
		store.ErrNotFound, store.ErrExists, store.ErrConflict, store.ErrFenced, store.ErrInvalid,
		store.ErrUnavailable, store.ErrOutcomeUnknown, store.ErrClosed,
	} {
		if errors.Is(err, sentinel) {
			return sentinel.Error()
		}
	}
	return "not of the contract: " + err.Error()
}

func kindsOf(errs []error) []string {
	out := make([]string, len(errs))
	for i, err := range errs {
		out[i] = kindOf(err)
	}
	return out
}

type comparableWritten struct {
	Err   string
	Timer timer.Timer
	Kept  bool
	Prior *timer.Timer
}

func comparableWrites(all []store.Written) []comparableWritten {
	out := make([]comparableWritten, len(all))
	for i, w := range all {
		out[i] = comparableWritten{Err: kindOf(w.Err), Kept: w.Kept}
		if w.Err == nil || errors.Is(w.Err, store.ErrExists) || errors.Is(w.Err, store.ErrConflict) {
			out[i].Timer = comparableTimer(w.Timer)
		}
		if w.Prior != nil {
			prior := *w.Prior
			prior.Payload = nil
			out[i].Prior = &prior
		}
	}
	return out
}

// comparableEntries returns outbox entries in a defined order, with only those fields of the id that are its key.
func comparableEntries(all []store.OutboxEntry) []store.OutboxEntry {
	all = slices.Clone(all)
	for i := range all {
		m := &all[i].ID
		if m.Status == timer.StatusParked {
			m.Generation, m.Attempt = 0, 0
		} else {
			m.Revision = 0
		}
	}
	slices.SortFunc(all, func(a, b store.OutboxEntry) int {
		if a.MarkedAt != b.MarkedAt {
			return int(a.MarkedAt - b.MarkedAt)
		}
		return byIdentity(a.Timer, b.Timer)
	})
	return all
}

func comparableList(all []timer.Timer) []timer.Timer {
	out := make([]timer.Timer, len(all))
	for i, t := range all {
		out[i] = comparableTimer(t)
	}
	slices.SortFunc(out, byIdentity)
	return out
}

// byIdentity is an order of timers that does not depend on the engine.
func byIdentity(a, b timer.Timer) int {
	if c := a.UUID.Compare(b.UUID); c != 0 {
		return c
	}
	switch {
	case a.Generation < b.Generation:
		return -1
	case a.Generation > b.Generation:
		return 1
	default:
		return int(a.Attempts - b.Attempts)
	}
}
