// Package kafkabus is the bus on Apache Kafka, for clusters.
//
// It owns topics, group membership, fetching, commits and the wire form. It imports pkg/bus, its
// internals, pkg/shard, the franz-go client and Prometheus; it never reads a message's body, and never counts on
// a partition being its own: the group's coordinator refuses the commits of whoever is late, and the
// claim in the store is the safety.
//
// One Consume is a group client that only holds the membership, and a reader that fetches from where
// the sessions say: a Nack, a failed session and a take-over are then all the same, a new place to
// read from.
//
// Read options.go, topics.go and incarnation.go (what is kept), bus.go, wire.go, publish.go and
// floor.go (the verbs), extra.go (partitions that operators add), then the consumer side: group.go (who
// owns what), session.go (one assignment), reader.go, progress.go and committer.go (how far a group is),
// and one file per mode: ordered.go, live.go, queue.go; share.go is the other way to do a queue. own.go
// is for user topics, together.go shares floors, follow.go is for onlookers, clientlog.go
// summarizes the client library's log, metrics.go has the metrics.
package kafkabus
