// Package health records whether the Consume calls of one handle make progress. It answers bus.Bus.Ready for every bus,
// and logs for each Consume one line when it begins to fail, one a minute while it fails, and one when it has recovered.
//
// It imports pkg/bus and never touches a bus itself.
//
// Read consumer.go (one Consume), then registry.go (all of a handle).
package health
