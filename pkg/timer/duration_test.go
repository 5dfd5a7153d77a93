package timer

import (
	"testing"
	"time"
)

func TestDurationsAreWrittenAsUsersGiveThem(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "200ms": 200 * time.Millisecond, "30s": 30 * time.Second, "1m": time.Minute, "10m": 10 * time.Minute,
		"1h": time.Hour, "1h30m": 90 * time.Minute, "1h0m1s": time.Hour + time.Second, "20s": 20 * time.Second, "-1h": -time.Hour,
	} {
		got := FormatDuration(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%v is written %q, want %q (%v)", d, got, want, err)
		}
	}
}
