// Package scheduler owns shards and publishes due events at their time, never before.
//
// It takes partitions of the shards topic through the bus's consumer group, claims their shards in the
// store, and works as section 8 of docs/design.md says. It imports the contracts (store, bus, event),
// never an engine, and never another service; it never delivers anything and never changes a timer.
//
// Read config.go, service.go (Run), session.go (the loop of one partition), then effects.go (its
// calls) and close.go. What the loop decides is in internal/partition; internal/agenda is the queue of armed
// timers, and internal/budget bounds what dispatchers have not acknowledged.
package scheduler
