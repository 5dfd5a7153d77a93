package bus

import "errors"

var (
	// ErrUnavailable means that the bus did not take the messages.
	ErrUnavailable = errors.New("bus unavailable")
	// ErrOutcomeUnknown means that the bus may have taken some or all of the messages.
	ErrOutcomeUnknown = errors.New("outcome of publish unknown")
	// ErrTooLarge means that a message exceeds what the bus accepts; it will never be taken.
	ErrTooLarge = errors.New("message too large")
	// ErrNoTopic means that the bus has no such topic; it goes with ErrUnavailable, since a topic can be made.
	ErrNoTopic = errors.New("no such topic")
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
