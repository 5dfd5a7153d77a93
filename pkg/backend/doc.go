// Package backend opens the store and the bus that a process is told to use, by the schemes of two
// URLs. It is the only package that knows every engine: to add one, add a case here.
//
// It imports the contracts and all engines, and never uses an engine beyond opening and closing it.
//
// Read backend.go, then open.go, store.go and bus.go (with servers.go, nats.go and kafka.go); follow.go is
// for onlookers.
package backend
