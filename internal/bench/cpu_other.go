//go:build !unix

package bench

import "time"

// ownCPU returns 0, because the processor time is not available on this platform. The figures of generator and receiver
// are then 0.
func ownCPU() time.Duration { return 0 }
