// Package watermillbus presents any bus as a Watermill Publisher and Subscriber, so that a user's handlers read
// what Timerbus publishes, publish commands, and use topics of their own beside it.
//
// It owns how topics are named, how a Watermill message lies in a bus message, and how acknowledgements of the
// one become those of the other. It imports pkg/bus, pkg/shard and Watermill; it never imports an engine or a
// service, never closes the bus it was given, and never looks into a payload.
//
// Read names.go first (which topic is meant), then wire.go (messages), publisher.go, subscriber.go and
// session.go (one partition's messages on their way to handlers).
package watermillbus
