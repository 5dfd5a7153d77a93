// Package faultstore is a decorator that injects faults into the calls of a store, according to a plan.
//
// It implements the ways in which a database fails its clients: unreachable, answer lost, slow, frozen, applied late.
// It may import pkg/store, pkg/timer and pkg/shard. It wraps any engine and imports none. It starts no goroutine,
// except the one that reads Clocks, and uses no random numbers: if the plan depends on its arguments only, a run can be
// repeated, also inside a testing/synctest bubble.
//
// Read fault.go first (the kinds of faults and the plan), then faults.go (how a fault is applied to a call), store.go
// (the methods of the contract), powers.go (the optional capabilities, which get faults too) and clocks.go (wrong
// clocks).
package faultstore
