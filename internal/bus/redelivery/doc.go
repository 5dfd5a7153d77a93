// Package redelivery orders the messages of a queue by the time at which they are delivered again.
//
// It owns a heap. It imports the standard library only; it does no I/O, starts no goroutine, has no lock and reads no
// clock. A bus whose server does not redeliver messages after a Nack or AckWait uses it.
package redelivery
