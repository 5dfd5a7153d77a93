// Package engine is the common code of the engines: how Close waits for running calls, the stored form of a retry policy,
// and how operations and outcomes change a row (Slot).
//
// The memory store does not use the last of these, because the suite compares the other engines with it. The package imports
// pkg/timer and pkg/store, and never an engine.
package engine
