// Package consume runs one session of a Consume: it opens the service's session, passes deliveries to it, closes it, and
// then commits or discards its acknowledgements.
//
// It imports pkg/bus, pkg/shard and internal/bus/window only, and does no I/O. The engine decides when a session begins and ends,
// supplies the deliveries, and commits. Read session.go, then acks.go (the acknowledgements of Ordered mode).
package consume
