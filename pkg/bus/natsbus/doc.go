// Package natsbus is the bus on NATS JetStream (server 2.12 or newer): the embedded default, and for
// clusters.
//
// It owns streams, buckets, leases and the wire form. It imports pkg/bus, its internals, pkg/shard
// and the NATS client; it never imports the server (natsbus/embedded runs one), and it never reads a
// message's body. Every lasting decision is a compare-and-set on the server: the client only asks.
//
// Read options.go, streams.go and duequeue.go (what is kept), bus.go, wire.go, publish.go and floor.go (the
// verbs), then the consumer side: lease.go and members.go (who lives), group.go (who owns what),
// session.go (one assignment), puller.go, and one file per mode: ordered.go, live.go, queue.go
// (with reader.go for each stream, and shares.go for the bounds).
// own.go is for topics of users' own. follow.go is for onlookers, and stands apart.
package natsbus
