// Package window converts acknowledgements in any order into commits in order (rule I10).
//
// It owns the data structure and its lock. It imports the standard library only; it does no I/O, starts no goroutine
// and reads no clock. The engine that uses a Window reads Committed and stores it on its bus.
package window
