// Package embedded runs a NATS server with JetStream inside the process: the bus of `timerbus dev`,
// and the real server of this repository's tests.
//
// It owns the server's configuration and life. It imports nats-server and nothing of this module; it
// never looks at streams, which are natsbus's.
//
// Read embedded.go, then tend.go (what happens after a write error), then logger.go.
package embedded
