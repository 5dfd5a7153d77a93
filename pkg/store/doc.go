// Package store is the contract between the services and the database that stores the timers.
//
// It defines the interfaces, their request and answer types, and the errors. Engines are subpackages. It imports
// pkg/timer and pkg/shard only. Engines never read a clock and never generate revisions: the caller passes both with
// every write, so an engine's result depends only on its requests.
//
// Read store.go first (the interfaces and their common rules), then timers.go (ingest), shards.go (scheduler),
// outcomes.go (dispatcher), namespaces.go, secrets.go, cluster.go, schema.go, and errors.go. Package storetest tests
// what the comments specify.
//
// # Stability
//
// For engines and for programs that pass an engine to pkg/timerbus. Until 1.0 a minor release may change it. From 1.0 on, a
// minor release may still add methods and requirements, which the suite tests, so engines in other repositories must follow.
package store
