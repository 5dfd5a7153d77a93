package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// options is the stored form of the fields that few timers have. Engines store it as one text that they do not interpret, so
// a new field needs no change of their schemas. An absent member means the zero value; unknown members are ignored.
type options struct {
	// Pause is the first member, because PausedPattern finds it there.
	Pause       *pause `json:"pause,omitempty"`
	Skip        bool   `json:"skip,omitempty"`
	ResumedFrom int64  `json:"resumedFrom,omitempty"`
	Method      string `json:"method,omitempty"`
	ContentType string `json:"contentType,omitempty"`
	Reschedule  bool   `json:"reschedule,omitempty"`
	WindowMS    int64  `json:"windowMs,omitempty"`
	ExpireMS    int64  `json:"expireMs,omitempty"`
	OnDone      string `json:"onDone,omitempty"`
	OnDead      string `json:"onDead,omitempty"`
	FlowKey     string `json:"flowKey,omitempty"`
	FlowTurn    int64  `json:"flowTurn,omitempty"`

	Schedule      string `json:"schedule,omitempty"`
	ScheduleState string `json:"scheduleState,omitempty"`

	LocalAt       string         `json:"localAt,omitempty"`
	LocalZone     string         `json:"localZone,omitempty"`
	LocalGap      timer.Gap      `json:"localGap,omitempty"`
	LocalRepeated timer.Repeated `json:"localRepeated,omitempty"`
}

// pause is the stored form of timer.Pause.
type pause struct {
	By   string `json:"by,omitempty"`
	Note string `json:"note,omitempty"`
	At   int64  `json:"at"`
}

// PausedPattern is the pattern of LIKE that the options of a paused timer match. A paused timer is stored as parked, so polls,
// sweeps and programs of earlier releases, which know only this status, do not deliver it.
const PausedPattern = PausedPrefix + `%`

// PausedPrefix begins the options of a paused timer, and of no other live one.
const PausedPrefix = `{"pause"`

// StoredStatus returns the status of a timer as engines store it.
func StoredStatus(s timer.Status) timer.Status {
	if s == timer.StatusPaused {
		return timer.StatusParked
	}
	return s
}

// FormatOptions returns the stored form of the options of a timer. It is empty if there are none.
func FormatOptions(t *timer.Timer) string {
	s := &t.Spec
	o := options{
		Method: s.Request.Method, ContentType: s.Request.ContentType, Reschedule: s.Request.Reschedule,
		WindowMS: s.Window.Milliseconds(), ExpireMS: s.ExpireAfter.Milliseconds(), OnDone: s.OnDone, OnDead: s.OnDead,
		FlowKey: s.FlowKey,
	}
	o.Skip, o.ResumedFrom, o.FlowTurn = t.Skip, int64(t.ResumedFrom), int64(t.FlowTurn)
	o.Schedule, o.ScheduleState = s.Schedule, t.ScheduleState
	if l := s.Local; l != nil {
		o.LocalAt, o.LocalZone, o.LocalGap, o.LocalRepeated = l.At, l.Zone, l.Gap, l.Repeated
	}
	if t.Status == timer.StatusPaused && t.Pause != nil {
		o.Pause = &pause{By: t.Pause.By, Note: t.Pause.Note, At: int64(t.Pause.At)}
	}
	if o == (options{}) {
		return ""
	}
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // texts and numbers can always be encoded
	}
	return string(text)
}

// ParseOptions sets the options of a timer from their stored form. The status must be set; that of a paused timer becomes paused.
func ParseOptions(text string, t *timer.Timer) error {
	s := &t.Spec
	t.Pause, t.Skip, t.ResumedFrom, t.FlowTurn = nil, false, 0, 0
	s.Schedule, t.ScheduleState, s.Local = "", "", nil
	s.Request, s.Window, s.ExpireAfter, s.OnDone, s.OnDead, s.FlowKey = timer.Request{}, 0, 0, "", "", ""
	if text == "" {
		return nil
	}
	var o options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("options %q: %w", text, err)
	}
	s.Request = timer.Request{Method: o.Method, ContentType: o.ContentType, Reschedule: o.Reschedule}
	s.Window = time.Duration(o.WindowMS) * time.Millisecond
	s.ExpireAfter = time.Duration(o.ExpireMS) * time.Millisecond
	s.OnDone, s.OnDead, s.FlowKey = o.OnDone, o.OnDead, o.FlowKey
	t.Skip, t.ResumedFrom, t.FlowTurn = o.Skip, timer.Millis(o.ResumedFrom), timer.Millis(o.FlowTurn)
	s.Schedule, t.ScheduleState = o.Schedule, o.ScheduleState
	if o.LocalAt != "" {
		s.Local = &timer.LocalTime{At: o.LocalAt, Zone: o.LocalZone, Gap: o.LocalGap, Repeated: o.LocalRepeated}
	}
	if o.Pause != nil && t.Status == timer.StatusParked {
		t.Status = timer.StatusPaused
		t.Pause = &timer.Pause{By: o.Pause.By, Note: o.Pause.Note, At: timer.Millis(o.Pause.At)}
	}
	return nil
}
