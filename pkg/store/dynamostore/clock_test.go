package dynamostore_test

import (
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestI8_TheClockIsKnownThoughOnlySecondsAreShown: the server runs on this machine, and the test shifts the wall clock
// of the client.
func TestI8_TheClockIsKnownThoughOnlySecondsAreShown(t *testing.T) {
	const bound = 250 * time.Millisecond
	s := open(t, theServer(t).database(t))
	right := store.ThisMachine()
	for _, ahead := range []time.Duration{0, 700 * time.Millisecond, -time.Minute} {
		clock := store.NewClock(store.ClockConfig{Bound: bound, Shared: true, Machine: func() (time.Time, time.Duration) {
			wall, elapsed := right()
			return wall.Add(ahead).Round(0), elapsed
		}})
		for begin := time.Now(); !clock.Trusted(); {
			if time.Since(begin) > time.Minute {
				_, why := clock.Doubt()
				t.Fatalf("wall clock ahead by %v: not trusted after a minute: %s", ahead, why)
			}
			if err := clock.Start(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		if off := clock.Now().Sub(timer.SystemClock()); off.Abs() > bound/2 {
			t.Errorf("wall clock ahead by %v: the clock is %v from the server's", ahead, off)
		}
	}
}
