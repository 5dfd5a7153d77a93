// Package kafkabus implements the bus on Apache Kafka, for clusters.
//
// It owns topics, group membership, fetching, commits and the wire format. It imports pkg/bus, its internal packages,
// pkg/shard, the franz-go client and Prometheus. It never reads a message's body, and never relies on owning a
// partition: the group's coordinator refuses the commits of a former owner, and the claim in the store is the fence.
//
// One Consume is a group client, which only maintains the membership, and a reader, which fetches from the offsets
// that the sessions request. A Nack, a failed session and a take-over therefore all mean: read from another offset.
//
// Read options.go, topics.go and epoch.go (topics and their epochs), bus.go, wire.go, publish.go and floor.go
// (the operations), extra.go (partitions that operators add), then the consumer side: group.go (partition ownership),
// session.go (one assignment; the life of a session is in internal/bus/consume), reader.go, progress.go and
// committer.go (a group's position), and one file per mode: ordered.go, live.go, queue.go. own.go contains user topics,
// sharedfloors.go shares floor requests, follow.go contains Follow, which reads topics without a group, clientlog.go
// summarizes the client library's log, and metrics.go has the metrics.
//
// # Stability
//
// For programs: Options, the functions that open or migrate, and Close. Until 1.0 a minor release may change them, with an
// entry in CHANGELOG.md. From 1.0 on, they stay compatible within a major version. The other methods follow pkg/bus.
package kafkabus
