package event

import (
	"strconv"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Result reports the outcome of one attempt. It is published before the outcome is written (I14): it may repeat, and
// the timer may have changed since; the generation shows whether it has.
type Result struct {
	Namespace     string        `json:"namespace"`
	TimerID       string        `json:"timerId"`
	Generation    string        `json:"generation"`
	Attempt       timer.Attempt `json:"attempt"`
	CorrelationID string        `json:"correlationId"`
	// Outcome is done, rescheduled, failed or dead.
	Outcome   string       `json:"outcome"`
	ExecuteAt timer.Millis `json:"executeAt"`
	// NextAt is the time of the retry or the next firing; absent for done and dead.
	NextAt     *timer.Millis `json:"nextAt,omitempty"`
	StartedAt  timer.Millis  `json:"startedAt"`
	FinishedAt timer.Millis  `json:"finishedAt"`
	StatusCode int           `json:"statusCode,omitempty"`
	Error      string        `json:"error,omitempty"`
	// Body is the beginning of an answer that could not be parsed.
	Body string `json:"body,omitempty"`
}

// ResultOf returns a result event. Its id is derived from the attempt and the outcome, so a repetition has the same id.
func ResultOf(source string, t *timer.Timer, r *Result) (CloudEvent, error) {
	id := t.WebhookID() + "_" + strconv.Itoa(int(r.Attempt)) + "_" + r.Outcome
	return ofTimer(TypeResult, source, id, t, r.FinishedAt, r)
}
