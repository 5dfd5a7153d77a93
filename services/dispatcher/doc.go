// Package dispatcher delivers due timers: it takes due events from the shared queue, checks each against
// its row, calls back or publishes a fired event, publishes the result, and writes the outcome back by
// compare-and-set.
//
// It imports the contracts (timer, shard, store, bus, event), seal, webhook and its own internal packages; it never
// decides when a timer is due, never keeps one anywhere but in its row, and never waits in a message:
// what takes long moves the row's due_at (rule I11 of docs/design.md; all rules are there).
//
// Read service.go first (what runs), then the files of one delivery: intake.go (in from the bus, and acknowledged),
// internal/admission (when it begins; pure), check.go (the row check), deliver.go (the attempt), outcome.go (the result and
// its compare-and-set), publish.go (events, results and hints in batches), and calls.go (how calls are repeated and recorded).
// lease.go is for deliveries that take long, postpone.go for those that cannot begin, announce.go for dead and parked timers;
// housekeeping.go, metrics.go and config.go are the rest. internal/callback is the protocol with receivers, and
// profile.go opens what a namespace adds to it.
package dispatcher
