// Package sim runs whole lives of a cluster in virtual time: the real ingest, scheduler and dispatcher on
// the store and bus in memory, under a seeded adversary, with an oracle that knows only what clients and
// receivers see.
//
// A Plan is drawn from a seed: what clients ask for, how receivers answer, which faults strike where. Run
// plays it inside a testing/synctest bubble and returns what the oracle found. The same plan plays the same
// way again, near enough that a failing seed can be replayed and shrunk.
//
// Read plan.go (what can happen), draw.go (how often), world.go and node.go (the cluster), faults.go,
// client.go and receiver.go (those outside), then oracle.go, timing.go, attempts.go, account.go and fence.go (what
// must hold) and shrink.go.
package sim
