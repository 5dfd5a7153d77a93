// Package natsbus implements the bus on NATS JetStream (server 2.12 or newer): the embedded default, and for
// clusters.
//
// It owns streams, buckets, leases and the wire format. It imports pkg/bus, its internal packages, pkg/shard and the
// NATS client. It never imports the server (natsbus/embedded runs one), and it never reads a message's body. Every
// persistent decision is a compare-and-set on the server: the client only requests it.
//
// Read options.go, streams.go and duequeue.go (streams and buckets), bus.go, wire.go, publish.go and floor.go (the
// operations), then the consumer side: lease.go and members.go (membership), group.go (partition ownership),
// session.go (one assignment; the life of a session is in internal/bus/consume), puller.go, and one file per mode:
// ordered.go, live.go, queue.go (with reader.go for each stream, and shares.go for the bounds). own.go contains user
// topics. follow.go contains Follow, which reads topics without a group.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The other methods follow pkg/bus.
package natsbus
