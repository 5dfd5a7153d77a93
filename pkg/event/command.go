package event

import (
	"encoding/json"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Verb is what a command does.
type Verb string

const (
	VerbCreate Verb = "create"
	VerbUpdate Verb = "update"
	VerbDelete Verb = "delete"
)

// Command is a command of the public topic. Its data is the body of the HTTP request of the same name
// and is decoded by ingest, with the same strictness.
type Command struct {
	// ID is the CloudEvents id, repeated in the answer.
	ID            string
	Verb          Verb
	CorrelationID string
	Trace         Trace
	Data          json.RawMessage
}

// ParseCommand reads a command from a message. With an error comes what could be read (ID above all,
// for the answer); the rest is empty.
func ParseCommand(headers map[string]string, body []byte) (Command, error) {
	e, err := Decode(headers, body)
	c := Command{ID: e.ID, CorrelationID: e.CorrelationID, Trace: e.Trace, Data: e.Data}
	switch e.Type {
	case TypeCreate:
		c.Verb = VerbCreate
	case TypeUpdate:
		c.Verb = VerbUpdate
	case TypeDelete:
		c.Verb = VerbDelete
	default:
		if err == nil {
			err = timer.Invalid("type", e.Type, TypeCreate+", "+TypeUpdate+" or "+TypeDelete)
		}
	}
	return c, err
}

// Answer tells what became of a topic command: on results if it was applied, on dead if refused.
type Answer struct {
	// CommandID is the command's CloudEvents id or, where that could not be read, a name made of
	// the message's position: two commands never share an answer's id.
	CommandID string `json:"commandId"`
	Verb      Verb   `json:"verb,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	TimerID   string `json:"timerId,omitempty"`
	// Earlier: the command was a replay; Timer is then the present state.
	Earlier bool `json:"appliedEarlier,omitempty"`
	// InTime is false if the old delivery may have gone out before this update, replace or delete.
	// Answers to refused commands leave it out.
	InTime bool `json:"inTime"`
	// Timer is the timer as the HTTP API would answer it; absent after a delete.
	Timer json.RawMessage `json:"timer,omitempty"`
	// Error, Message and Details are those of the HTTP API's error.
	Error   string          `json:"error,omitempty"`
	Message string          `json:"message,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
	// Command is the refused command as received, cut, where it could not be read.
	Command string `json:"command,omitempty"`
}

// MarshalJSON leaves inTime out where nothing was applied.
func (a Answer) MarshalJSON() ([]byte, error) {
	type plain Answer
	if a.Error == "" {
		return marshal(plain(a))
	}
	return marshal(struct {
		plain

		InTime *bool `json:"inTime,omitempty"` // hides the embedded one
	}{plain: plain(a)})
}

// AnswerOf builds the answer's event.
func AnswerOf(source string, a *Answer, correlationID string, at timer.Millis) (CloudEvent, error) {
	eventType := TypeApplied
	if a.Error != "" {
		eventType = TypeRefused
	}
	subject := ""
	if a.Namespace != "" && a.TimerID != "" {
		subject = Subject(a.Namespace, a.TimerID)
	}
	return New(eventType, source, a.CommandID+"_answer", subject, correlationID, at, a)
}
