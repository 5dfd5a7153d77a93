// Package bus is the contract between the services and whatever carries their messages.
//
// It owns the verbs (Publish, Consume, Floor, Close), the three delivery modes, the topics and the
// errors. It imports pkg/shard for partition numbers and nothing else of this module; it never
// looks into a message's body.
//
// Read bus.go first, then topic.go, then errors.go; bustest turns every comment here into a test.
package bus
