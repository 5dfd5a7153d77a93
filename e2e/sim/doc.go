// Package sim runs whole lives of a cluster in virtual time: the real ingest, scheduler and dispatcher on
// the store and bus in memory, under a seeded adversary, with an oracle that knows what clients and receivers see, and
// a recording of what the store applied and the bus took.
//
// A Plan is drawn from a seed: what clients ask for, how receivers answer, which faults strike where. Run
// plays it inside a testing/synctest bubble and returns what the oracle found. The same plan plays the same
// way again, near enough that a failing seed can be replayed and shrunk.
//
// Read plan.go (what can happen), draw.go (how often), world.go, node.go, release.go and clocks.go (the cluster), faults.go,
// client.go and receiver.go (those outside). What must hold: oracle.go, timing.go, attempts.go, account.go and needless.go judge
// what clients and receivers see; fence.go and watermark.go the statements of schedulers; recording.go records a whole life,
// which outbox.go, poison.go, amplification.go and retries.go judge at its end, one function for each rule. Then
// shrink.go.
package sim
