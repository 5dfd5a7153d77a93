package api

import (
	"fmt"
	"time"
)

// Instant is a time as the API writes it: UTC, always with milliseconds, so that equal instants are equal strings. It
// reads RFC 3339 with any offset.
type Instant struct{ time.Time }

// instantLayout is RFC 3339 with exactly three decimals.
const instantLayout = "2006-01-02T15:04:05.000Z07:00"

// At returns the instant of t.
func At(t time.Time) Instant { return Instant{t} }

func (i Instant) String() string { return i.UTC().Format(instantLayout) }

// MarshalJSON writes a string such as "2030-01-31T09:00:00.000Z". It returns an error for years that RFC 3339 cannot
// represent.
func (i Instant) MarshalJSON() ([]byte, error) {
	t := i.UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return nil, fmt.Errorf("marshal instant %v: the year is outside 1 to 9999", t)
	}
	b := make([]byte, 0, len(instantLayout)+2)
	b = append(b, '"')
	b = t.AppendFormat(b, instantLayout)
	return append(b, '"'), nil
}
