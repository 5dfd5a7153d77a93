// Package admission decides which deliveries of a dispatcher begin, wait, or are postponed: by slots, the shares of
// namespaces, the limits and circuits of hosts, quarantine, and the bytes of rows.
//
// It is pure: no I/O, no clock, no goroutine and no lock. The dispatcher calls it under one lock, passes the time, and does
// what is decided. It imports the contracts for their types.
//
// Read ticket.go (the stages of one delivery), then queue.go (what is decided), limiter.go (hosts), circuit.go (hosts that do
// not answer), share.go (namespaces, and how fast queues move) and quarantine.go.
package admission
