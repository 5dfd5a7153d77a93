// Package doctor checks a running or stopped cluster for operators: its store, its bus, the clocks, and the progress of its
// timers. Each check says what it found and what to do.
//
// It may import the contracts. It imports no engine: the program passes functions that open the store and inspect the bus.
// It changes nothing, except that one check creates a timer for the year 9999 and deletes it.
//
// Read doctor.go first (results and options), then store.go, bus.go and timers.go (the checks).
package doctor
