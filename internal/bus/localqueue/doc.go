// Package localqueue keeps the due events of a process in its memory, instead of on the bus, if the scheduler and the
// dispatcher run in the same process (decision 0084).
//
// It owns the queue: its messages, their acknowledgements and redeliveries, and one session for each partition. All other topics go to
// the inner bus. It imports pkg/bus, internal/bus/handle, internal/bus/health and internal/bus/redelivery; it does no I/O. Read bus.go,
// then queue.go.
package localqueue
