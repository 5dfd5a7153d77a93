// Package changes keeps the last changes of timers that the services of this process have made, so that streams of the HTTP API can
// follow them.
//
// It may import pkg/timer. It never reads the store or the bus, and it knows nothing about other processes. log.go is all of it.
package changes
