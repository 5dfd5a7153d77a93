// Package watermillbus adapts any bus to Watermill's Publisher and Subscriber, so that a user's handlers can consume
// public topics, publish commands, and use user topics on the same bus.
//
// It owns the names of topics, the conversion between Watermill messages and bus messages, and the mapping of their
// acknowledgements. It imports pkg/bus, pkg/shard and Watermill. It never imports an engine or a service, never
// closes the bus it was given, and never parses a payload.
//
// Read names.go first (topic names), then wire.go (messages), publisher.go, subscriber.go and session.go (delivery of
// one partition's messages to handlers).
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package watermillbus
