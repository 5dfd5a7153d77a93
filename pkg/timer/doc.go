// Package timer is the domain: the fields of a timer, their accepted values, and the names of timers.
//
// It imports the standard library only. It does no I/O. It reads the clock only in SystemClock, which main passes to
// the components that need the time, and in Stopwatch. It waits only in Sleep.
//
// Read timer.go first, then spec.go (the user's part of a timer), patch.go, retry.go, then the small value types:
// headers.go, topic.go, target.go, statuscodes.go, id.go, uuid.go, millis.go, duration.go, revision.go. invalid.go is
// the error of all checks, except for payloads that are too large (spec.go).
//
// # Stability
//
// For engines and for programs that pass an engine to pkg/timerbus. Until 1.0 a minor release may change it. From 1.0 on, a
// minor release may still add methods and requirements, which the suite tests, so engines in other repositories must follow.
package timer
