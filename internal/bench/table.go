package bench

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// Table prints figures for people.
func Table(w io.Writer, all []Figure) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range all {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, Show(f.Value, f.Unit))
	}
	return t.Flush()
}

// Show formats a value with its unit, with three significant digits.
func Show(value float64, unit string) string {
	text := Digits(value)
	switch unit {
	case Count:
		return text
	case PerSecond:
		return text + unit
	default:
		return text + " " + unit
	}
}

// Digits formats a value with three digits or, from 1,000 on, as a whole number.
func Digits(value float64) string {
	switch abs := math.Abs(value); {
	case abs >= 999.5:
		return thousands(int(math.Round(value)))
	case abs >= 100 || value == math.Trunc(value):
		return strconv.FormatFloat(value, 'f', 0, 64)
	case abs >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	default:
		return strconv.FormatFloat(value, 'f', 2, 64)
	}
}

// thousands formats 1234567 as 1,234,567.
func thousands(n int) string {
	text := strconv.Itoa(n)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return sign + text
}
