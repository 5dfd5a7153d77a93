// Package engine is the common code of the engines: how Close waits for running calls, the stored form of a retry policy,
// and the state of a timer that is created or starts again.
//
// The memory store does not use the last of these, because the suite compares the other engines with it. The package imports
// pkg/timer and pkg/store, and never an engine.
package engine
