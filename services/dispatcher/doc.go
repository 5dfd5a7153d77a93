// Package dispatcher delivers due timers: it takes due events from the shared queue, checks each against
// its row, calls back or publishes a fired event, tells the result, and writes the outcome back by
// compare-and-set.
//
// It imports the contracts (timer, shard, store, bus, event), seal, webhook and its own internal packages; it never
// decides when a timer is due, never keeps one anywhere but in its row, and never waits in a message:
// what takes long moves the row's due_at (rule I11 of docs/design.md; all rules are there).
//
// Read service.go first (what runs), then the way of one delivery: session.go (in from the bus), board.go
// (who may start, pure), gate.go (whose host has a place; with host.go, lanes.go and drain.go), check.go
// (the row check), deliver.go (the attempt), conclude.go (result, outcome, acknowledgement), write.go (one
// compare-and-set until it is answered). keeper.go and lease.go are what happens to deliveries that take long,
// postpone.go to those that cannot begin; publish.go, announce.go and batch.go what carries them in bulk, and
// outlets.go and owntopic.go what goes to topics of users' own;
// housekeeping.go, metrics.go and config.go the rest. internal/callback is the protocol with receivers, and
// profile.go opens what a namespace adds to it.
package dispatcher
