package timer

import "time"

// Stopwatch measures elapsed time by the machine's monotonic clock. Backoffs, caches and rate limits use it, because
// the wall clock may be set forward or back while they run.
type Stopwatch struct{ start time.Time }

// NewStopwatch returns a running Stopwatch.
func NewStopwatch() Stopwatch { return Stopwatch{start: time.Now()} }

// Elapsed returns how long the stopwatch has run. It never decreases.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.start) }
