package timer

import (
	"encoding/json"
	"fmt"
	"net/url"
	"time"
	"unicode"
	"unicode/utf8"
)

// Deliver is how a due timer is delivered.
type Deliver string

const (
	// DeliverAuto means callback if there is a URL, otherwise event.
	DeliverAuto     Deliver = ""
	DeliverCallback Deliver = "callback"
	DeliverEvent    Deliver = "event"
	DeliverBoth     Deliver = "both"
)

const (
	// MaxCallbackURL is the longest callback URL, in bytes.
	MaxCallbackURL = 2048
	// MaxPayload is the largest payload, in bytes of JSON as received.
	MaxPayload = 100 << 10

	DefaultCallbackTimeout = 30 * time.Second
	MinCallbackTimeout     = time.Second
	MaxCallbackTimeout     = 5 * time.Minute
)

// Spec is the part of a timer that the user sets.
type Spec struct {
	// ExecuteAt may be in the past: the timer then fires immediately, because a delayed create must not be lost.
	ExecuteAt Millis
	// Local is the local time of which ExecuteAt is the instant, plus the time chosen within Window; nil if the client gave an instant.
	// All that sets ExecuteAt sets Local, too.
	Local   *LocalTime
	Deliver Deliver
	// CallbackURL is absolute, http or https.
	CallbackURL string
	// CallbackTimeout bounds one attempt, from dialling to the last byte of the answer. Whole milliseconds.
	CallbackTimeout time.Duration
	Retry           RetryPolicy
	// Payload is JSON as received, or nil for none. It is delivered and never interpreted. If Request is set, it is the body
	// of the request, in any format.
	Payload []byte
	// Request is the HTTP request of the callback, if the user has chosen it.
	Request Request
	// Window is the time within which ExecuteAt was chosen, by Spread, when it was last set; 0 if it was not.
	Window time.Duration
	// ExpireAfter is how long after ExecuteAt the timer may be delivered; 0 means without a limit. It applies again if the timer is
	// rescheduled or retried.
	ExpireAfter time.Duration
	// OnDone and OnDead are the URLs that are called when the timer is done, or dead. Empty for those of the namespace.
	OnDone, OnDead string
	// CorrelationID is the user's, or empty; Timer.Correlation is the id that users see.
	CorrelationID string
	// Headers are sent with the callback. They take precedence over those of the namespace.
	Headers Headers
	// Topic is the topic of the fired event, which the namespace must allow; empty for the common topic.
	Topic string
	// EventKey is the event's key on Topic; empty for namespace and id.
	EventKey string
	// FlowKey names the flow whose limits apply to the deliveries, which the namespace must have; empty for none.
	FlowKey string
	// Schedule is set if this is a schedule: it is not delivered. When it is due, it creates an occurrence, which is a timer with the
	// other fields, and becomes due at the instant of the next one. The text is that of internal/schedule; engines store it.
	Schedule string
}

// Check returns an error that names the first field that is not acceptable.
func (s *Spec) Check() error {
	if s.ExecuteAt < MinMillis || s.ExecuteAt > MaxMillis {
		return Invalid("executeAt", int64(s.ExecuteAt), "an instant in the years 1 to 9999")
	}
	if s.Local != nil {
		if err := s.Local.Check(); err != nil {
			return err
		}
	}
	if err := s.checkDelivery(); err != nil {
		return err
	}
	if err := s.checkEvent(); err != nil {
		return err
	}
	if s.CallbackTimeout < MinCallbackTimeout || s.CallbackTimeout > MaxCallbackTimeout {
		return Invalid("callbackTimeout", s.CallbackTimeout, "1 s to 5 min")
	}
	if err := s.Retry.Check(); err != nil {
		return err
	}
	if len(s.Payload) > MaxPayload {
		return &PayloadTooLargeError{Size: len(s.Payload), Limit: MaxPayload}
	}
	if s.Payload != nil && !s.Request.Raw() && (!utf8.Valid(s.Payload) || !json.Valid(s.Payload)) {
		return Invalid("payload", s.Payload, "valid JSON in UTF-8")
	}
	if err := s.checkRequest(); err != nil {
		return err
	}
	if err := checkWindow(s.Window); err != nil {
		return err
	}
	if err := s.checkExpiry(); err != nil {
		return err
	}
	if s.OnDone != "" {
		if err := CheckURL("onDone", s.OnDone); err != nil {
			return err
		}
	}
	if s.OnDead != "" {
		if err := CheckURL("onDead", s.OnDead); err != nil {
			return err
		}
	}
	if err := s.Headers.Check(); err != nil {
		return err
	}
	if s.FlowKey != "" {
		if err := CheckFlowKey(s.FlowKey); err != nil {
			return err
		}
	}
	return CheckCorrelationID(s.CorrelationID)
}

func (s *Spec) checkDelivery() error {
	switch s.Deliver {
	case DeliverAuto, DeliverEvent:
	case DeliverCallback, DeliverBoth:
		if s.CallbackURL == "" {
			return Invalid("callbackUrl", "", fmt.Sprintf("an http or https URL, because deliver is %q", s.Deliver))
		}
	default:
		return Invalid("deliver", string(s.Deliver), `"callback", "event" or "both"`)
	}
	if s.CallbackURL == "" {
		return nil
	}
	return CheckCallbackURL(s.CallbackURL)
}

// CheckCallbackURL accepts absolute http and https URLs with a host, up to 2,048 bytes.
func CheckCallbackURL(raw string) error { return CheckURL("callbackUrl", raw) }

// CheckURL is CheckCallbackURL for another field, which its error names.
func CheckURL(field, raw string) error {
	const want = "an absolute http or https URL with a host, at most 2048 bytes"
	if len(raw) > MaxCallbackURL || !utf8.ValidString(raw) {
		return Invalid(field, raw, want)
	}
	for _, r := range raw {
		if unicode.IsControl(r) || r == ' ' {
			return Invalid(field, raw, want)
		}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return Invalid(field, raw, want)
	}
	return nil
}

// Way returns Deliver, with DeliverAuto resolved.
func (s *Spec) Way() Deliver {
	switch {
	case s.Deliver != DeliverAuto:
		return s.Deliver
	case s.CallbackURL != "":
		return DeliverCallback
	default:
		return DeliverEvent
	}
}

// PayloadTooLargeError is not an InvalidError, because HTTP has a separate status for it.
type PayloadTooLargeError struct {
	// Size is the size of the given payload, and Limit the largest accepted size, in bytes. Limit is at most MaxPayload.
	Size, Limit int
}

func (e *PayloadTooLargeError) Error() string {
	return fmt.Sprintf("payload: %d bytes are not accepted: want at most %d", e.Size, e.Limit)
}
