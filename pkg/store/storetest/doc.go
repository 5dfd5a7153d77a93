// Package storetest is the conformance suite of pkg/store. Every engine must pass it completely.
//
// It tests the contract's comments, with one subtest per statement. Subtests of the rules I1–I14 that a store
// implements have the rule's number in their names. It may import pkg/store, pkg/timer and pkg/shard, and no engine. It
// never reads a clock and never sleeps: an engine's answers depend on its requests only, and the suite sets their time.
//
// Read storetest.go first (the parts that an engine's test supplies, and Run), then world.go (the helpers of a
// subtest), then a file for each part of the contract. lockstep.go and the files named after it make the same random
// calls to an engine and a reference. broken_test.go shows that the suite can fail: it runs the suite on stores with
// one mistake each.
//
// # Stability
//
// For engines and for programs that pass an engine to pkg/timerbus. Until 1.0 a minor release may change it. From 1.0 on, a
// minor release may still add methods and requirements, which the suite tests, so engines in other repositories must follow.
package storetest
