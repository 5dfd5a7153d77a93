package engine

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

// TestSetHeld: beyond the rows that were looked at, the numbers are estimates of the same proportion.
func TestSetHeld(t *testing.T) {
	for _, c := range []struct{ held, looked, paused, wantPaused, wantParked int64 }{
		{0, 0, 0, 0, 0},
		{5, 5, 0, 0, 5},
		{5, 5, 3, 3, 2},
		{400, 100, 25, 100, 300},
		{400, 100, 100, 400, 0},
		{3, 5, 5, 5, 0}, // two statements, and rows of the first were resumed between them
	} {
		var counts store.Counts
		if SetHeld(&counts, c.held, c.looked, c.paused); counts.Paused != c.wantPaused || counts.Parked != c.wantParked {
			t.Errorf("%d rows, %d of %d paused: %d paused, %d parked; want %d, %d",
				c.held, c.paused, c.looked, counts.Paused, counts.Parked, c.wantPaused, c.wantParked)
		}
	}
}
