package bus

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrUnavailable means that the bus did not take the messages.
	ErrUnavailable = errors.New("bus unavailable")
	// ErrOutcomeUnknown means that the bus may have taken some or all of the messages.
	ErrOutcomeUnknown = errors.New("outcome of publish unknown")
	// ErrTooLarge means that a message exceeds what the bus accepts; it will never be taken.
	ErrTooLarge = errors.New("message too large")
	// ErrNoTopic means that the bus has no such topic; it goes with ErrUnavailable, since a topic can be made.
	ErrNoTopic = errors.New("no such topic")
	// ErrFull means that a topic has reached its maximum size and must not remove messages; it goes with
	// ErrUnavailable or ErrOutcomeUnknown.
	ErrFull = errors.New("topic full")
	// ErrClosed means that this handle was closed.
	ErrClosed = errors.New("bus closed")
	// ErrUnsupported means that the topic's kind and the asked mode do not fit.
	ErrUnsupported = errors.New("mode not supported for this topic")

	// ErrRevoked is the cause of a Close after which the partition goes to another member in good
	// order: what was acknowledged before is committed once Close has returned.
	ErrRevoked = errors.New("partition revoked")
	// ErrLost is the cause of a Close when the partition may already have another owner: nothing is
	// committed any more.
	ErrLost = errors.New("partition lost")
	// ErrStopping is the cause of a Close when Consume's own context ended. The bus treats it like
	// ErrRevoked.
	ErrStopping = errors.New("consumer stopping")
)

// PartialError is the error of a Publish of which the bus has taken some messages and not others. ErrorOf returns the
// error of each message. errors.Is finds the error of any of the messages.
type PartialError struct {
	// Errs has one entry for each message, in the order of the call; nil: the bus has that message.
	Errs []error
}

// Error implements error.
func (e *PartialError) Error() string {
	failed := slices.DeleteFunc(slices.Clone(e.Errs), func(err error) bool { return err == nil })
	if len(failed) == 0 {
		return fmt.Sprintf("all %d messages taken", len(e.Errs))
	}
	return fmt.Sprintf("%d of %d messages not taken, the first because: %v", len(failed), len(e.Errs), failed[0])
}

// Unwrap returns the errors of the messages that were not taken.
func (e *PartialError) Unwrap() []error { return e.Errs }

// ErrorOf returns the error of the i-th message of a Publish that returned err; nil: the bus has the message.
func ErrorOf(err error, i int) error {
	if partial, ok := errors.AsType[*PartialError](err); ok {
		return partial.Errs[i]
	}
	return err
}
