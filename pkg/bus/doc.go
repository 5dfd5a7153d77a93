// Package bus is the contract between the services and the message buses.
//
// It owns the operations (Publish, Consume, Floor, Ready, Close), the three delivery modes, the topics and the
// errors. It imports pkg/shard for partition numbers and no other package of this module. It never parses a message's
// body.
//
// Read bus.go first, then topic.go, then errors.go. The suite in bustest tests the statements of these comments.
//
// # Stability
//
// For engines and for programs that pass an engine to pkg/timerbus. Until 1.0 a minor release may change it. From 1.0 on, a
// minor release may still add methods and requirements, which the suite tests, so engines in other repositories must follow.
package bus
