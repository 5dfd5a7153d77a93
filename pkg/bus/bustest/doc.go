// Package bustest is the conformance suite of pkg/bus. It has a check for each statement in the contract's comments,
// and every engine must pass all of them.
//
// It owns the checks and the recorder that they read. It imports pkg/bus and pkg/shard; it never imports an engine:
// the engine's test passes a Factory. Checks use the small interface T instead of *testing.T, so that broken_test.go
// can run them on broken buses and verify that they fail. A check that fails on no broken bus may detect nothing.
//
// Read bustest.go first (the interface to the engine), then world.go (the recorder), then the checks: publish.go,
// ordered.go, bytes.go, gap.go, ownership.go, live.go, queue.go, floor.go, lifecycle.go, ready.go, own.go, crash.go.
//
// # Stability
//
// For engines and for programs that pass an engine to pkg/timerbus. Until 1.0 a minor release may change it. From 1.0 on, a
// minor release may still add methods and requirements, which the suite tests, so engines in other repositories must follow.
package bustest
