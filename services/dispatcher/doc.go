// Package dispatcher delivers due timers. It takes due events from the shared queue, compares each with its row, makes
// the callback or publishes a fired event, publishes the result, and writes the outcome by compare-and-set.
//
// It imports the contracts (timer, shard, store, bus, event), encryption, webhook and its internal packages. It never decides
// when a timer is due, keeps no timer outside its row, and keeps no message during a long wait: it moves the row's due_at
// instead (rule I11; docs/design.md lists all rules).
//
// Read service.go first (loops, start and stop), then the files of one delivery: intake.go (receives and acknowledges
// messages), internal/admission (decides when a delivery begins; pure), check.go (the row check), deliver.go (the
// attempt), outcome.go (the result and its compare-and-set), publish.go (events, results and hints in batches) and
// calls.go (retries of calls, and their metrics). lease.go handles long deliveries, postpone.go deliveries that cannot
// begin, and outbox.go dead and parked timers. housekeeping.go, metrics.go and config.go complete the package.
// internal/callback implements the protocol with receivers; profile.go decrypts the callback settings of a namespace.
package dispatcher
