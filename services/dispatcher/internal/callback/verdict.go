package callback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/egress"
	"github.com/timerbus/timerbus/pkg/timer"
)

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
	// Body is the beginning of the answer's body, for a reader, if the attempt did not succeed.
	Body string
}

const (
	// maxQuoted is the maximum length of Verdict.Body, in bytes.
	maxQuoted = 256
	// maxReason is the maximum length of a reason, in bytes.
	maxReason = 512
	// pastDelay is the delay of the next attempt if the receiver gives a nextExecuteAt in the past.
	pastDelay = time.Second
)

// Classify applies the answer table of docs/design.md, section 7, to the next attempt of the timer (Attempts + 1). now
// is when the answer was complete; final has the 4xx statuses after which the namespace does not retry.
func Classify(t *timer.Timer, a Answer, final timer.StatusCodes, now timer.Millis, random func() uint64) Verdict {
	v := Verdict{Status: a.Status, Body: quote(a.Body)}
	success := a.Status >= 200 && a.Status <= 299
	switch {
	case errors.Is(a.Err, egress.ErrRefusedURL):
		v.Kind = Dead
		v.Reason = truncate("not called: "+a.Err.Error(), maxReason)
		return v
	case a.Unsent():
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
	if !a.TooLong {
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
		v.Kind, v.Body = Done, ""
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
	return v
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
