// Package agenda is the in-memory due queue of one partition: which states of which timers are armed,
// and in what order they come out.
//
// It imports pkg/store and pkg/timer for their types only. It is pure: no I/O, no clock, no locks; the
// same calls give the same answers.
//
// Everything is in agenda.go.
package agenda
