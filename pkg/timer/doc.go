// Package timer is the domain: what a timer is, which values are accepted, how it is named.
//
// It imports the standard library only. It never does I/O and never reads the clock, except through
// SystemClock, which main hands to whoever needs the time.
//
// Read timer.go first, then spec.go (what a user asks for), patch.go, retry.go, then the small value
// types: headers.go, topic.go, statuscodes.go, id.go, uuid.go, millis.go, revision.go; invalid.go is the one error of this package.
package timer
