package callback

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/timerbus/timerbus/pkg/egress"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Caller makes one callback. It keeps to ctx's deadline, which is the timer's callback timeout, and tries again only
// where a connection was given up before anything came back on it. One that has a method Close is closed with its
// dispatcher.
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
	// greeted: there was a connection, and the host had shown its certificate on it.
	greeted bool
}

// Unsent reports whether the callback was not made because the policy refuses the address. That says nothing
// about its host.
func (a *Answer) Unsent() bool { return errors.Is(a.Err, egress.ErrRefused) }

// Silent reports whether the host gave no answer. One whose certificate is not accepted, or that does not
// accept ours, is there: what is wrong is between it and one namespace.
func (a *Answer) Silent() bool {
	if a.Err == nil || a.Status != 0 || a.Unsent() || errors.Is(a.Err, errNotBuilt) {
		return false
	}
	if _, refused := errors.AsType[*tls.CertificateVerificationError](a.Err); refused {
		return false
	}
	// What TLS says when it is refused is an alert, which crypto/tls does not export. From TLS 1.3 on the client has a
	// connection by then, and may only see it end.
	op, _ := errors.AsType[*net.OpError](a.Err)
	alert := op != nil && op.Op == "remote error"
	return !alert && (!a.greeted || errors.Is(a.Err, context.DeadlineExceeded))
}

// MaxBody is how much of an answer's body is read, in bytes. What goes on longer is no CallbackResponse.
const MaxBody = 64 << 10
