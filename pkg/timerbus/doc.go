// Package timerbus runs a Timerbus inside a user's own program, on a Pub/Sub of the user's:
//
//	service, err := timerbus.Open(ctx, timerbus.Options{
//		Store:     "sqlite:./data",
//		Watermill: timerbus.Watermill{Publisher: publisher, Subscriber: subscriber},
//	})
//	…
//	err = service.Run(ctx)
//
// Commands then come from the Subscriber's topic timerbus.commands, and timerbus.fired, timerbus.results,
// timerbus.dead and timers' own topics are published with the Publisher. What is internal runs on a bus of its own,
// which is in the same process unless Options.Bus says otherwise.
//
// It imports pkg/node, which knows every engine, and Watermill, which the timerbus binary does without. It never
// reads flags, the environment or files of its own, and never closes the Publisher or the Subscriber.
//
// Read options.go, then timerbus.go.
package timerbus
