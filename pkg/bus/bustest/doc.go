// Package bustest is the conformance suite of pkg/bus: each sentence of the contract's comments is a
// check here, and every engine must pass all of them.
//
// It owns the checks and the recorder they look at. It imports pkg/bus and pkg/shard; it never
// imports an engine: an engine's test hands it a Factory. The checks run against the small interface
// T rather than *testing.T, so that broken_test.go can run them on buses that must fail and see that
// they do. A check that no broken bus fails deserves suspicion.
//
// Read bustest.go first (what an engine gives), then world.go (what a check sees), then the checks:
// publish.go, ordered.go, bytes.go, gap.go, ownership.go, live.go, queue.go, floor.go, lifecycle.go, ready.go, own.go,
// crash.go.
package bustest
