// Package backend opens the store and the bus that two URLs name, by their schemes. It is the only package that imports
// every engine: to add an engine, add a case here.
//
// It imports the contracts and all engines, and only opens and closes the engines.
//
// Read backend.go, then open.go, store.go and bus.go (with servers.go, nats.go and kafka.go); follow.go is for
// read-only observers of the topics, outbox.go for the outbox of a user.
package backend
