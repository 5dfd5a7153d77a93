package bustest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// T is what a check needs of *testing.T.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
	Failed() bool
}

// Factory makes a fresh, empty bus with the given partition count. What it starts, it ends in
// t.Cleanup.
type Factory func(t T, partitions int) System

// System is one bus under test.
type System struct {
	// Join connects a process. The suite closes its Bus before the Factory's cleanups run.
	Join func(t T) Member
	// Stranger connects a process to a bus of another prefix on the same server.
	Stranger func(t T) Member

	// OwnPrefix begins the names of users' own topics, so that checks on one server do not meet; what has it
	// is the Factory's to remove.
	OwnPrefix string
	// StrangerTopics are names, on the server, of topics of the Stranger's cluster. Empty if the server has no names
	// that two clusters could share, as in memory.
	StrangerTopics []string

	// Remove removes what the topic's partition 0 has before a position, as its retention would.
	Remove func(t T, topic bus.Topic, before bus.Position)
	// Small connects a process to an empty bus whose topic of commands has room for less than 1 MiB; nil if the
	// engine cannot refuse messages.
	Small func(t T) Member

	// QueueByPartition says that the queue's partitions have offsets, floors and depths of their own.
	// Otherwise it is one stream, and the floors of all partitions are alike.
	QueueByPartition bool
	// WaitingUnknown says that floors do not count the messages of the queue that no member has taken.
	WaitingUnknown bool

	// LeaseTTL is how long a dead member's partitions stay with it at most.
	LeaseTTL time.Duration
	// Settle is how long a check watches that something does not happen.
	Settle time.Duration
	// Patience is how long a check waits for what must happen, beyond the contract's own times.
	Patience time.Duration
	// Early is by how much a queue may undercut a delay, as seen by the consumer: its clock starts
	// when the server sends, the suite's when the delivery arrives.
	Early time.Duration
}

// Member is one process on the bus, and what may befall it.
type Member struct {
	Bus bus.Bus
	// Crash ends the process without Close: nothing it does afterwards reaches the bus.
	Crash func()
	// Isolate cuts the process off, without its knowing if the bus can hide it, until Heal.
	Isolate func()
	Heal    func()
	// Break drops the connection; it comes back by itself.
	Break func()
}

// CrashFactory creates an empty bus whose server can be crashed. It stops everything it starts in t.Cleanup.
type CrashFactory func(t T, partitions int) CrashSystem

// CrashSystem is a bus under test on a server that no other check uses at the same time.
type CrashSystem struct {
	System
	// Remember records what the server has stored.
	Remember func()
	// Crash kills the server and starts it again. The server then has lost as many of the messages and
	// acknowledgements since Remember as the engine can lose in a crash. Members keep running and reconnect.
	Crash func()
}

// Options says how to run the suite.
type Options struct {
	// Bubble runs each check in a testing/synctest bubble, for buses that need no real time.
	Bubble bool
	// Exclude maps names of checks to the reason why this engine cannot pass them.
	Exclude map[string]string
}

// Run runs every check on a fresh bus each.
func Run(t *testing.T, opts Options, factory Factory) {
	t.Helper()
	for name := range opts.Exclude {
		if !exists(name) {
			t.Errorf("excluded check %q does not exist", name)
		}
	}
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			if why, ok := opts.Exclude[c.Name]; ok {
				t.Logf("excluded: %s", why)
				return
			}
			if opts.Bubble {
				synctest.Test(t, func(t *testing.T) { c.Run(t, factory) })
				return
			}
			t.Parallel()
			c.Run(t, factory)
		})
	}
}

// RunCrash runs the checks that crash the server, sequentially.
func RunCrash(t *testing.T, opts Options, factory CrashFactory) {
	t.Helper()
	for _, c := range CrashChecks() {
		t.Run(c.Name, func(t *testing.T) {
			if why, ok := opts.Exclude[c.Name]; ok {
				t.Logf("excluded: %s", why)
				return
			}
			if opts.Bubble {
				synctest.Test(t, func(t *testing.T) { c.Run(t, factory) })
				return
			}
			c.Run(t, factory)
		})
	}
}

func exists(name string) bool {
	for _, c := range Checks() {
		if c.Name == name {
			return true
		}
	}
	return false
}

// Check is one clause of the contract.
type Check struct {
	Name string
	// Partitions of the bus that the check wants.
	Partitions int
	check      func(w *world)
}

// Run runs the check on a fresh bus.
func (c Check) Run(t T, factory Factory) {
	t.Helper()
	c.check(newWorld(t, factory(t, c.Partitions)))
}

// Checks lists the whole suite.
func Checks() []Check {
	var all []Check
	for _, part := range [][]Check{
		publishChecks(), orderedChecks(), gapChecks(), ownershipChecks(), liveChecks(), queueChecks(), floorChecks(), lifecycleChecks(), readyChecks(), ownChecks(),
	} {
		all = append(all, part...)
	}
	return all
}
