// Package partition makes the decisions for the owner of one partition: which shards to read, which states to arm,
// which to publish, which to publish again, and how far the watermarks may advance. It implements section 8 of
// docs/design.md.
//
// It is pure: no I/O, no clock, no goroutines. The session makes the calls and passes their results, always from one
// goroutine. It imports the contracts for their types.
//
// Read partition.go (the state), then poll.go, hint.go, release.go, sweep.go and watermark.go in the order of a timer's
// life. idle.go is about idle shards, shares.go about fairness between namespaces (I16).
package partition
