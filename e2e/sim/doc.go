// Package sim runs clusters in virtual time: the real ingest, scheduler and dispatcher on the store and bus in memory,
// with clients, receivers and faults from a seed. An oracle checks what clients and receivers see, and a recording what
// the store applied and the bus accepted. One such run is called a life.
//
// A Plan is drawn from a seed: the operations of clients, the answers of receivers, and the faults. Run executes it
// inside a testing/synctest bubble and returns the oracle's findings. The same plan runs nearly the same way again, so
// a failing seed can be replayed and shrunk.
//
// Read plan.go (what can happen), draw.go, drawoptions.go, drawspaces.go and drawschedules.go (how often), world.go, node.go, release.go and clocks.go
// (the cluster), faults.go, client.go, receiver.go and identity.go (its environment). Rules: oracle.go, timing.go, attempts.go, account.go and
// needless.go check what clients and receivers see, options.go and followups.go that of timers with options, and removal.go and quotas.go what clients of namespaces see that are
// deleted or have quotas. schedules.go, schedulewrites.go and localtimes.go have the clients and receivers of schedules and of timers with local times, with
// rules in schedulerules.go and localtimes.go; zones.go has the time zone databases. fence.go and watermark.go check the statements of schedulers;
// recording.go records a whole life, which outbox.go, poison.go, amplification.go and retries.go check at its end, with
// one function for each rule. Then shrink.go.
package sim
