package schedule

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Policy says what happens to an occurrence that is due while an earlier one is not finished.
type Policy string

const (
	// Allow creates it. It is the default.
	Allow Policy = "allow"
	// Skip leaves it out.
	Skip Policy = "skip"
	// Queue creates it when the earlier one is finished. The occurrences that are due while it waits are left out.
	Queue Policy = "queue"
	// CancelOther deletes the earlier one and creates it.
	CancelOther Policy = "cancelOther"
)

// CatchUp says what happens to occurrences that an outage delayed by more than OnTime.
type CatchUp string

const (
	// CatchUpAll creates those of the last CatchUpWindow. It is the default.
	CatchUpAll CatchUp = "all"
	// CatchUpLast creates only the last one, however old it is.
	CatchUpLast CatchUp = "last"
	// CatchUpNone creates none.
	CatchUpNone CatchUp = "none"
)

const (
	// OnTime is the delay up to which an occurrence is always created.
	OnTime = 10 * time.Second
	// DefaultCatchUpWindow is the CatchUpWindow of a schedule that gives none; MaxCatchUpWindow is the longest.
	DefaultCatchUpWindow = time.Minute
	MaxCatchUpWindow     = 365 * 24 * time.Hour
	// MaxCount bounds Definition.Count, and MaxPauseOnDead Definition.PauseOnDead.
	MaxCount       = 1_000_000_000
	MaxPauseOnDead = 1000
	// MaxName is the longest name of a schedule, in bytes: the id of an occurrence contains it.
	MaxName = 200
	// MaxDefinition is the longest text of a definition in a request, in bytes.
	MaxDefinition = 28 << 10
)

// Definition describes a schedule, except for the timer that each occurrence is.
type Definition struct {
	Settings

	// Count is how many occurrences the schedule creates in all; 0: without a limit.
	Count int `json:"count,omitempty"`
	// OnOverlap applies if an earlier occurrence is not finished.
	OnOverlap Policy `json:"onOverlap,omitempty"`
	// CatchUp applies to delayed occurrences, and CatchUpWindow to CatchUpAll.
	CatchUp       CatchUp       `json:"catchUp,omitempty"`
	CatchUpWindow time.Duration `json:"catchUpWindow,omitempty"`
	// PauseOnDead pauses the schedule when so many occurrences in a row are dead; 0: never.
	PauseOnDead int `json:"pauseOnDead,omitempty"`
	// CorrelationID, FlowKey and ExpireAfter are those of the occurrences. The row of a schedule does not have them: the correlation id
	// marks schedules for lists, and the others would delay or end the schedule itself.
	CorrelationID string        `json:"correlationId,omitempty"`
	FlowKey       string        `json:"flowKey,omitempty"`
	ExpireAfter   time.Duration `json:"expireAfter,omitempty"`
	// Command is the position of the last topic command or outbox row that changed the definition, so that a repetition is
	// recognised; empty if there was none.
	Command string `json:"command,omitempty"`
	// Version counts the definitions of the schedule, from 1.
	Version int `json:"version"`
}

// Mark is the correlation id of the rows of schedules.
const Mark = "timerbus:schedule"

// Schedule is a checked Definition. It can be used by several goroutines.
type Schedule struct {
	Definition
	*Recurrence
}

// Zones finds a time zone by its name, as time.LoadLocation does.
type Zones = func(name string) (*time.Location, error)

// Check returns the schedule of a definition of a client, with defaults for what it does not give.
func Check(d Definition, zones Zones) (*Schedule, error) {
	s, err := build(d, zones)
	if err != nil {
		return nil, err
	}
	if n := len(s.Text()); n > MaxDefinition {
		return nil, timer.Invalid("specs", fmt.Sprintf("a definition of %d bytes", n), fmt.Sprintf("at most %d bytes", MaxDefinition))
	}
	return s, nil
}

func build(d Definition, zones Zones) (*Schedule, error) {
	switch d.OnOverlap {
	case "":
		d.OnOverlap = Allow
	case Allow, Skip, Queue, CancelOther:
	default:
		return nil, timer.Invalid("overlap", string(d.OnOverlap), `"allow", "skip", "queue" or "cancelOther"`)
	}
	switch d.CatchUp {
	case "":
		d.CatchUp = CatchUpAll
	case CatchUpAll, CatchUpLast, CatchUpNone:
	default:
		return nil, timer.Invalid("catchUp", string(d.CatchUp), `"all", "last" or "none"`)
	}
	switch {
	case d.CatchUp != CatchUpAll:
		if d.CatchUpWindow != 0 {
			return nil, timer.Invalid("catchUpWindow", d.CatchUpWindow, fmt.Sprintf("no window with catchUp %q", d.CatchUp))
		}
	case d.CatchUpWindow == 0:
		d.CatchUpWindow = DefaultCatchUpWindow
	case d.CatchUpWindow < OnTime || d.CatchUpWindow > MaxCatchUpWindow:
		return nil, timer.Invalid("catchUpWindow", d.CatchUpWindow, `"10s" to "8760h"`)
	}
	if d.Count < 0 || d.Count > MaxCount {
		return nil, timer.Invalid("count", d.Count, "1 to 1000000000")
	}
	if d.PauseOnDead < 0 || d.PauseOnDead > MaxPauseOnDead {
		return nil, timer.Invalid("pauseOnDead", d.PauseOnDead, "1 to 1000")
	}
	r, err := New(&d.Settings, zones)
	if err != nil {
		return nil, err
	}
	return &Schedule{d, r}, nil
}

// Text returns the stored form of the definition.
func (s *Schedule) Text() string {
	text, err := json.Marshal(s.Definition)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	return string(text)
}

// Parse returns the schedule of a stored definition.
func Parse(text string, zones Zones) (*Schedule, error) {
	var d Definition
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return nil, fmt.Errorf("schedule %q: %w", text, err)
	}
	return build(d, zones)
}

// VersionOf returns the version of a stored definition, also of one that only a later release understands; 0 if it has none.
func VersionOf(text string) int {
	var d struct {
		Version int `json:"version"`
	}
	_ = json.Unmarshal([]byte(text), &d) // the version of an invalid text is 0
	return d.Version
}

// Row returns the spec of a schedule's row, of which the next occurrence is at an instant. template is the spec of the occurrences.
func (s *Schedule) Row(template timer.Spec, next timer.Millis) timer.Spec {
	s.CorrelationID, s.FlowKey, s.ExpireAfter = template.CorrelationID, template.FlowKey, template.ExpireAfter
	template.CorrelationID, template.FlowKey, template.ExpireAfter = Mark, "", 0
	template.ExecuteAt, template.Schedule = next, s.Text()
	return template
}

// Template returns the spec of the occurrences of a schedule, without their time.
func (s *Schedule) Template(row *timer.Spec) timer.Spec {
	template := *row
	template.ExecuteAt, template.Schedule = 0, ""
	template.CorrelationID, template.FlowKey, template.ExpireAfter = s.CorrelationID, s.FlowKey, s.ExpireAfter
	return template
}

// Put returns the create of the occurrence at an instant. It is due within the window of the template, and not before earliest.
func (s *Schedule) Put(ns *store.Namespace, name string, row *timer.Spec, at, earliest timer.Millis, revision timer.Revision) store.Put {
	id := ns.Shards.OccurrenceID(name, at.String())
	put := store.Put{
		Ref: store.Ref{Shard: ns.Shards.Place(id), UUID: timer.UUIDOf(ns.Name, id)}, Namespace: ns.Name, ID: id,
		Revision: revision, Spec: s.Template(row),
	}
	put.Spec.ExecuteAt = max(at, earliest).Add(timer.Spread(put.Ref.UUID, put.Spec.Window))
	return put
}
