// Package window turns acknowledgements that come in any order into commits that come in order
// (rule I10).
//
// It owns the data structure and its lock. It imports the standard library only; it never does I/O,
// never starts a goroutine and never looks at the clock: the engine that holds a Window reads
// Committed and writes it down where its bus keeps such things.
package window
