// Package watermillsink puts the public topics of a Timerbus on a user's Pub/Sub: commands come from a Watermill
// message.Subscriber, and fired events, results, dead timers and events for user topics go to a Watermill
// message.Publisher. Internal messages (hints, due events) remain on a bus below.
//
// It owns a bus.Bus decorator and the Watermill router for commands. It imports pkg/bus, internal/event (public messages
// are events) and Watermill. It never imports an engine, a service or a Pub/Sub, and never closes the objects in its
// Config.
//
// A Watermill message has no position, so commands from a Pub/Sub are applied at least once.
//
// Read sink.go first, then publish.go with places.go (limits of concurrent calls), then the path of a command:
// commands.go (subscribing), router.go (middleware), intake.go (delivery to the session, and acknowledgement),
// refuse.go.
package watermillsink
