// Package partition decides what the owner of one partition does next: which shards to read, what to
// arm, what to publish, when to publish again, how far the watermarks may go. It is section 8 of
// docs/design.md.
//
// It is pure: no I/O, no clock, no goroutines. The session around it makes the calls and passes it
// their results, always from one goroutine. It imports the contracts for their types.
//
// Read partition.go (the state), then poll.go, hint.go, release.go, sweep.go and watermark.go in the
// order of a timer's life; idle.go is about shards without one, shares.go about fairness between namespaces (I16).
package partition
