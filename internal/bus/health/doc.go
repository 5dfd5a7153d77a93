// Package health records whether the Consume calls of one handle make progress. It implements bus.Bus.Ready for every
// bus, and logs the outages of each Consume.
//
// It imports pkg/bus and internal/outage, and never accesses a bus itself.
//
// Read consumer.go (one Consume), then registry.go (all Consume calls of a handle).
package health
