// Package watermillsink lets the public topics of a Timerbus live on a Pub/Sub of the user's: commands are taken
// from a Watermill message.Subscriber, and fired events, results, dead ones and events for topics of users' own
// go to a Watermill message.Publisher. What is internal (hints, due events) stays on a bus below.
//
// It owns a bus.Bus decorator and the Watermill router that commands come through. It imports pkg/bus, pkg/event
// (public messages are events) and Watermill, never an engine, a service or a Pub/Sub, and never closes what it
// was given.
//
// A Watermill message has no position, so commands that come this way are applied at least once.
//
// Read sink.go first, then publish.go with places.go (how many calls at once), then the way of a command:
// commands.go (subscribe, again and again), router.go (what it passes through), intake.go (to the session and
// back), refuse.go.
package watermillsink
