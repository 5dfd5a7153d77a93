package event

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Verb is the operation of a command.
type Verb string

const (
	VerbCreate Verb = "create"
	VerbUpdate Verb = "update"
	VerbDelete Verb = "delete"
	VerbPause  Verb = "pause"
	VerbResume Verb = "resume"

	VerbCreateSchedule   Verb = "schedule.create"
	VerbUpdateSchedule   Verb = "schedule.update"
	VerbDeleteSchedule   Verb = "schedule.delete"
	VerbPauseSchedule    Verb = "schedule.pause"
	VerbResumeSchedule   Verb = "schedule.resume"
	VerbTriggerSchedule  Verb = "schedule.trigger"
	VerbBackfillSchedule Verb = "schedule.backfill"
)

// verbs are those of the types of commands.
var verbs = map[string]Verb{
	TypeCreate: VerbCreate, TypeUpdate: VerbUpdate, TypeDelete: VerbDelete, TypePause: VerbPause, TypeResume: VerbResume,

	TypeCreateSchedule: VerbCreateSchedule, TypeUpdateSchedule: VerbUpdateSchedule, TypeDeleteSchedule: VerbDeleteSchedule,
	TypePauseSchedule: VerbPauseSchedule, TypeResumeSchedule: VerbResumeSchedule, TypeTriggerSchedule: VerbTriggerSchedule,
	TypeBackfillSchedule: VerbBackfillSchedule,
}

// ForSchedule reports whether the verb is that of a command for a schedule.
func (v Verb) ForSchedule() bool { return strings.HasPrefix(string(v), "schedule.") }

// CheckVerb returns an error if the verb is not that of a command.
func CheckVerb(v Verb) error {
	var known []string
	for _, verb := range slices.Sorted(maps.Values(verbs)) {
		if verb == v {
			return nil
		}
		known = append(known, string(verb))
	}
	return timer.Invalid("verb", string(v), "one of "+strings.Join(known, ", "))
}

// Command is a command on the public topic. Its data is the body of the HTTP request of the same name. Ingest decodes
// it with the same strictness.
type Command struct {
	// ID is the CloudEvents id, which the answer repeats.
	ID   string
	Verb Verb
	// Source is the CloudEvents source, which names the sender.
	Source        string
	CorrelationID string
	Trace         Trace
	Data          json.RawMessage
}

// ParseCommand parses a command from a message. If there is an error, the command has the fields that could be parsed
// (most importantly ID, for the answer); the other fields are empty.
func ParseCommand(headers map[string]string, body []byte) (Command, error) {
	e, err := Decode(headers, body)
	c := Command{ID: e.ID, Verb: verbs[e.Type], Source: e.Source, CorrelationID: e.CorrelationID, Trace: e.Trace, Data: e.Data}
	if c.Verb == "" && err == nil {
		err = timer.Invalid("type", e.Type, "one of "+strings.Join(slices.Sorted(maps.Keys(verbs)), ", "))
	}
	return c, err
}

// Answer is the result of a topic command. It is published on results if the command was applied, on dead if it was
// refused.
type Answer struct {
	// CommandID is the command's CloudEvents id. If the id could not be parsed, it is derived from the message's
	// position, so that two commands never have the same CommandID.
	CommandID string `json:"commandId"`
	Verb      Verb   `json:"verb,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	TimerID   string `json:"timerId,omitempty"`
	// ScheduleID is the id of the schedule of a command for a schedule, instead of TimerID. An applied trigger has the TimerID of the
	// occurrence.
	ScheduleID string `json:"scheduleId,omitempty"`
	// Earlier means that the command was a replay; Timer or Schedule is then the present state.
	Earlier bool `json:"appliedEarlier,omitempty"`
	// InTime is false if the old delivery may have gone out before this update, replace, delete or pause. It is absent in
	// answers to refused commands.
	InTime bool `json:"inTime"`
	// Timer is the timer as in the HTTP API's answer; absent after a delete.
	Timer json.RawMessage `json:"timer,omitempty"`
	// Schedule is the schedule as in the HTTP API's answer; absent after a delete, a trigger and a backfill.
	Schedule json.RawMessage `json:"schedule,omitempty"`
	// Backfill is the HTTP API's answer to a backfill.
	Backfill json.RawMessage `json:"backfill,omitempty"`
	// Error, Message and Details are those of the HTTP API's error.
	Error   string          `json:"error,omitempty"`
	Message string          `json:"message,omitempty"`
	Details json.RawMessage `json:"details,omitempty"`
	// Command is the beginning of the command as received, if it was refused because it could not be parsed.
	Command string `json:"command,omitempty"`
}

// MarshalJSON omits inTime if the command was refused.
func (a Answer) MarshalJSON() ([]byte, error) {
	type plain Answer
	if a.Error == "" {
		return marshal(plain(a))
	}
	return marshal(struct {
		plain

		InTime *bool `json:"inTime,omitempty"` // hides the embedded field
	}{plain: plain(a)})
}

// AnswerOf returns the event of an answer.
func AnswerOf(source string, a *Answer, correlationID string, at timer.Millis) (CloudEvent, error) {
	eventType := TypeApplied
	if a.Error != "" {
		eventType = TypeRefused
	}
	return New(eventType, source, a.CommandID+"_answer", a.Subject(), correlationID, at, a)
}

// Subject returns namespace and id of the timer or the schedule; empty if one of them is unknown.
func (a Answer) Subject() string {
	id := cmp.Or(a.ScheduleID, a.TimerID)
	if a.Namespace == "" || id == "" {
		return ""
	}
	return Subject(a.Namespace, id)
}
