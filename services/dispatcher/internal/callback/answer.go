package callback

import (
	"context"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Caller makes one callback. It never retries, and it keeps to ctx's deadline, which is the timer's
// callback timeout.
type Caller interface {
	Call(ctx context.Context, r Request) Answer
}

// Request is one attempt.
type Request struct {
	// Timer is the row as just checked. It is not changed.
	Timer *timer.Timer
	// At is when the attempt begins; receivers see it as webhook-timestamp.
	At timer.Millis
	// Profile is the namespace's; nil if it has none.
	Profile *Profile
}

// Answer is what came back, whether it makes sense or not.
type Answer struct {
	// Status is the HTTP status; 0 if none came.
	Status int
	// RetryAfter is the header of that name as received.
	RetryAfter string
	// Body is at most MaxBody bytes.
	Body []byte
	// TooLong: the body went on after MaxBody bytes.
	TooLong bool
	// Err says why no whole answer came: timeout, no connection, a body cut off. Status may be set
	// all the same.
	Err error
}

// MaxBody is how much of an answer's body is read, in bytes. What goes on longer is no CallbackResponse.
const MaxBody = 64 << 10
