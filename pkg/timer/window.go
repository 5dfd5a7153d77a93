package timer

import (
	"encoding/binary"
	"time"
)

// MaxWindow is the longest window.
const MaxWindow = 7 * 24 * time.Hour

// Spread returns how much later than the beginning of a window the timer is due: from 0 to less than the window, in whole
// milliseconds. It is uniform over all timers, and always the same for a timer and a window.
func Spread(u UUID, window time.Duration) time.Duration {
	millis := window.Milliseconds()
	if millis <= 0 {
		return 0
	}
	// The last 62 bits of a UUID are bits of its hash.
	const hashed = 1<<62 - 1
	return time.Duration(int64(binary.BigEndian.Uint64(u[8:])&hashed)%millis) * time.Millisecond
}

func checkWindow(window time.Duration) error {
	if window < 0 || window > MaxWindow || window%time.Millisecond != 0 {
		return Invalid("window", window, "a duration of whole milliseconds, at most 7 d")
	}
	return nil
}
