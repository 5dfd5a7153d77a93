package event

import (
	"encoding/json"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Notice reports that a timer is dead or parked, and why. It contains the whole timer, so that a user can create it
// again. ExecuteAt is the time that was chosen within its window.
type Notice struct {
	Namespace     string        `json:"namespace"`
	TimerID       string        `json:"timerId"`
	Generation    string        `json:"generation"`
	Attempts      timer.Attempt `json:"attempts"`
	Status        timer.Status  `json:"status"`
	Reason        string        `json:"reason"`
	StatusCode    int           `json:"statusCode,omitempty"`
	CorrelationID string        `json:"correlationId"`
	ExecuteAt     timer.Millis  `json:"executeAt"`
	CreatedAt     timer.Millis  `json:"createdAt"`
	Deliver       timer.Deliver `json:"deliver"`
	CallbackURL   string        `json:"callbackUrl,omitempty"`
	// Headers are those of the timer, without those of the namespace.
	Headers map[string]string `json:"headers,omitempty"`
	// Topic and Key are the destination of its event, if it is not the common topic.
	Topic           string      `json:"topic,omitempty"`
	Key             string      `json:"key,omitempty"`
	CallbackTimeout string      `json:"callbackTimeout"`
	RetryPolicy     RetryPolicy `json:"retryPolicy"`
	ExpireAfter     string      `json:"expireAfter,omitempty"`
	OnDone          string      `json:"onDone,omitempty"`
	OnDead          string      `json:"onDead,omitempty"`
	// Payload is null if the timer has a Request, which contains the body.
	Payload json.RawMessage `json:"payload"`
	Request *Request        `json:"request,omitempty"`
	// PayloadOmitted means that the timer has a payload, and that the bus refused the event with it.
	PayloadOmitted bool `json:"payloadOmitted,omitempty"`
}

// NoticeOf returns a dead or parked event for the timer as read from the history or the row.
func NoticeOf(source string, t *timer.Timer, at timer.Millis) (CloudEvent, error) {
	return noticeOf(source, t, at, false)
}

// NoticeWithoutPayload is NoticeOf for a bus that refuses the event with the payload. Its id is the same.
func NoticeWithoutPayload(source string, t *timer.Timer, at timer.Millis) (CloudEvent, error) {
	return noticeOf(source, t, at, t.Payload != nil)
}

func noticeOf(source string, t *timer.Timer, at timer.Millis, omitted bool) (CloudEvent, error) {
	eventType, suffix := TypeDead, "_dead"
	if t.Status == timer.StatusParked {
		eventType, suffix = TypeParked, "_parked"
	}
	n := Notice{
		Namespace: t.Namespace, TimerID: t.ID, Generation: t.Generation.String(), Attempts: t.Attempts,
		Status: t.Status, Reason: t.LastError, StatusCode: t.LastStatus, CorrelationID: t.Correlation(),
		ExecuteAt: t.ExecuteAt, CreatedAt: t.CreatedAt, Deliver: t.Way(), CallbackURL: t.CallbackURL,
		Headers: t.Headers.Map(), CallbackTimeout: timer.FormatDuration(t.CallbackTimeout), RetryPolicy: retryPolicyOf(t.Retry),
		OnDone: t.OnDone, OnDead: t.OnDead,
		Payload: orNull(nil), Request: RequestOf(t, !omitted), Topic: t.Topic, Key: t.EventKey, PayloadOmitted: omitted,
	}
	if t.ExpireAfter != 0 {
		n.ExpireAfter = timer.FormatDuration(t.ExpireAfter)
	}
	if !omitted && !t.Request.Raw() {
		n.Payload = orNull(t.Payload)
	}
	return ofTimer(eventType, source, t.WebhookID()+suffix, t, at, n)
}

// RetryPolicy is a timer.RetryPolicy in JSON: durations are strings such as "30s".
type RetryPolicy struct {
	MaxAttempts         int     `json:"maxAttempts"`
	MaxAttemptsDuration string  `json:"maxAttemptsDuration,omitempty"`
	InitialInterval     string  `json:"initialInterval"`
	BackoffMultiplier   float64 `json:"backoffMultiplier"`
	MaxInterval         string  `json:"maxInterval"`
}

func retryPolicyOf(p timer.RetryPolicy) RetryPolicy {
	r := RetryPolicy{
		MaxAttempts: p.MaxAttempts, InitialInterval: timer.FormatDuration(p.InitialInterval),
		BackoffMultiplier: p.BackoffMultiplier, MaxInterval: timer.FormatDuration(p.MaxInterval),
	}
	if p.MaxAttemptsDuration != 0 {
		r.MaxAttemptsDuration = timer.FormatDuration(p.MaxAttemptsDuration)
	}
	return r
}
