// Package event is the wire format: what stands in the messages that services and users exchange, and
// the body of a callback.
//
// It imports pkg/timer and pkg/shard only, and never publishes anything. The public formats are
// described in schemas/ and pinned by its golden vectors; the internal ones (hint, due) carry a
// version, and may gain fields or a new version between releases.
//
// Read internal.go for hints and due events, cloudevent.go and decode.go for the envelope of the public
// ones, then delivery.go, result.go, notice.go and command.go; trace.go is what all of them carry on.
package event
