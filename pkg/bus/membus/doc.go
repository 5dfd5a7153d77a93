// Package membus is the bus in memory: the reference for what pkg/bus promises, and the ground on
// which tests and the simulation run whole clusters.
//
// It owns a Broker (the bus) and its Members (the processes' handles). It may import pkg/bus,
// pkg/bus/internal and pkg/shard. It never touches disk or network, never polls, and draws no random
// number: the same calls in the same order give the same assignments and the same deliveries. Every
// goroutine belongs to a Consume and waits on a channel when idle, and all time comes from package
// time, so it runs in testing/synctest bubbles; make the Broker inside the bubble.
//
// Read broker.go first, then member.go (the verbs), group.go (who owns what), session.go (one
// assignment's life), then one file per mode: log.go, hints.go, queue.go; own.go is for topics of
// users' own. faults.go is what a simulator pulls.
package membus
