package outbox

import (
	"context"
	"time"
)

// Outbox opens connections to an outbox.
type Outbox interface {
	// Connect opens a connection. Its error is an *Error.
	Connect(ctx context.Context) (Reader, error)
}

// Reader is one connection to an outbox. Its methods are not safe for concurrent use. Every error is an *Error. After an error
// the reader must be closed, because the state of its connection is unknown.
type Reader interface {
	// Elect makes this reader the elected one, if no other connection is. It stays elected until its connection ends. Elect
	// returns false immediately if another connection is elected.
	//
	// The election only saves work: if two readers work at the same time, because the server has not noticed that the
	// connection of one is dead, Advance and the position in the store keep the rows from being applied twice.
	Elect(ctx context.Context) (bool, error)
	// Oldest returns the age of the row with the lowest id, by the database's clock, and whether there is a row.
	Oldest(ctx context.Context) (age time.Duration, found bool, err error)
	// Pending returns the recorded batch.
	Pending(ctx context.Context) (Batch, error)
	// Advance removes the rows of a batch and records the next one, in one transaction. If the recorded batch has another
	// number than done, another reader has advanced: then Advance changes nothing. It returns the recorded batch.
	Advance(ctx context.Context, done Batch, next Next) (Batch, error)
	// Rows returns the rows of a batch in the order of their ids. A row that does not exist any more is left out.
	Rows(ctx context.Context, b Batch, bodyLimit int) ([]Row, error)
	// Wait returns after a row may have been inserted, at the latest after most, or when ctx ends. It returns immediately if
	// that has happened since the last call of Wait. If ctx ends, the reader is still usable and there is no error.
	Wait(ctx context.Context, most time.Duration) error
	// Close ends the connection.
	Close()
}

// Batch is a set of rows that are applied together.
type Batch struct {
	// Outbox identifies the table. It is stored in the database.
	Outbox string
	// Number is larger than that of every earlier batch of this outbox, by at least the number of its rows. 0 means that there was no
	// batch yet.
	Number int64
	// IDs are the ids of its rows, in ascending order.
	IDs []int64
}

// Next describes the batch to record.
type Next struct {
	// Number must be larger than that of the recorded batch, by at least Rows.
	Number int64
	// Rows bounds its rows; 0 records no batch. Bytes bounds the size of the bodies of all its rows but the first.
	Rows, Bytes int
	// BodyLimit bounds what Bytes counts of one body.
	BodyLimit int
}

// Row is one command.
type Row struct {
	ID   int64
	Verb string
	// Body is cut to more than the body limit, if it is longer than the limit.
	Body []byte
	// Traceparent may be anything.
	Traceparent string
	// CreatedAt is by the database's clock. It is zero if the row has no time.
	CreatedAt time.Time
}

// Error is a failure of the outbox's database.
type Error struct {
	// Reason describes the failure for /readyz, without names of hosts.
	Reason string
	Err    error
}

// The reasons of an Error.
const (
	ReasonAway     = "the outbox database does not answer"
	ReasonMissing  = "the outbox table is missing: create it with the SQL of `timerbus outbox`"
	ReasonColumns  = "the outbox table differs from the SQL of `timerbus outbox`"
	ReasonDenied   = "the outbox database refuses the user or a permission"
	ReasonReadOnly = "the outbox database is read-only"
	ReasonLocked   = "another transaction locks the outbox table"
	ReasonFull     = "the outbox database has no space"
	ReasonFailed   = "the outbox database returns errors"
)

func (e *Error) Error() string { return e.Reason + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReadyReason is the reason for /readyz.
func (e *Error) ReadyReason() string { return e.Reason }

// Choose returns how many of the first rows fit into a batch, by the size of their bodies.
func (n *Next) Choose(sizes []int) int {
	total := 0
	for i, size := range sizes {
		total += min(size, n.BodyLimit)
		if i > 0 && total > n.Bytes {
			return i
		}
	}
	return len(sizes)
}

// Age returns the age of a row in seconds as a duration. A row of the future has age 0.
func Age(seconds float64) time.Duration {
	return time.Duration(max(0, min(seconds, maxAge)) * float64(time.Second))
}

// maxAge is a century in seconds, which a duration can contain.
const maxAge = 100 * 365 * 24 * 3600
