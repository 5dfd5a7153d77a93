package timer

import "time"

// Stopwatch measures elapsed time by the machine's monotonic clock. Back-offs, caches and pacing use it, because
// the wall clock may be set forward or back while they run.
type Stopwatch struct{ start time.Time }

// NewStopwatch starts one.
func NewStopwatch() Stopwatch { return Stopwatch{start: time.Now()} }

// Elapsed is how long the stopwatch has run. It never goes back.
func (s Stopwatch) Elapsed() time.Duration { return time.Since(s.start) }
