package timer

import (
	"strings"
	"time"
)

// LocalTime is a local time in a time zone that a client has given instead of an instant. It is kept as the client wrote it, because its
// instant changes when a new version of the time zone database gives the zone other offsets. A LocalTime is not changed once it is part of
// a Spec, so specs may share it.
type LocalTime struct {
	// At is the local time, such as 2030-03-31T02:30:00, in a form that ParseLocal accepts.
	At string
	// Zone is a name of the IANA database, such as Europe/Berlin.
	Zone string
	// Gap says what happens if a change of the clocks skips the local time.
	Gap Gap
	// Repeated says which instant is meant if a change of the clocks repeats the local time.
	Repeated Repeated
}

// Gap is a policy for a local time that a change of the clocks skips.
type Gap string

const (
	// GapNext, the default, means the first instant after the gap.
	GapNext Gap = ""
	// GapSkip means that there is no such instant: the local time is refused.
	GapSkip Gap = "skip"
)

// Repeated is a policy for a local time that a change of the clocks repeats.
type Repeated string

const (
	// RepeatedFirst, the default, means the first of the two instants.
	RepeatedFirst Repeated = ""
	// RepeatedSecond means the second one.
	RepeatedSecond Repeated = "second"
)

const (
	// maxZone is the longest name of a time zone, in bytes. The names of the IANA database have at most 32.
	maxZone = 64

	wantLocal = "a local time without an offset, such as 2030-01-31T09:00:00, with at most milliseconds, in the years 1 to 9999"
	wantZone  = `a name of the IANA time zone database, such as "Europe/Berlin"`
)

// Check returns an error that names the first field that is not acceptable. It does not look the zone up.
func (l *LocalTime) Check() error {
	if _, err := ParseLocal(l.At); err != nil {
		return err
	}
	if l.Zone == "" || len(l.Zone) > maxZone {
		return Invalid("timeZone", l.Zone, wantZone)
	}
	if l.Gap != GapNext && l.Gap != GapSkip {
		return Invalid("gap", string(l.Gap), `"next" or "skip"`)
	}
	if l.Repeated != RepeatedFirst && l.Repeated != RepeatedSecond {
		return Invalid("repeated", string(l.Repeated), `"first" or "second"`)
	}
	return nil
}

// ParseLocal parses a local time of ISO 8601 without an offset: date and time with minutes, seconds, or up to three digits of a second's
// fraction. It returns the local time in the form of a time in UTC.
func ParseLocal(s string) (time.Time, error) {
	const minutes, seconds, fraction = "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02T15:04:05.000"
	layout := minutes
	if len(s) > len(minutes) {
		layout = seconds // also accepts a fraction
	}
	at, err := time.Parse(layout, s)
	// time.Parse also accepts an hour of one digit, a comma before the fraction, and more digits of it.
	wellFormed := len(s) == len(minutes) || len(s) == len(seconds) || len(s) > len(seconds)+1 && len(s) <= len(fraction)
	if err != nil || !wellFormed || strings.Contains(s, ",") || at.Year() < 1 {
		return time.Time{}, Invalid("executeAtLocal", s, wantLocal)
	}
	return at, nil
}
