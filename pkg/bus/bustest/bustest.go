package bustest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
)

// T is the part of *testing.T that a check uses.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
	Failed() bool
}

// Factory creates a fresh, empty bus with the given partition count. It stops everything it starts in t.Cleanup.
type Factory func(t T, partitions int) System

// System is one bus under test.
type System struct {
	// Join connects a process. The suite closes its Bus before the Factory's cleanups run.
	Join func(t T) Member
	// Stranger connects a process to a bus of another prefix on the same server.
	Stranger func(t T) Member

	// OwnPrefix is the prefix of the names of user topics. It keeps concurrent checks on one server apart. The
	// Factory must remove the topics whose names have it.
	OwnPrefix string
	// StrangerTopics are names, on the server, of topics of the Stranger's cluster. It is empty if two clusters share
	// no names on the server, as in memory.
	StrangerTopics []string

	// Remove removes the messages of the topic's partition 0 before a position, as retention would.
	Remove func(t T, topic bus.Topic, before bus.Position)
	// Small connects a process to an empty bus whose topic of commands has room for less than 1 MiB; nil if the
	// engine cannot refuse messages.
	Small func(t T) Member

	// QueueByPartition is true if each partition of the queue has separate offsets, floors and depths. Otherwise the
	// queue is one stream, and the floors of all partitions are equal.
	QueueByPartition bool
	// WaitingUnknown is true if floors do not count the messages of the queue that no member has received.
	WaitingUnknown bool

	// AckWait is the time after which the bus under test delivers a message of the queue again. 0 means bus.AckWait, the
	// value of the contract; quick runs use a shorter one.
	AckWait time.Duration
	// LeaseTTL is the longest time for which a dead member keeps its partitions.
	LeaseTTL time.Duration
	// Settle is how long a check watches for an event that must not happen.
	Settle time.Duration
	// Patience is how long a check waits for a required event, in addition to the times that the contract allows.
	Patience time.Duration
	// Early is the largest difference by which a queue may appear to undercut a delay: the server's delay starts when
	// it sends, the suite measures from the arrival of the delivery.
	Early time.Duration
}

// Member is one process on the bus, with functions that inject faults.
type Member struct {
	Bus bus.Bus
	// Crash ends the process without Close: its later calls have no effect on the bus.
	Crash func()
	// Isolate disconnects the process until Heal. If the engine can do so, the process does not notice it.
	Isolate func()
	Heal    func()
	// Break drops the connection; it is restored without a call.
	Break func()
}

// CrashFactory creates an empty bus whose server can be crashed. It stops everything it starts in t.Cleanup.
type CrashFactory func(t T, partitions int) CrashSystem

// CrashSystem is a bus under test on a server that no other check uses at the same time.
type CrashSystem struct {
	System
	// Remember records the server's stored state.
	Remember func()
	// Crash kills the server and starts it again. The server then has lost as many of the messages and
	// acknowledgements since Remember as the engine can lose in a crash. Members keep running and reconnect.
	Crash func()
}

// Options configures a run of the suite.
type Options struct {
	// Bubble runs each check in a testing/synctest bubble, for buses that need no real time.
	Bubble bool
	// Exclude maps names of checks to the reason why this engine cannot pass them.
	Exclude map[string]string
}

// Run runs every check, each on a fresh bus.
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
	// Partitions is the partition count of the bus under test.
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
