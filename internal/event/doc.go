// Package event is the wire format: the content of the messages that services and users exchange, and the body of a
// callback.
//
// It imports only pkg/timer and pkg/shard, and never publishes anything. The public formats are described in schemas/
// and pinned by its golden vectors. The internal formats (hint, due) have a version, and a later release may append
// fields or use a new version.
//
// Read internal.go for hints and due events, cloudevent.go and decode.go for the envelope of the public events, then
// delivery.go, result.go, notice.go and command.go; trace.go is the trace context in all of them.
package event
