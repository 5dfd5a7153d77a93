package timer

import "time"

// Patch is an update: a nil field is kept. To clear a field, set its zero or default value; the decoder of the user's
// request does so for null.
type Patch struct {
	ExecuteAt       *Millis
	Deliver         *Deliver
	CallbackURL     *string
	CallbackTimeout *time.Duration
	Retry           *RetryPatch
	// Payload: a pointer to nil clears it.
	Payload       *[]byte
	CorrelationID *string
	// Headers replaces all headers.
	Headers  *Headers
	Topic    *string
	EventKey *string
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
	set(&s.ExecuteAt, p.ExecuteAt)
	set(&s.Deliver, p.Deliver)
	set(&s.CallbackURL, p.CallbackURL)
	set(&s.CallbackTimeout, p.CallbackTimeout)
	set(&s.Payload, p.Payload)
	set(&s.CorrelationID, p.CorrelationID)
	set(&s.Headers, p.Headers)
	set(&s.Topic, p.Topic)
	set(&s.EventKey, p.EventKey)
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
