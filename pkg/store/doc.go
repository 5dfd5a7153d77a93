// Package store is the contract between the services and the database that holds the timers.
//
// It owns the interfaces, their request and answer types, and the errors; engines live below it. It
// imports pkg/timer and pkg/shard only. Engines never read a clock and never make revisions: every
// write brings both, so that an engine is a function of its requests.
//
// Read store.go first (the parts and their common rules), then timers.go (ingest), shards.go
// (scheduler), outcomes.go (dispatcher), namespaces.go,
// secrets.go, cluster.go, and errors.go. storetest turns
// the comments into tests.
package store
