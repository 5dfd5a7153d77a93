// Package engine is the common code of the engines: how Close waits for running calls.
//
// It imports pkg/store, and never an engine.
package engine
