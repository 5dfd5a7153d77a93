// Package timerbus is the root of the repository and holds no code of its own: it keeps the rules about
// who may import whom (layout_test.go) and the way into the rest. It imports nothing of ours.
//
// Read docs/design.md first, then cmd/timerbus (the one binary), then services/ in the order a timer
// passes them: ingest, scheduler, dispatcher. Programs import pkg/client.
package timerbus
