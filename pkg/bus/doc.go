// Package bus is the contract between the services and the message buses.
//
// It owns the operations (Publish, Consume, Floor, Ready, Close), the three delivery modes, the topics and the
// errors. It imports pkg/shard for partition numbers and no other package of this module. It never parses a message's
// body.
//
// Read bus.go first, then topic.go, then errors.go. The suite in bustest tests the statements of these comments.
package bus
