// Package watermillclient uses Timerbus from Watermill programs: it sends commands as messages, reads the resulting
// events, and publishes messages that are delivered later.
//
// It owns the encoding of a command in a message and of a delayed message in a timer. It imports pkg/client, internal/event
// and Watermill, never a service, a store or a bus, and opens no connections.
//
// Read command.go, event.go, then delayed.go (publish) with when.go (delay metadata) and envelope.go (encoding of
// delayed messages).
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package watermillclient
