// Package engine is the common code of the engines: how Close waits for running calls, and the stored form of a retry
// policy.
//
// It imports pkg/timer and pkg/store, and never an engine.
package engine
