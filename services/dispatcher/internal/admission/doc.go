// Package admission decides which deliveries of a dispatcher begin, wait, or are postponed. It considers slots, the
// shares of namespaces, the limits and circuits of hosts, flows, quarantine, and the bytes of rows.
//
// It is pure: no I/O, no clock, no goroutine and no lock. The dispatcher calls it under one lock, passes the time, and
// carries out its decisions. It imports the contracts for their types.
//
// Read ticket.go (the stages of one delivery), then queue.go (the admission queue), limiter.go (permits of hosts), hosts.go,
// circuit.go, share.go (namespaces, and drain rates), flows.go (limits that all dispatchers share) and quarantine.go.
package admission
