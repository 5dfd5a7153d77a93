// Package harness runs the real binary as a process: it builds it, starts `timerbus dev` on free ports, waits until it
// is ready, stops, freezes or kills it, starts it again on the same data, and keeps its log for failure reports.
//
// It uses only the process's public interface: flags, signals, ports, exit code and output. It sends signals only to
// processes that it started. It imports no package of the product.
//
// Read service.go, then build.go, ports.go and tail.go.
package harness
