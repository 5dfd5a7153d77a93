// Package timerheap is the timer heap of one partition: it has the armed states of timers, and defines the order in
// which they are published.
//
// It imports pkg/store and pkg/timer for their types only. It is pure: no I/O, no clock, no locks; the same calls give
// the same results.
//
// Everything is in heap.go.
package timerheap
