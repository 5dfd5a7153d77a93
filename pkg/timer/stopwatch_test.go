package timer

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStopwatchMeasuresElapsedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		watch := NewStopwatch()
		time.Sleep(1500 * time.Millisecond)
		if got := watch.Elapsed(); got != 1500*time.Millisecond {
			t.Fatalf("%v elapsed, want 1.5s", got)
		}
	})
}
