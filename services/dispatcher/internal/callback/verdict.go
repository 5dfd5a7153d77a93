package callback

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/internal/event"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Caller makes one callback. It respects ctx's deadline, which is the timer's callback timeout. It repeats the request
// only if the receiver closed the connection without sending any answer. If a Caller has a Close method, the dispatcher calls it on
// shutdown.
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
	// Authorization is the Authorization header of timers that do not set one; empty for none.
	Authorization string
	// Trace, if not zero, replaces the trace in the headers of the timer.
	Trace event.Trace
	// Confirm, if it is not nil, is called when there is a connection, directly before the request is sent. If it returns false,
	// the request is not sent, and the answer has ErrNotConfirmed. It is called again if the transport repeats the request on another
	// connection.
	Confirm func() bool
}

// ErrNotConfirmed reports that Request.Confirm has returned false.
var ErrNotConfirmed = errors.New("the request was not confirmed")

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
	// Err is why there is no complete answer: timeout, no connection, an incomplete body, or a request that was not sent. Status may be
	// set as well.
	Err error
	// sawCertificate: there was a TLS connection, and the host had shown its certificate on it.
	sawCertificate bool
}

// RefusedByPolicy reports whether the request was not sent because the egress policy refuses the address, which says nothing
// about the host.
func (a *Answer) RefusedByPolicy() bool { return errors.Is(a.Err, egress.ErrRefused) }

// Silent reports whether the host gave no answer. A host whose certificate is not accepted, or that does not accept the
// client certificate, is not silent: only one namespace has a problem with it.
func (a *Answer) Silent() bool {
	if a.Err == nil || a.Status != 0 || a.RefusedByPolicy() || errors.Is(a.Err, errNotBuilt) {
		return false
	}
	if _, refused := errors.AsType[*tls.CertificateVerificationError](a.Err); refused {
		return false
	}
	// If the host refuses the handshake, it sends an alert, which appears as a net.OpError with Op "remote error". With TLS 1.3
	// the client may only see that the connection is closed. So after the certificate was shown, only a timeout counts as silence.
	op, _ := errors.AsType[*net.OpError](a.Err)
	alert := op != nil && op.Op == "remote error"
	return !alert && (!a.sawCertificate || errors.Is(a.Err, context.DeadlineExceeded))
}

// MaxBody is how much of an answer's body is read, in bytes. A longer body is not a CallbackResponse.
const MaxBody = 64 << 10

// Kind is the consequence of an attempt for its timer.
type Kind int

const (
	// Done: the receiver is satisfied.
	Done Kind = iota + 1
	// Rescheduled: the receiver wants to be called again at NextAt, as a new generation.
	Rescheduled
	// Retry: the attempt failed, and the policy allows another attempt at NextAt.
	Retry
	// Dead: the receiver or the egress policy refused the timer permanently.
	Dead
	// Exhausted: the attempt failed, and the policy allows no other.
	Exhausted
)

// Verdict is the result of one attempt.
type Verdict struct {
	Kind Kind
	// NextAt is set for Rescheduled and Retry.
	NextAt timer.Millis
	// Status is the receiver's HTTP status; 0 if there is none.
	Status int
	// Reason explains why the attempt did not succeed; empty for Done and Rescheduled.
	Reason string
	// Body is the beginning of the answer's body, to show to people, if the attempt did not succeed.
	Body string
	// StopSchedule: the attempt was successful, and the schedule of the timer shall end.
	StopSchedule bool
}

const (
	// maxQuoted is the maximum length of Verdict.Body, in bytes.
	maxQuoted = 256
	// maxReason is the maximum length of a reason, in bytes.
	maxReason = 512
	// pastDelay is the delay of the next attempt if the receiver gives a nextExecuteAt in the past.
	pastDelay = time.Second
)

// Classify applies the answer table of docs/design.md, section 7, to the attempt just made, number Attempts + 1. now
// is when the answer was complete; final has the 4xx statuses after which the namespace does not retry.
func Classify(t *timer.Timer, a Answer, final timer.StatusCodes, now timer.Millis, random func() uint64) Verdict {
	v := Verdict{Status: a.Status, Body: quote(a.Body)}
	success := a.Status >= 200 && a.Status <= 299
	switch {
	case errors.Is(a.Err, egress.ErrRefusedURL):
		v.Kind = Dead
		v.Reason = truncate("not called: "+a.Err.Error(), maxReason)
		return v
	case a.RefusedByPolicy():
		// The name may resolve to an allowed address next time.
		v.Reason = truncate("not called: "+a.Err.Error(), maxReason)
		return fail(v, t, "", now, random)
	case a.Status == http.StatusGone:
		// The status decides even if the body is incomplete. The same applies to final statuses.
		v.Kind = Dead
		v.Reason = describeStatus(a.Status)
		return v
	case final.Has(a.Status):
		v.Kind = Dead
		v.Reason = describeStatus(a.Status) + ", a final status of its namespace"
		return v
	case success && a.Err == nil:
		return classifyReply(v, t, a, now, random)
	case success || a.Status == 0:
		v.Reason = truncate(describeError(t, a.Err), maxReason)
		return fail(v, t, "", now, random)
	default:
		v.Reason = describeStatus(a.Status)
		return fail(v, t, a.RetryAfter, now, random)
	}
}

func classifyReply(v Verdict, t *timer.Timer, a Answer, now timer.Millis, random func() uint64) Verdict {
	var said reply
	if !a.TooLong && (!t.Request.Raw() || t.Request.Reschedule) {
		var err error
		if said, err = parseReply(a.Body); err != nil {
			v.Reason = truncate("invalid answer: "+err.Error(), maxReason)
			return fail(v, t, "", now, random)
		}
	}
	switch {
	case said.rescheduled:
		v.Kind, v.NextAt, v.Body = Rescheduled, said.at, ""
		if v.NextAt <= now {
			v.NextAt = now.Add(pastDelay)
		}
		return v
	case said.notOK:
		v.Reason = `the receiver answered "ok": false`
		return fail(v, t, "", now, random)
	default:
		v.Kind, v.Body, v.StopSchedule = Done, "", said.stopSchedule
		return v
	}
}

// Fail returns the verdict for an attempt that failed for a reason that may pass: Retry if the policy allows it,
// Exhausted otherwise.
func Fail(t *timer.Timer, reason string, now timer.Millis, random func() uint64) Verdict {
	return fail(Verdict{Reason: truncate(reason, maxReason)}, t, "", now, random)
}

// fail applies the retry policy. after is the Retry-After header.
func fail(v Verdict, t *timer.Timer, after string, now timer.Millis, random func() uint64) Verdict {
	n := t.Attempts + 1
	if int(n) >= t.Retry.MaxAttempts {
		v.Kind = Exhausted
		return v
	}
	delay := delayAfter(&t.Retry, n, random)
	if asked, ok := retryAfter(after, now); ok && asked > delay {
		// Within [backoff, cap]: a receiver can delay its retries, not stop them.
		delay = max(delay, min(asked, t.Retry.MaxInterval))
	}
	v.NextAt = now.Add(delay)
	if d := t.Retry.MaxAttemptsDuration; d > 0 && v.NextAt > t.ExecuteAt.Add(d) {
		v.Kind, v.NextAt = Exhausted, 0
		return v
	}
	v.Kind = Retry
	// If the timer expires before NextAt, NextAt becomes the expiry, when the outcome is written.
	v.NextAt = max(now, min(v.NextAt, t.ExpiresAt()))
	return v
}

// Expired returns the verdict for a timer that has expired, and ok is false if it has not.
func Expired(t *timer.Timer, now timer.Millis) (v Verdict, ok bool) {
	limit, ok := t.Expired(now)
	if !ok {
		return Verdict{}, false
	}
	if t.Skip {
		reason := timer.ExpiredError + "its time passed while it was paused, and the resume skips such timers"
		return Verdict{Kind: Exhausted, Reason: reason}, true
	}
	d := t.ExpireAfter
	if limit == "maxAttemptsDuration" {
		d = t.Retry.MaxAttemptsDuration
	}
	reason := fmt.Sprintf("%snot delivered within %s %s", timer.ExpiredError, limit, timer.FormatDuration(d))
	return Verdict{Kind: Exhausted, Reason: reason}, true
}

func describeStatus(status int) string {
	text := http.StatusText(status)
	switch {
	case status == http.StatusGone:
		return "gone: the receiver answered 410 Gone"
	case status >= 300 && status <= 399:
		text += ": redirects are not followed"
	}
	return strings.TrimSpace("the receiver answered " + strconv.Itoa(status) + " " + text)
}

func describeError(t *timer.Timer, err error) string {
	dial, _ := errors.AsType[*net.OpError](err)
	switch {
	case err == nil:
		return "no answer"
	case dial != nil && dial.Op == "dial":
		return err.Error() // names its timeout and the address
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no complete answer within %v", t.CallbackTimeout)
	default:
		return err.Error()
	}
}

// quote returns the beginning of a body as valid UTF-8, at most maxQuoted bytes.
func quote(body []byte) string {
	return truncate(strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), maxQuoted+1)]), "\uFFFD")), maxQuoted)
}

// truncate shortens s to limit bytes without splitting a character.
func truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	return strings.ToValidUTF8(s[:limit-len(mark)], "") + mark
}

// reply is the content of a 2xx body. With the zero value, the status alone decides.
type reply struct {
	// notOK: the body has ok, and it is false.
	notOK bool
	// rescheduled: the body has nextExecuteAt, with the time in at.
	rescheduled bool
	at          timer.Millis
	// stopSchedule: the body has stopSchedule, and it is true.
	stopSchedule bool
}

// parseReply parses a 2xx body. It returns the zero value for bodies that are not a JSON object or have none of ok, nextExecuteAt and
// stopSchedule, so that webhooks that know nothing of Timerbus work unchanged. An error means that a member is present and has no
// valid value.
//
// Names are matched exactly (encoding/json's struct fields would match regardless of case). A null nextExecuteAt counts as
// absent, because serialisers write null for an unset field. A null ok is an error, because taking it for success would
// be a guess.
func parseReply(body []byte) (reply, error) {
	// Some serialisers begin with a byte order mark, which is not valid JSON. Its "ok": false must still count.
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	if len(body) == 0 || body[0] != '{' {
		return reply{}, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return reply{}, nil //nolint:nilerr // a body that is not JSON is an ordinary webhook's answer.
	}
	var r reply
	if ok, given := members["ok"]; given {
		switch string(ok) {
		case "true":
		case "false":
			r.notOK = true
		default:
			return reply{}, timer.Invalid("ok", []byte(ok), "true or false")
		}
	}
	if stop, given := members["stopSchedule"]; given {
		switch string(stop) {
		case "true":
			r.stopSchedule = true
		case "false":
		default:
			return reply{}, timer.Invalid("stopSchedule", []byte(stop), "true or false")
		}
	}
	next, given := members["nextExecuteAt"]
	if !given || string(next) == "null" {
		return r, nil
	}
	if r.stopSchedule {
		return reply{}, timer.Invalid("nextExecuteAt", []byte(next), "no nextExecuteAt with stopSchedule")
	}
	var text string
	if err := json.Unmarshal(next, &text); err != nil {
		return reply{}, timer.Invalid("nextExecuteAt", []byte(next), "an RFC 3339 time in quotes")
	}
	at, err := timer.ParseMillis(text)
	if err != nil {
		return reply{}, timer.Invalid("nextExecuteAt", text, "an RFC 3339 time such as 2030-01-31T09:00:00Z")
	}
	r.rescheduled, r.at = true, at
	return r, nil
}
