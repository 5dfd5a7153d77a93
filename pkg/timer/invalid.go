package timer

import (
	"fmt"
	"strconv"
)

// InvalidError names a field, its unacceptable value and the accepted values. Its text is meant for users and is shown
// unchanged.
type InvalidError struct {
	// Field is the name that users know, as in the HTTP API: "retryPolicy.maxAttempts".
	Field string
	// Value is the given value, quoted and cut for display.
	Value string
	// Want completes "want …".
	Want string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s: %s is not accepted: want %s", e.Field, e.Value, e.Want)
}

// maxShown is how much of a value an error shows, in bytes.
const maxShown = 80

// Invalid returns an InvalidError. It quotes strings, and prints all other values as %v.
func Invalid(field string, value any, want string) *InvalidError {
	var shown string
	switch v := value.(type) {
	case string:
		shown = strconv.Quote(cut(v))
	case []byte:
		shown = strconv.Quote(cut(string(v)))
	default:
		shown = cut(fmt.Sprint(v))
	}
	return &InvalidError{Field: field, Value: shown, Want: want}
}

func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return s[:maxShown] + "…"
}
