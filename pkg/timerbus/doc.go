// Package timerbus runs a Timerbus inside a user's program, on the user's Watermill Pub/Sub:
//
//	service, err := timerbus.Open(ctx, timerbus.Options{
//		Store:     "sqlite:./data",
//		Watermill: timerbus.Watermill{Publisher: publisher, Subscriber: subscriber},
//	})
//	…
//	err = service.Run(ctx)
//
// The service then reads commands from the Subscriber's topic timerbus.commands, and publishes timerbus.fired,
// timerbus.results, timerbus.dead and the timers' user topics with the Publisher. Internal messages use a separate bus,
// which is in the same process unless Options.Bus is set.
//
// It imports internal/node, which knows every engine, and Watermill, which the timerbus binary does not link. It never reads
// flags, the environment or files itself, and never closes the Publisher or the Subscriber.
//
// Read options.go, then timerbus.go.
package timerbus
