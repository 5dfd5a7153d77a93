package host

import (
	"testing"
	"time"
)

func TestBusy(t *testing.T) {
	got, err := busy("cpu  100 20 30 5000 600 4 5 6 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
	if want := 165 * clockTick; err != nil || got != want {
		t.Errorf("busy for %v, %v, want %v", got, err, want)
	}
	for _, foreign := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 6 7 x"} {
		if got, err := busy(foreign); err == nil {
			t.Errorf("%q gives %v", foreign, got)
		}
	}
}

func TestOthers(t *testing.T) {
	before := Spent{At: time.Unix(100, 0), Machine: 10 * time.Second, ours: 3 * time.Second}
	for _, c := range []struct {
		machine, ours time.Duration
		want          float64
	}{
		{25 * time.Second, 8 * time.Second, 1}, // 15 s in total, 5 s of them ours, over 10 s
		{15 * time.Second, 8 * time.Second, 0},
		{15 * time.Second, 8010 * time.Millisecond, 0}, // the machine's ticks are coarser
	} {
		after := Spent{At: time.Unix(110, 0), Machine: c.machine, ours: c.ours}
		if got := after.OthersSince(before); got != c.want {
			t.Errorf("others %v, want %v", got, c.want)
		}
	}
	if s, err := SpentUntilNow(); err != nil || s.At.IsZero() {
		t.Errorf("spent %+v, %v", s, err)
	}
}
