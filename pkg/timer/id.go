package timer

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxNamespace is the longest namespace name, in bytes.
	MaxNamespace = 255
	// MaxID is the longest timer id, in bytes of UTF-8.
	MaxID = 255
	// MaxCorrelationID is the longest correlation id, in bytes of UTF-8.
	MaxCorrelationID = 255
)

// CheckNamespace accepts [A-Za-z0-9._-]{1,255}.
func CheckNamespace(name string) error {
	const want = "1 to 255 letters, digits, dots, underscores or hyphens"
	if name == "" || len(name) > MaxNamespace {
		return Invalid("namespace", name, want)
	}
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		digit := c >= '0' && c <= '9'
		if !letter && !digit && c != '.' && c != '_' && c != '-' {
			return Invalid("namespace", name, want)
		}
	}
	return nil
}

// CheckID accepts 1 to 255 bytes of UTF-8 without control characters.
func CheckID(id string) error { return checkText("timerId", id, 1) }

// CheckCorrelationID accepts what CheckID accepts, and the empty string, for which Timer.Correlation returns the UUID.
func CheckCorrelationID(id string) error {
	return checkText("correlationId", id, 0)
}

// maxText is also MaxCorrelationID, MaxEventKey and MaxFlowKey.
const maxText = MaxID

func checkText(field, s string, shortest int) error {
	bad := len(s) < shortest || len(s) > maxText || !utf8.ValidString(s)
	for _, r := range s {
		bad = bad || unicode.IsControl(r)
	}
	if bad {
		want := fmt.Sprintf("%d to %d bytes of UTF-8 without control characters", shortest, maxText)
		return Invalid(field, s, want)
	}
	return nil
}
