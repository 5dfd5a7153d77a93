// Package membus is the in-memory bus: the reference implementation of pkg/bus. Tests and the simulation run whole
// clusters on it.
//
// It owns a Broker (the bus) and its Members (the processes' handles). It may import pkg/bus, internal/bus and
// pkg/shard. It never uses disk or network, never polls, and draws no random number: the same calls in the same order
// give the same assignments and the same deliveries. Every goroutine belongs to a Consume and waits on a channel when
// idle, and all time comes from package time, so it runs in testing/synctest bubbles; create the Broker inside the
// bubble.
//
// Read broker.go first, then member.go (the operations), group.go (assignment), session.go (the life of one
// assignment), then one file per mode: log.go, hints.go, queue.go. own.go contains user topics, faults.go and
// crash.go the faults that a simulator injects.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The methods of
// pkg/bus follow that package. Faults are for tests and may change.
package membus
