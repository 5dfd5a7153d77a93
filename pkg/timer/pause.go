package timer

import (
	"strings"
	"unicode/utf8"
)

// WantPauseNote says which notes are accepted, for errors.
const WantPauseNote = "a text of at most 1024 bytes, without NUL"

// MaxPauseNote is the largest length of Pause.Note, in bytes.
const MaxPauseNote = 1024

// Pause says who paused a timer, when and why. It is not changed after it was made.
type Pause struct {
	// By is the name of the caller, for example of an API key; the source of a topic command; or "outbox". It is empty if callers are
	// not authenticated.
	By   string
	Note string
	At   Millis
}

// ValidatePauseNote returns an error if the note is too long or is not text.
func ValidatePauseNote(note string) error {
	if len(note) > MaxPauseNote || !utf8.ValidString(note) || strings.ContainsRune(note, 0) {
		return Invalid("note", note, WantPauseNote)
	}
	return nil
}
