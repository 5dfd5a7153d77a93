// Package harness runs the real binary as a process: builds it, starts `timerbus dev` on free ports,
// waits until it is ready, stops, freezes or kills it, starts it again on the same data, and keeps its
// log for the day something fails.
//
// It touches a process only through what anybody has: flags, signals, ports, exit code and output. It
// signals no process but those it started. It imports no package of the product.
//
// Read service.go, then build.go, ports.go and tail.go.
package harness
