// Package memstore is the store in memory: the reference that every engine's answers are compared
// with, and what simulations run on.
//
// It owns the plainest possible reading of the contract in pkg/store, which it may import beside
// pkg/timer and pkg/shard. It never keeps anything beyond the process, never waits while it holds its
// lock (so it is at home in testing/synctest bubbles), and never shows the order of a Go map: the
// same calls in the same order give the same answers.
//
// Read database.go first (the shared truth and its handles), then shards.go for the indexes of one
// shard and rows.go for how a row changes, then the parts of the contract: timers.go, list.go,
// history.go, scheduling.go, notices.go, outcomes.go, namespaces.go, positions.go, census.go.
// sorted.go is the one data structure.
package memstore
