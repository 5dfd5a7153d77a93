// Package watermillclient is Timerbus for programs that speak Watermill: commands as messages, the events that
// come back, and messages that are published now and arrive later.
//
// It owns how a command lies in a message and how a delayed message lies in a timer. It imports pkg/client,
// pkg/event and Watermill, never a service, a store or a bus, and opens no connection of its own.
//
// Read command.go, event.go, then delayed.go (publish) with when.go (until when) and envelope.go (there and back).
package watermillclient
