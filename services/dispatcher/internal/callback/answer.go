package callback

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"github.com/timerbus/timerbus/pkg/egress"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Caller makes one callback. It respects ctx's deadline, which is the timer's callback timeout. It repeats the request
// only if the receiver closed a connection before it sent any answer on it. If a Caller has a method Close, the
// dispatcher calls it when it stops.
type Caller interface {
	Call(ctx context.Context, r Request) Answer
}

// Request is one attempt.
type Request struct {
	// Timer is the row as just checked. The Caller does not change it.
	Timer *timer.Timer
	// At is when the attempt begins; receivers get it as webhook-timestamp.
	At timer.Millis
	// Profile has the callback settings of the namespace; nil if it has none.
	Profile *Profile
}

// Answer is the receiver's answer as received.
type Answer struct {
	// Status is the HTTP status; 0 if there is none.
	Status int
	// RetryAfter is the Retry-After header as received.
	RetryAfter string
	// Body is at most MaxBody bytes.
	Body []byte
	// TooLong: the body was longer than MaxBody bytes.
	TooLong bool
	// Err is why there is no complete answer: timeout, no connection, or an incomplete body. Status may be set as well.
	Err error
	// gotServerPreface: there was a TLS connection, and the host had shown its certificate on it.
	gotServerPreface bool
}

// Unsent reports whether the callback was not made because the egress policy refuses the address, which says nothing
// about the host.
func (a *Answer) Unsent() bool { return errors.Is(a.Err, egress.ErrRefused) }

// Silent reports whether the host gave no answer. A host whose certificate is not accepted, or that does not accept the
// client certificate, is not silent: only one namespace has a problem with it.
func (a *Answer) Silent() bool {
	if a.Err == nil || a.Status != 0 || a.Unsent() || errors.Is(a.Err, errNotBuilt) {
		return false
	}
	if _, refused := errors.AsType[*tls.CertificateVerificationError](a.Err); refused {
		return false
	}
	// If the host refuses the handshake, it sends an alert, of which crypto/tls does not export the type. With TLS 1.3
	// the client already has a connection then, and may only see that the host closes it.
	op, _ := errors.AsType[*net.OpError](a.Err)
	alert := op != nil && op.Op == "remote error"
	return !alert && (!a.gotServerPreface || errors.Is(a.Err, context.DeadlineExceeded))
}

// MaxBody is how much of an answer's body is read, in bytes. A longer body is not a CallbackResponse.
const MaxBody = 64 << 10
