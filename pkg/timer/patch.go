package timer

import (
	"fmt"
	"time"
)

// Patch is an update: a nil field is kept. To clear a field, set its zero or default value; the decoder of the user's
// request does so for null.
type Patch struct {
	ExecuteAt *Millis
	// Local is the local time of which ExecuteAt is the instant. It is applied if and only if ExecuteAt is set: nil then clears it.
	Local           *LocalTime
	Deliver         *Deliver
	CallbackURL     *string
	CallbackTimeout *time.Duration
	Retry           *RetryPatch
	// Payload: a pointer to nil clears it. Without Request, it is refused for a timer that has a request.
	Payload *[]byte
	// Request is set together with Payload, which is its body.
	Request *Request
	// Window is set if and only if ExecuteAt is, which was chosen within it.
	Window        *time.Duration
	CorrelationID *string
	// Headers replaces all headers.
	Headers *Headers
	// ExpireAfter and ExpiresAt exclude each other. ExpiresAt must be after ExecuteAt.
	ExpireAfter    *time.Duration
	ExpiresAt      *Millis
	OnDone, OnDead *string
	Topic          *string
	EventKey       *string
	FlowKey        *string
	// Schedule replaces the definition of a schedule. ScheduleState is kept.
	Schedule *string
}

// RetryPatch changes single fields of a RetryPolicy.
type RetryPatch struct {
	MaxAttempts         *int
	MaxAttemptsDuration *time.Duration
	InitialInterval     *time.Duration
	BackoffMultiplier   *float64
	MaxInterval         *time.Duration
}

// Apply returns the spec with the changes of the patch, or an error that names the first field that is then not
// acceptable. Engines call it inside the transaction that holds the row, so that two updates of different fields both
// take effect.
func (p *Patch) Apply(s Spec) (Spec, error) {
	if p.Payload != nil && p.Request == nil && s.Request.Raw() {
		return Spec{}, Invalid("payload", *p.Payload, "no payload, because the timer has a request: change the request, or set it to null")
	}
	if p.ExecuteAt != nil {
		s.ExecuteAt, s.Local = *p.ExecuteAt, p.Local
	}
	set(&s.Deliver, p.Deliver)
	set(&s.CallbackURL, p.CallbackURL)
	set(&s.CallbackTimeout, p.CallbackTimeout)
	set(&s.Payload, p.Payload)
	set(&s.Request, p.Request)
	set(&s.Window, p.Window)
	set(&s.ExpireAfter, p.ExpireAfter)
	set(&s.OnDone, p.OnDone)
	set(&s.OnDead, p.OnDead)
	if p.ExpiresAt != nil {
		if last := min(s.ExecuteAt.Add(MaxExpireAfter), MaxMillis); *p.ExpiresAt <= s.ExecuteAt || *p.ExpiresAt > last {
			allowed := fmt.Sprintf("a time after executeAt, which is %s, until %s", s.ExecuteAt, last)
			return Spec{}, Invalid("expiresAt", *p.ExpiresAt, allowed)
		}
		s.ExpireAfter = p.ExpiresAt.Sub(s.ExecuteAt)
	}
	set(&s.CorrelationID, p.CorrelationID)
	set(&s.Headers, p.Headers)
	set(&s.Topic, p.Topic)
	set(&s.EventKey, p.EventKey)
	set(&s.FlowKey, p.FlowKey)
	set(&s.Schedule, p.Schedule)
	if p.Retry != nil {
		s.Retry = p.Retry.Apply(s.Retry)
	}
	if err := s.Check(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// Apply returns a policy with the changes of the patch, without checking it.
func (p *RetryPatch) Apply(r RetryPolicy) RetryPolicy {
	set(&r.MaxAttempts, p.MaxAttempts)
	set(&r.MaxAttemptsDuration, p.MaxAttemptsDuration)
	set(&r.InitialInterval, p.InitialInterval)
	set(&r.BackoffMultiplier, p.BackoffMultiplier)
	set(&r.MaxInterval, p.MaxInterval)
	return r
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}
