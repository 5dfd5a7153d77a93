package bus

import (
	"errors"
	"fmt"
	"slices"
)

var (
	// ErrUnavailable means that the bus did not accept the messages.
	ErrUnavailable = errors.New("bus unavailable")
	// ErrOutcomeUnknown means that the bus may have accepted some or all of the messages.
	ErrOutcomeUnknown = errors.New("outcome of publish unknown")
	// ErrTooLarge means that a message exceeds the bus's size limit; retrying cannot succeed.
	ErrTooLarge = errors.New("message too large")
	// ErrNoTopic means that the topic does not exist on the bus. It is combined with ErrUnavailable, because the
	// topic can be created later.
	ErrNoTopic = errors.New("no such topic")
	// ErrFull means that a topic has reached its maximum size and must not remove messages. It is combined with
	// ErrUnavailable or ErrOutcomeUnknown.
	ErrFull = errors.New("topic full")
	// ErrClosed means that this handle was closed.
	ErrClosed = errors.New("bus closed")
	// ErrUnsupported means that the topic's kind does not support the requested mode or operation.
	ErrUnsupported = errors.New("not supported")

	// ErrRevoked is the cause of a Close after which the partition moves to another member gracefully: the bus
	// commits earlier acknowledgements once Close has returned.
	ErrRevoked = errors.New("partition revoked")
	// ErrLost is the cause of a Close when the partition may already have another owner: the bus commits nothing
	// more.
	ErrLost = errors.New("partition lost")
	// ErrStopping is the cause of a Close when Consume's own context ended. The bus handles it like ErrRevoked.
	ErrStopping = errors.New("consumer stopping")
)

// PartialError is the error of a Publish that succeeded for some messages and failed for others. ErrorOf returns the
// error of each message. errors.Is matches the error of any message.
type PartialError struct {
	// Errs has one entry for each message, in the order of the call; nil means that the bus has that message.
	Errs []error
}

// Error implements error.
func (e *PartialError) Error() string {
	failed := slices.DeleteFunc(slices.Clone(e.Errs), func(err error) bool { return err == nil })
	if len(failed) == 0 {
		return fmt.Sprintf("all %d messages accepted", len(e.Errs))
	}
	return fmt.Sprintf("%d of %d messages not accepted, first error: %v", len(failed), len(e.Errs), failed[0])
}

// Unwrap returns the errors of the messages that the bus did not accept.
func (e *PartialError) Unwrap() []error { return e.Errs }

// ErrorOf returns the error of the i-th message of a Publish that returned err. A nil result means that the bus has
// the message.
func ErrorOf(err error, i int) error {
	if partial, ok := errors.AsType[*PartialError](err); ok {
		return partial.Errs[i]
	}
	return err
}
