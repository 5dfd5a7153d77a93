// Package scheduler owns shards and publishes due events at their due time, never before.
//
// It takes partitions of the shards topic through the bus's consumer group, claims their shards in the store, and
// follows section 8 of docs/design.md. It imports the contracts (store, bus, event), never an engine, and never another
// service. It delivers nothing and never changes a timer.
//
// Read config.go, service.go (Run), session.go (the loop of one partition), operations.go (its operations) and
// close.go. internal/partition makes the decisions of the loop, internal/timerheap is the timer heap, and
// internal/budget limits the unacknowledged due events.
package scheduler
