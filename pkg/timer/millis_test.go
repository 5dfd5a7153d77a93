package timer_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestFromTimeTruncatesTowardsThePast(t *testing.T) {
	for _, c := range []struct {
		in   time.Time
		want timer.Millis
	}{
		{time.Unix(0, 0), 0},
		{time.Unix(0, 999_999), 0},
		{time.Unix(0, 1_000_000), 1},
		{time.Unix(0, -1), -1},
		{time.Unix(0, -1_000_000), -1},
		{time.Unix(-1, 999_999_999), -1},
		{time.Date(2030, 1, 31, 9, 0, 0, 123_999_999, time.FixedZone("", 3600)), 1896076800123},
	} {
		if got := timer.FromTime(c.in); got != c.want {
			t.Errorf("%s is %d ms, want %d", c.in, got, c.want)
		}
	}
}

func TestTimeAndBack(t *testing.T) {
	for _, m := range []timer.Millis{0, 1, -1, timer.MinMillis, timer.MaxMillis} {
		if got := timer.FromTime(m.Time()); got != m || m.Time().Location() != time.UTC {
			t.Errorf("%d came back as %d in %s", m, got, m.Time().Location())
		}
	}
}

func TestBoundsAreTheYears1To9999(t *testing.T) {
	if got := timer.MinMillis.String(); got != "0001-01-01T00:00:00.000Z" {
		t.Errorf("MinMillis is %s", got)
	}
	if got := timer.MaxMillis.String(); got != "9999-12-31T23:59:59.999Z" {
		t.Errorf("MaxMillis is %s", got)
	}
	if timer.Never.String() != "never" {
		t.Errorf("Never is %s", timer.Never)
	}
}

func TestAddAndSub(t *testing.T) {
	for _, c := range []struct {
		m    timer.Millis
		d    time.Duration
		want timer.Millis
	}{
		{5, time.Second, 1005},
		{5, -time.Second, -995},
		{5, 999 * time.Microsecond, 5},
		{timer.Never, time.Hour, timer.Never},
		{timer.Never - 1, time.Hour, timer.Never},
		{math.MaxInt64 - 10, 10 * time.Millisecond, timer.Never},
		{timer.MaxMillis, time.Millisecond, timer.MaxMillis + 1},
		{math.MinInt64 + 1, -time.Hour, math.MinInt64},
		{math.MinInt64 + 1, -time.Millisecond, math.MinInt64},
		{timer.Never, -time.Millisecond, timer.Never - 1},
	} {
		if got := c.m.Add(c.d); got != c.want {
			t.Errorf("%d + %s = %d, want %d", c.m, c.d, got, c.want)
		}
	}
	for _, c := range []struct {
		m, o timer.Millis
		want time.Duration
	}{
		{1005, 5, time.Second},
		{5, 1005, -time.Second},
		// The longest Duration is 292 years.
		{longest, 0, longest * time.Millisecond},
		{longest + 1, 0, math.MaxInt64},
		{-longest, 0, -longest * time.Millisecond},
		{-longest - 1, 0, math.MinInt64},
		{timer.MaxMillis, 1896076800123, math.MaxInt64},
		{1896076800123, timer.MaxMillis, math.MinInt64},
		// The difference does not fit into 64 bits of milliseconds either.
		{timer.Never, math.MinInt64, math.MaxInt64},
		{math.MinInt64, timer.Never, math.MinInt64},
		{timer.Never, -1, math.MaxInt64},
		{-2, timer.Never, math.MinInt64},
		{0, math.MinInt64, math.MaxInt64},
	} {
		if got := c.m.Sub(c.o); got != c.want {
			t.Errorf("%d − %d ms is %s, want %s", c.m, c.o, got, c.want)
		}
	}
}

// longest is the longest time.Duration in milliseconds.
const longest = math.MaxInt64 / 1_000_000

func TestParseMillis(t *testing.T) {
	for text, want := range map[string]timer.Millis{
		"2030-01-31T09:00:00Z":                1896080400000,
		"2030-01-31T09:00:00.1Z":              1896080400100,
		"2030-01-31T09:00:00.123456789Z":      1896080400123,
		"2030-01-31T09:00:00.9999999Z":        1896080400999,
		"2030-01-31T10:30:00+01:30":           1896080400000,
		"2030-01-30T23:00:00-10:00":           1896080400000,
		"2028-02-29T00:00:00Z":                1835395200000,
		"1969-12-31T23:59:59.9999Z":           -1,
		"0001-01-01T00:00:00Z":                timer.MinMillis,
		"9999-12-31T23:59:59.999Z":            timer.MaxMillis,
		"9999-12-31T23:59:59.999999999Z":      timer.MaxMillis,
		"2030-01-31T09:00:00.000000000000Z":   1896080400000,
		"2030-01-31T09:00:00-00:00":           1896080400000,
		"9999-12-31T22:59:59.999-01:00":       timer.MaxMillis,
		"2030-01-31T09:00:00.123000000+00:00": 1896080400123,
	} {
		if got, err := timer.ParseMillis(text); err != nil || got != want {
			t.Errorf("ParseMillis(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestParseMillisRefuses(t *testing.T) {
	for _, text := range []string{
		"", "now", "2030-01-31", "2030-01-31T09:00:00", "2030-01-31 09:00:00Z", "1896080400000",
		"2030-02-29T00:00:00Z", "2030-13-01T00:00:00Z", "2030-01-31T24:00:00Z", "2030-01-31T09:60:00Z",
		"2030-01-31T09:00:60Z", // leap seconds are not supported
		"10000-01-01T00:00:00Z", "0000-12-31T23:59:59Z", "-001-01-01T00:00:00Z",
		"0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", // in range only by their local date
		"2030-01-31T09:00:00Z ", " 2030-01-31T09:00:00Z", "2030-01-31T09:00:00Zz",
		// Texts that time.Parse accepts beyond RFC 3339:
		"2030-01-31T9:00:00Z", "2030-01-31T09:00:00,5Z", "2030-01-31T09:00:00+24:00", "2030-01-31T09:00:00+01:60",
	} {
		got, err := timer.ParseMillis(text)
		var invalid *timer.InvalidError
		if !errors.As(err, &invalid) || invalid.Field != "time" {
			t.Errorf("ParseMillis(%q) = %s, %v; want it refused as a time", text, got, err)
		}
	}
}

func TestMillisInJSON(t *testing.T) {
	at := timer.Millis(1896080400120)
	raw, err := json.Marshal(at)
	if err != nil || string(raw) != `"2030-01-31T09:00:00.120Z"` {
		t.Errorf("written as %s, %v", raw, err)
	}
	var back timer.Millis
	if err := json.Unmarshal(raw, &back); err != nil || back != at {
		t.Errorf("%s came back as %s, %v", raw, back, err)
	}
	back = 7
	if err := json.Unmarshal([]byte(`"soon"`), &back); err == nil || back != 7 {
		t.Errorf("a bad time changed the value to %d (%v)", back, err)
	}
	for _, bad := range []timer.Millis{timer.Never, timer.MinMillis - 1, timer.MaxMillis + 1, math.MinInt64} {
		if raw, err := json.Marshal(bad); err == nil {
			t.Errorf("%d was written as %s", bad, raw)
		}
	}
}

func TestSystemClock(t *testing.T) {
	before := timer.FromTime(time.Now())
	got := timer.SystemClock()
	if after := timer.FromTime(time.Now()); got < before || got > after {
		t.Errorf("the clock tells %s between %s and %s", got, before, after)
	}
}

func FuzzParseMillis(f *testing.F) {
	f.Add("2030-01-31T09:00:00.123456789+01:30")
	f.Add("0001-01-01T00:00:00+00:01")
	f.Add("2030-01-31T9:00:00,5Z")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := timer.ParseMillis(s)
		if err != nil {
			return
		}
		if m < timer.MinMillis || m > timer.MaxMillis {
			t.Fatalf("%q was read as %d, beyond the bounds", s, m)
		}
		text, err := m.MarshalText()
		if err != nil {
			t.Fatalf("%q was read as %d, which cannot be written: %v", s, m, err)
		}
		var back timer.Millis
		if err := back.UnmarshalText(text); err != nil || back != m {
			t.Fatalf("%d was written as %s and read as %d, %v", m, text, back, err)
		}
	})
}

// TestMillisAreFormattedAsByTheLayout compares the text with that of package time.
func TestMillisAreFormattedAsByTheLayout(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	all := []timer.Millis{timer.MinMillis, timer.MaxMillis, -1, 0, 1, 999, 1000, 9, 10, 99, 100}
	for range 10_000 {
		all = append(all, timer.MinMillis+timer.Millis(random.Int64N(int64(timer.MaxMillis-timer.MinMillis))))
	}
	for _, m := range all {
		text, err := m.MarshalText()
		if want := m.Time().Format("2006-01-02T15:04:05.000Z"); err != nil || string(text) != want {
			t.Fatalf("%d is %q (%v), want %q", int64(m), text, err, want)
		}
	}
}

func BenchmarkMillis(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		if _, err := timer.Millis(1_900_000_000_000 + int64(i)).MarshalText(); err != nil {
			b.Fatal(err)
		}
	}
}
