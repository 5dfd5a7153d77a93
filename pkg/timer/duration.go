package timer

import (
	"fmt"
	"strings"
	"time"
)

// FormatDuration formats a duration as users write it: "1h", where the standard library writes "1h0m0s".
func FormatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// ParseDuration parses a duration like time.ParseDuration, and also accepts days ("1d", "1d12h", "-1.5d"). Days come
// first; a day is 24 hours. All durations from users are parsed here: flags, settings, URLs and requests.
func ParseDuration(s string) (time.Duration, error) {
	d, ok := parseDuration(s)
	if !ok {
		return 0, fmt.Errorf(`%q is not a duration such as "200ms", "30s", "1h30m" or "1d12h"`, cut(s))
	}
	return d, nil
}

func parseDuration(s string) (d time.Duration, ok bool) {
	unsigned := strings.TrimLeft(s, "+-")
	sign := s[:len(s)-len(unsigned)]
	days, below, some := strings.Cut(unsigned, "d")
	if !some {
		d, err := time.ParseDuration(s)
		return d, err == nil
	}
	if strings.Trim(days, "0123456789.") != "" || strings.HasPrefix(below, "+") || strings.HasPrefix(below, "-") {
		return 0, false // the number of days contains other units or a sign
	}
	hours, err := time.ParseDuration(sign + days + "h")
	if err != nil || hours*24/24 != hours {
		return 0, false
	}
	if below == "" {
		return hours * 24, true
	}
	rest, err := time.ParseDuration(sign + below)
	d = hours*24 + rest
	overflow := (d < hours*24) != (rest < 0)
	return d, err == nil && !overflow
}
