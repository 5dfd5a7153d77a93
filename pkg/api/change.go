package api

import "encoding/json"

// Change is a field of an update. The zero value keeps the field and is not marshalled, Set replaces it, Clear (null)
// resets it to its default.
type Change[T any] struct {
	given, null bool
	value       T
}

// Set returns a change to v.
func Set[T any](v T) Change[T] { return Change[T]{given: true, value: v} }

// Clear returns a change back to the default.
func Clear[T any]() Change[T] { return Change[T]{given: true, null: true} }

// IsZero reports whether the field is kept; encoding/json calls it for omitzero.
func (c Change[T]) IsZero() bool { return !c.given }

// Value returns the new value of the field; ok is false if the field is kept or cleared.
func (c Change[T]) Value() (v T, ok bool) { return c.value, c.given && !c.null }

// Cleared reports whether the field is reset to its default.
func (c Change[T]) Cleared() bool { return c.null }

// MarshalJSON writes the value, or null.
func (c Change[T]) MarshalJSON() ([]byte, error) {
	if !c.given || c.null {
		return []byte("null"), nil
	}
	return json.Marshal(c.value)
}

// UnmarshalJSON reads the value, or null.
func (c *Change[T]) UnmarshalJSON(b []byte) error {
	*c = Change[T]{given: true, null: string(b) == "null"}
	if c.null {
		return nil
	}
	return json.Unmarshal(b, &c.value)
}
