// Package conformance has the fault proxy of the conformance scripts: the JSON files in this folder, which every SDK executes against
// the real service. README.md describes the scripts.
//
// It imports the standard library and pkg/timer only, and it contains no client: each SDK has a runner in its language.
//
// Read proxy.go. The command e2e/conformance starts the service behind a proxy.
package conformance
