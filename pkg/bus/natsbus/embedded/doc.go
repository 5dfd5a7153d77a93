// Package embedded runs a NATS server with JetStream inside the process: the bus of `timerbus dev`, and a real server
// for this repository's tests.
//
// It owns the configuration and the lifecycle of the server. It imports nats-server and no package of this module. It
// never accesses streams, which natsbus owns.
//
// Read embedded.go, then tend.go (recovery from a write error), then logger.go.
package embedded
