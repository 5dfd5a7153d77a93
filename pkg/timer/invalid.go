package timer

import (
	"fmt"
	"strconv"
)

// InvalidError says which field has which unacceptable value and what would be accepted. Its text is
// meant for users and goes out unchanged.
type InvalidError struct {
	// Field is the name a user knows, as in the HTTP API: "retryPolicy.maxAttempts".
	Field string
	// Value is what was given, quoted and cut for display.
	Value string
	// Want completes "want …".
	Want string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("%s: %s is not accepted: want %s", e.Field, e.Value, e.Want)
}

// maxShown is how much of a bad value an error shows, in bytes.
const maxShown = 80

// Invalid builds an InvalidError. Strings are quoted, anything else is printed as %v.
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
