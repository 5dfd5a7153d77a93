// Package embedded runs a NATS server with JetStream inside the process: the bus of `timerbus dev`, and a real server
// for this repository's tests.
//
// It owns the configuration and the lifecycle of the server. It imports nats-server and no package of this module. It
// never accesses streams, which natsbus owns.
//
// Read embedded.go, then tend.go (recovery from a write error), then logger.go.
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package embedded
