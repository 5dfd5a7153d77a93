package timer

import (
	"context"
	"time"
)

// Sleep waits for d. It returns false if ctx has ended.
func Sleep(ctx context.Context, d time.Duration) bool {
	// In a synctest bubble, two goroutines that wait for expired timers at the same time crash the race detector
	// (golang/go#78156).
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
