package timer

import (
	"math"
	"strings"
	"time"
)

// Millis is an instant: UTC milliseconds since 1970. Timerbus has no finer times, so that an instant is the same in
// every engine and comparable with ==.
type Millis int64

const (
	// MinMillis and MaxMillis bound the times that a user may give: the years 1 to 9999, which RFC 3339 can represent.
	MinMillis Millis = -62135596800000
	MaxMillis Millis = 253402300799999
	// Never is after every instant. It is a bound, never a stored time.
	Never Millis = math.MaxInt64
)

// Clock returns the present. Core code gets a Clock and never reads the operating system's clock itself.
type Clock func() Millis

// SystemClock returns the time of the machine's clock.
func SystemClock() Millis { return FromTime(time.Now()) }

// FromTime truncates to the millisecond (towards the past, also before 1970).
func FromTime(t time.Time) Millis { return Millis(t.UnixMilli()) }

// Time returns the instant in UTC.
func (m Millis) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// Add returns m + d, with d truncated to milliseconds. It saturates at the earliest instant and at Never.
func (m Millis) Add(d time.Duration) Millis {
	sum := m + Millis(d.Milliseconds())
	switch {
	case d > 0 && sum < m:
		return Never
	case d < 0 && sum > m:
		return math.MinInt64
	default:
		return sum
	}
}

// Sub returns m − o. Like time.Time.Sub it saturates at the longest Duration, about 292 years.
func (m Millis) Sub(o Millis) time.Duration {
	const longest = Millis(math.MaxInt64 / time.Millisecond)
	difference := m - o
	overflowed := (difference < 0) != (m < o)
	switch {
	case m > o && (overflowed || difference > longest):
		return math.MaxInt64
	case m < o && (overflowed || difference < -longest):
		return math.MinInt64
	default:
		return time.Duration(difference) * time.Millisecond
	}
}

func (m Millis) String() string {
	if m == Never {
		return "never"
	}
	return string(m.appendText(nil))
}

// MarshalText writes RFC 3339 in UTC with milliseconds.
func (m Millis) MarshalText() ([]byte, error) {
	if m < MinMillis || m > MaxMillis {
		return nil, Invalid("time", int64(m), "an instant in the years 1 to 9999")
	}
	return m.appendText(make([]byte, 0, len("2006-01-02T15:04:05.000Z"))), nil
}

// appendText appends m with its milliseconds, so that equal instants are equal texts. Package time formats time.RFC3339 about three
// times as fast as a layout with milliseconds.
func (m Millis) appendText(b []byte) []byte {
	t := m.Time()
	b = t.AppendFormat(b, time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z')
}

// UnmarshalText parses RFC 3339 with any offset and truncates to the millisecond.
func (m *Millis) UnmarshalText(text []byte) error {
	parsed, err := ParseMillis(string(text))
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}

// ParseMillis parses RFC 3339 with any offset and truncates to the millisecond.
func ParseMillis(s string) (Millis, error) {
	const want = "an RFC 3339 time such as 2030-01-31T09:00:00Z, in the years 1 to 9999"
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || !strict(s) {
		return 0, Invalid("time", s, want)
	}
	m := FromTime(t)
	if m < MinMillis || m > MaxMillis {
		return 0, Invalid("time", s, want)
	}
	return m, nil
}

// strict rejects texts that time.Parse accepts although they are not RFC 3339: an hour of one digit, a comma before the
// fraction, an offset of a day or with 60 minutes. Its argument must have passed time.Parse.
func strict(s string) bool {
	const shortest, offset = len("2006-01-02T15:04:05Z"), len("+07:00")
	if len(s) < shortest || s[len("2006-01-02T15")] != ':' || strings.Contains(s, ",") {
		return false
	}
	if s[len(s)-1] == 'Z' {
		return true
	}
	zone := s[len(s)-offset:]
	return zone[1:3] < "24" && zone[4:6] < "60"
}
