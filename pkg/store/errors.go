package store

import "errors"

// Engines translate their driver's errors into these at their edge; whatever else they return is a
// bug of the engine or of the caller. Sentinels are wrapped with the operation.
var (
	// ErrNotFound: there is no such timer or namespace.
	ErrNotFound = errors.New("not found")
	// ErrExists: there is one already, and the caller asked not to touch it.
	ErrExists = errors.New("already exists")
	// ErrConflict: a compare-and-set found another value. Nothing was written.
	ErrConflict = errors.New("conflict")
	// ErrFenced: a newer claim holds the shard, or this one was released.
	ErrFenced = errors.New("fenced by a newer claim")
	// ErrInvalid: the request can never succeed. A timer.InvalidError inside says why.
	ErrInvalid = errors.New("invalid")
	// ErrUnavailable: the database did not answer or refused. Nothing was applied.
	ErrUnavailable = errors.New("store unavailable")
	// ErrFull is wrapped together with ErrUnavailable: the database has no room. Reads work.
	ErrFull error = fullError{}
	// ErrOutcomeUnknown: the answer was lost; all, some or none of it may be applied, now or later.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrClosed: this handle was closed.
	ErrClosed = errors.New("store closed")
)

// fullError is ErrFull's type.
type fullError struct{}

func (fullError) Error() string { return "the disk is full" }

// ReadyReason is what a process that is not ready for this reason answers.
func (fullError) ReadyReason() string { return "the store's disk is full" }
