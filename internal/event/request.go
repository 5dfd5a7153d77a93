package event

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Request is the HTTP request of a timer's callback, if the user has chosen it.
type Request struct {
	Method string `json:"method"`
	// Body is the body of the request if it is printable text. Otherwise BodyBase64 is the body, in JSON as standard base64.
	// Both are nil if there is none.
	Body        *string `json:"body,omitempty"`
	BodyBase64  []byte  `json:"bodyBase64,omitempty"`
	ContentType string  `json:"contentType,omitempty"`
	Reschedule  bool    `json:"reschedule,omitempty"`
}

// RequestOf returns the request of a timer, nil if it has the usual one. The body is left out unless withBody is set.
func RequestOf(t *timer.Timer, withBody bool) *Request {
	r := &t.Request
	if !r.Raw() {
		return nil
	}
	out := &Request{Method: r.Method, ContentType: r.ContentType, Reschedule: r.Reschedule}
	switch {
	case r.ContentType == "" || !withBody:
	case printable(t.Payload):
		out.Body = new(string(t.Payload))
	default:
		out.BodyBase64 = t.Payload
	}
	return out
}

// printable reports whether a body is short as a JSON string: an escaped control character needs six bytes.
func printable(body []byte) bool {
	for _, c := range body {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return utf8.Valid(body)
}

// The headers of a request of the user, with the fields that the usual request has in its body.
const (
	headerNamespace    = "Timerbus-Namespace"
	headerTimerID      = "Timerbus-Timer-Id"
	headerScheduleID   = "Timerbus-Schedule-Id"
	headerExecuteAt    = "Timerbus-Execute-At"
	headerScheduledFor = "Timerbus-Scheduled-For"
	headerAttempt      = "Timerbus-Attempt"
	headerGeneration   = "Timerbus-Generation"
)

// EachHeader calls set for each header that describes the delivery. The ids of timer and schedule are percent-encoded: a header has
// only ASCII.
func (d *Delivery) EachHeader(set func(name, value string)) {
	set(headerNamespace, d.Namespace)
	set(headerTimerID, percentEncode(d.TimerID))
	if d.ScheduleID != "" {
		set(headerScheduleID, percentEncode(d.ScheduleID))
	}
	set(headerExecuteAt, d.ExecuteAt.String())
	set(headerScheduledFor, d.ScheduledFor.String())
	set(headerAttempt, strconv.Itoa(int(d.Attempt)))
	set(headerGeneration, d.Generation)
}

// DeliveryFromHeaders returns the delivery that EachHeader describes; ok is false if there is none. get returns a header by its
// name. The delivery has no payload.
func DeliveryFromHeaders(get func(name string) string) (d Delivery, ok bool, err error) {
	id := get(headerTimerID)
	if id == "" {
		return d, false, nil
	}
	d = Delivery{Namespace: get(headerNamespace), Generation: get(headerGeneration), CorrelationID: get("X-Correlation-Id")}
	if d.TimerID, ok = percentDecode(id); !ok {
		return d, true, fmt.Errorf("header %s: %q is not percent-encoded UTF-8", headerTimerID, id)
	}
	if d.ScheduleID, ok = percentDecode(get(headerScheduleID)); !ok {
		return d, true, fmt.Errorf("header %s: %q is not percent-encoded UTF-8", headerScheduleID, get(headerScheduleID))
	}
	attempt, err := strconv.ParseInt(get(headerAttempt), 10, 32)
	if err != nil {
		return d, true, fmt.Errorf("header %s: %w", headerAttempt, err)
	}
	d.Attempt = timer.Attempt(attempt)
	if d.ExecuteAt, err = timer.ParseMillis(get(headerExecuteAt)); err != nil {
		return d, true, fmt.Errorf("header %s: %w", headerExecuteAt, err)
	}
	if d.ScheduledFor, err = timer.ParseMillis(get(headerScheduledFor)); err != nil {
		return d, true, fmt.Errorf("header %s: %w", headerScheduledFor, err)
	}
	return d, true, nil
}
