// Package shard computes the placement of timers: the shard of a timer id, and the partition of the bus that carries
// the shard.
//
// It may import pkg/timer and the standard library, and never accesses stores or buses. The placement never changes: if
// a later release computed another shard for a timer, it could not find the timer. testdata/placement.json therefore
// pins it for implementations in any language.
//
// # Stability
//
// For engines and for programs that pass an engine to pkg/timerbus. Until 1.0 a minor release may change it. From 1.0 on, a
// minor release may still add methods and requirements, which the suite tests, so engines in other repositories must follow.
package shard
