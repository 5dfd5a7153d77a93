package store

import "errors"

// Engines translate their driver's errors into these. Any other error is a bug of the engine or of the caller. Engines
// wrap these errors with the operation.
var (
	// ErrNotFound: the timer or namespace does not exist.
	ErrNotFound = errors.New("not found")
	// ErrExists: it exists already, and the request does not allow changing it.
	ErrExists = errors.New("already exists")
	// ErrConflict: a compare-and-set found a different value. Nothing was written.
	ErrConflict = errors.New("conflict")
	// ErrFenced: a newer claim of the shard exists, or this claim was released.
	ErrFenced = errors.New("fenced by a newer claim")
	// ErrInvalid: the request can never succeed. The wrapped timer.InvalidError has the reason.
	ErrInvalid = errors.New("invalid")
	// ErrUnavailable: the database did not answer or refused the request. Nothing was applied.
	ErrUnavailable = errors.New("store unavailable")
	// ErrFull is wrapped together with ErrUnavailable: the database has no disk space. Reads work.
	ErrFull error = fullError{}
	// ErrOutcomeUnknown: the answer was lost. All, some or none of the request may be applied, now or later.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrClosed: this handle was closed.
	ErrClosed = errors.New("store closed")
)

type fullError struct{}

func (fullError) Error() string { return "the disk is full" }

// ReadyReason returns the reason that /readyz reports.
func (fullError) ReadyReason() string { return "the store's disk is full" }
