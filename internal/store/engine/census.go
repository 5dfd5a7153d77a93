package engine

import "github.com/timerbus/timerbus/pkg/store"

// MaxDead is how many dead timers a count looks at, because it looks for a live row of each.
const MaxDead = 100_000

// MaxHeld is how many parked and paused rows a count looks at, because it reads the options of each.
const MaxHeld = 100_000

// SetHeld sets the numbers of parked and paused rows. held is how many rows there are of both kinds, and paused how many of the
// first looked of them are paused. If held is larger than looked, both numbers are estimates.
func SetHeld(c *store.Counts, held, looked, paused int64) {
	c.Paused = paused
	if held > looked && looked > 0 {
		c.Paused = int64(float64(held) * float64(paused) / float64(looked))
	}
	c.Parked = max(0, held-c.Paused)
}
