// Package faultstore puts faults in the way of a store, call by call, as a plan says.
//
// It owns the ways in which a database fails its clients: not reached, answer lost, slow, frozen,
// applied later than anyone expects. It may import pkg/store, pkg/timer and pkg/shard; it wraps any
// engine and knows none. It starts no goroutine, except the one that reads Clocks, and rolls no dice: with a
// plan that is a function of its arguments a run can be repeated, also inside a testing/synctest bubble.
//
// Read fault.go first (the kinds of faults and the plan), then faults.go (how one is done to a call),
// store.go (the contract, method by method), powers.go (the rare powers, through faults too) and clocks.go (wrong clocks).
package faultstore
