// Package memstore is the store in memory. It is the reference with which the answers of every engine are compared, and
// simulations run on it.
//
// It is the simplest implementation of the contract in pkg/store. It may import pkg/store, pkg/timer and pkg/shard. It
// stores nothing outside the process, never waits while it has its lock (so it works in testing/synctest bubbles), and
// its answers never depend on the order of a Go map: the same calls in the same order get the same answers.
//
// Read database.go first (the shared data and its handles), then shards.go for the indexes of one shard and rows.go for
// how a row changes, then the parts of the contract: timers.go, list.go, history.go, scheduling.go, outbox.go,
// outcomes.go, namespaces.go, positions.go, census.go. sorted.go is the only data structure.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The other methods follow pkg/store.
package memstore
