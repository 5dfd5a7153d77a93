package event

import (
	"encoding/json"
	"fmt"

	"github.com/timerbus/timerbus/pkg/shard"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Delivery is what a receiver gets: the body of a callback, and the data of a fired event.
type Delivery struct {
	Namespace string `json:"namespace"`
	TimerID   string `json:"timerId"`
	// ScheduleID is the schedule of which the timer is an occurrence; empty for other timers.
	ScheduleID string `json:"scheduleId,omitempty"`
	// ExecuteAt is the time that the user requested; ScheduledFor is when this attempt was due (later than ExecuteAt
	// for a retry).
	ExecuteAt     timer.Millis    `json:"executeAt"`
	ScheduledFor  timer.Millis    `json:"scheduledFor"`
	Attempt       timer.Attempt   `json:"attempt"`
	Generation    string          `json:"generation"`
	CorrelationID string          `json:"correlationId"`
	Payload       json.RawMessage `json:"payload"`
}

// DeliveryOf describes the next attempt of a timer.
func DeliveryOf(t *timer.Timer) Delivery {
	payload := t.Payload
	if t.Request.Raw() {
		payload = nil // it is the body of the request
	}
	scheduleID, _ := shard.ScheduleOf(t.ID)
	return Delivery{
		Namespace: t.Namespace, TimerID: t.ID, ScheduleID: scheduleID, ExecuteAt: t.ExecuteAt, ScheduledFor: t.DueAt,
		Attempt: t.Attempts + 1, Generation: t.Generation.String(),
		CorrelationID: t.Correlation(), Payload: orNull(payload),
	}
}

// Body returns the body of a callback, which is also the data of a fired event.
func (d *Delivery) Body() ([]byte, error) {
	body, err := marshal(d)
	if err != nil {
		return nil, fmt.Errorf("marshal delivery of %s: %w", Subject(d.Namespace, d.TimerID), err)
	}
	return body, nil
}

// Fired returns the event that delivers a timer on a topic. Its id is the callback's webhook-id.
func Fired(source string, t *timer.Timer, at timer.Millis) (CloudEvent, error) {
	d := DeliveryOf(t)
	return ofTimer(TypeFired, source, t.WebhookID(), t, at, &d)
}

// Subject returns the key of public events, namespace/id. A namespace contains no slash, so the key is unambiguous.
func Subject(namespace, id string) string { return namespace + "/" + id }
