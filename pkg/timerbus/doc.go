// Package timerbus runs a Timerbus inside a user's program, on a store and a bus that the program opens:
//
//	s, err := sqlitestore.Open(ctx, sqlitestore.Options{Folder: "./data"})
//	…
//	b := membus.New(membus.Options{}).Join("app")
//	service, err := timerbus.New(ctx, s, b, timerbus.Options{
//		Watermill: timerbus.Watermill{Publisher: publisher, Subscriber: subscriber},
//	})
//	…
//	err = service.Run(ctx)
//
// The program links only the engines that it imports. Each combination of store and bus works:
//
//   - pkg/bus/membus is for one process. Its messages are lost with the process; the next process finds all timers in the
//     store and delivers them.
//   - pkg/bus/natsbus with pkg/bus/natsbus/embedded runs a NATS server in the process. Its messages survive the process, and
//     programs can consume the public topics with any NATS client.
//   - pkg/bus/natsbus and pkg/bus/kafkabus connect to servers, for several processes, which share the work. They need a store
//     that several processes can use: pkg/store/postgresstore or pkg/store/dynamostore.
//
// A database server needs its tables before it is opened: call postgresstore.Migrate or dynamostore.Migrate. On NATS and Kafka
// servers, call store.Identify before the bus is connected, so that a wrong number of partitions creates no topics. At most one
// service may run on a store for which store.Shared is false, and none after a Run whose error wraps ErrNotDrained.
//
// If Options.Watermill is set, the service reads commands from the Subscriber's topic timerbus.commands, and publishes
// timerbus.fired, timerbus.results, timerbus.dead and the timers' user topics with the Publisher. The bus carries the other
// messages.
//
// It imports internal/node, Watermill, which the timerbus binary does not link, and no engine. It never reads flags, the
// environment or files itself, and never closes the store, the bus, the Publisher or the Subscriber.
//
// Read options.go, then timerbus.go.
//
// # Stability
//
// For programs. Until 1.0 a minor release may change it, with an entry in CHANGELOG.md. From 1.0 on, it stays compatible
// within a major version.
package timerbus
