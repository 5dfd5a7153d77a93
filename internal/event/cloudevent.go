package event

import (
	"encoding/json"
	"fmt"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Types of the public events (CloudEvents attribute "type").
const (
	TypeCreate = "timerbus.timer.create"
	TypeUpdate = "timerbus.timer.update"
	TypeDelete = "timerbus.timer.delete"
	TypePause  = "timerbus.timer.pause"
	TypeResume = "timerbus.timer.resume"

	TypeCreateSchedule   = "timerbus.schedule.create"
	TypeUpdateSchedule   = "timerbus.schedule.update"
	TypeDeleteSchedule   = "timerbus.schedule.delete"
	TypePauseSchedule    = "timerbus.schedule.pause"
	TypeResumeSchedule   = "timerbus.schedule.resume"
	TypeTriggerSchedule  = "timerbus.schedule.trigger"
	TypeBackfillSchedule = "timerbus.schedule.backfill"

	TypeFired   = "timerbus.timer.fired"
	TypeResult  = "timerbus.timer.result"
	TypeDead    = "timerbus.timer.dead"
	TypeParked  = "timerbus.timer.parked"
	TypeApplied = "timerbus.command.applied"
	TypeRefused = "timerbus.command.refused"
)

// Mode is how a CloudEvent is encoded in a message.
type Mode int

const (
	// Structured encodes the whole event as JSON in the body. Its attributes are also in headers, for consumers that
	// route without parsing. Used on NATS.
	Structured Mode = iota + 1
	// Binary encodes the attributes as headers and only the data in the body. Used on Kafka.
	Binary
)

// ModeOf returns the mode for a bus whose readers expect attributes in headers, or in the body.
func ModeOf(headerAttributes bool) Mode {
	if headerAttributes {
		return Binary
	}
	return Structured
}

// CloudEvent is an event of CloudEvents 1.0 with JSON data. The fields have the names of the specification;
// correlationid is an extension attribute of Timerbus.
type CloudEvent struct {
	SpecVersion string `json:"specversion"`
	ID          string `json:"id"`
	Source      string `json:"source"`
	Type        string `json:"type"`
	Subject     string `json:"subject,omitempty"`
	// Time is absent if zero.
	Time            timer.Millis `json:"time,omitempty"`
	DataContentType string       `json:"datacontenttype,omitempty"`
	CorrelationID   string       `json:"correlationid,omitempty"`
	// Data is valid JSON, or empty.
	Data json.RawMessage `json:"data,omitempty"`
	// Trace is encoded in separate headers in both modes.
	Trace Trace `json:"-"`
}

const (
	specVersion     = "1.0"
	jsonType        = "application/json"
	structuredType  = "application/cloudevents+json"
	contentTypeName = "content-type"

	kafkaPrefix = "ce_" // prefix of the Kafka protocol binding; values are UTF-8, not escaped
	natsPrefix  = "ce-" // prefix of the NATS protocol binding; values are percent-encoded
)

// New returns an event with the attributes that all events share. data is marshalled as JSON.
func New(eventType, source, id, subject, correlationID string, at timer.Millis, data any) (CloudEvent, error) {
	raw, err := marshal(data)
	if err != nil {
		return CloudEvent{}, fmt.Errorf("marshal data of %s %s: %w", eventType, id, err)
	}
	return CloudEvent{
		SpecVersion: specVersion, ID: id, Source: source, Type: eventType, Subject: subject, Time: at,
		DataContentType: jsonType, CorrelationID: correlationID, Data: raw,
	}, nil
}

// ofTimer returns an event about a timer, with the timer's trace.
func ofTimer(eventType, source, id string, t *timer.Timer, at timer.Millis, data any) (CloudEvent, error) {
	e, err := New(eventType, source, id, Subject(t.Namespace, t.ID), t.Correlation(), at, data)
	e.Trace = TraceIn(t.Headers)
	return e, err
}

// Encode encodes the event as headers and a body. Equal events result in equal bytes.
func (e *CloudEvent) Encode(mode Mode) (headers map[string]string, body []byte, err error) {
	headers = make(map[string]string, 8)
	prefix, contentType, escape := natsPrefix, structuredType, percentEncode
	if mode == Binary {
		prefix, contentType, escape = kafkaPrefix, jsonType, asIs
	}
	headers[contentTypeName] = contentType
	for name, value := range e.attributes() {
		if value != "" {
			headers[prefix+name] = escape(value)
		}
	}
	e.Trace.put(headers)
	if mode == Binary {
		return headers, e.Data, nil
	}
	body, err = marshal(e)
	if err != nil {
		return nil, nil, fmt.Errorf("marshal %s %s: %w", e.Type, e.ID, err)
	}
	return headers, body, nil
}

// attributes returns the attributes that are encoded as headers. datacontenttype is not: in binary mode it is the
// header content-type, and in structured mode it is always JSON.
func (e *CloudEvent) attributes() map[string]string {
	a := map[string]string{
		"specversion": e.SpecVersion, "id": e.ID, "source": e.Source, "type": e.Type,
		"subject": e.Subject, "correlationid": e.CorrelationID,
	}
	if e.Time != 0 {
		a["time"] = e.Time.String()
	}
	return a
}
