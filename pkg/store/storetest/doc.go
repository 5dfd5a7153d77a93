// Package storetest is the conformance suite of pkg/store: every engine runs it and passes it whole.
//
// It owns the tests that the contract's comments stand for, one subtest for each thing said; those of
// the rules I1–I14 that live in the store carry the rule's number in their name. It may import
// pkg/store, pkg/timer and pkg/shard, and knows no engine. It never reads a clock and never sleeps:
// engines are functions of their requests, and the suite tells them what time it is.
//
// Read storetest.go first (what an engine's test gives, and Run), then world.go (what a subtest works
// with), then a file for each part of the contract. lockstep.go and the files beside it drive an
// engine and a reference with the same random calls. broken_test.go shows that the suite can fail:
// it runs against stores that are wrong in one way each.
package storetest
