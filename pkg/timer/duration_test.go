package timer

import (
	"strconv"
	"strings"
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

func TestDurationsAreReadWithDays(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"1d": day, "1d12h": day + 12*time.Hour, "2d3h4m5.5s": 2*day + 3*time.Hour + 4*time.Minute + 5500*time.Millisecond,
		"0d": 0, "1.5d": 36 * time.Hour, ".5d": 12 * time.Hour, "-1d": -day, "+1d1h": 25 * time.Hour, "-1d1ms": -day - time.Millisecond,
		"106751d": 106751 * day, "1d.5h": day + 30*time.Minute,
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "0": 0, "-15m": -15 * time.Minute, "200ms": 200 * time.Millisecond,
	} {
		if got, err := ParseDuration(text); got != want || err != nil {
			t.Errorf("%q is read as %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "d", "-", "+d", "1", "1D", "1 d", "1d ", "1dd", "1d1d", "1h1d", "12h1.5d", "1d-1h", "1d+1h", "--1d", "1..5d", "1d1", "1e3d",
		"106752d", "106751d24h", "-106752d", "99999999999999999999d", "1w", "one day",
	} {
		got, err := ParseDuration(text)
		if err == nil {
			t.Errorf("%q is read as %v, want an error", text, got)
		} else if !strings.Contains(err.Error(), strconv.Quote(text)) || !strings.Contains(err.Error(), `"1d12h"`) {
			t.Errorf("%q: the error names neither it nor what is accepted: %v", text, err)
		}
	}
}

// Without days, a text has the same value as in the standard library. A day is 24 hours.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1d12h", "-1d", "1.5d", "90s", "1h30m", "106751d23h47m16.854775807s", "-9223372036854775808ns", "1d-1h"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseDuration(text)
		if !strings.Contains(text, "d") {
			if want, wantErr := time.ParseDuration(text); got != want || (err == nil) != (wantErr == nil) {
				t.Errorf("%q is read as %v, %v, and by the standard library as %v, %v", text, got, err, want, wantErr)
			}
			return
		}
		if err != nil {
			return
		}
		sign, rest := "", text
		if text[0] == '-' || text[0] == '+' {
			sign, rest = text[:1], text[1:]
		}
		days, below, _ := strings.Cut(rest, "d")
		hours, err := time.ParseDuration(sign + days + "h")
		if err != nil {
			t.Fatalf("%q is accepted, and has %q days: %v", text, days, err)
		}
		want := hours * 24
		if below != "" {
			more, err := time.ParseDuration(sign + below)
			if err != nil {
				t.Fatalf("%q is accepted, and ends in %q: %v", text, below, err)
			}
			want += more
		}
		if got != want {
			t.Errorf("%q is read as %v, want %v", text, got, want)
		}
	})
}
