// Package flow computes the state that dispatchers share about one flow: the time of the next slot of its rate, who holds permits of
// its concurrency, and when the next waiting timer has its turn. It is pure: no I/O, no clock, no goroutine. The dispatcher reads
// a state, calls Lease, and writes the result by compare-and-set.
//
// It imports timer for the limits. Read state.go.
package flow
