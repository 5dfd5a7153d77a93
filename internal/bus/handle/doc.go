// Package handle contains what the handles of several buses have in common: they count running calls, so that Close ends
// them and waits for them, register each Consume, and check messages before they are published.
//
// It imports pkg/bus and internal/bus/health only, and does no I/O. Read handle.go, then check.go.
package handle
