package schedule

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// State is the progress of a schedule.
type State struct {
	// Created counts the occurrences that the schedule has created.
	Created int `json:"created,omitempty"`
	// Recent has the instants of at most maxRecent created occurrences that were not finished when they were last read, oldest
	// first.
	Recent []timer.Millis `json:"recent,omitempty"`
	// Dead counts the dead occurrences since the last one that was done, and since the last resume.
	Dead int `json:"dead,omitempty"`
	// Last is the instant of the newest occurrence that was created or left out. No later definition has an occurrence until then.
	Last timer.Millis `json:"last,omitempty"`
	// Replaced is the instant of an occurrence that an answer has moved: there is no other one up to this instant. 0: none.
	// ReplacedIn is the version of the definition then; Replaced has no effect on others.
	Replaced   timer.Millis `json:"replaced,omitempty"`
	ReplacedIn int          `json:"replacedIn,omitempty"`
	// Until is the last replaced instant if the occurrence that replaced it was earlier: the next occurrence is after it. UntilIn is the
	// version of the definition then; Until has no effect on others.
	Until   timer.Millis `json:"until,omitempty"`
	UntilIn int          `json:"untilIn,omitempty"`
}

// Move records that an answer moves the next occurrence, which is at an instant of the definition with this version, unless an answer
// has moved it before.
func (s *State) Move(at timer.Millis, version int) {
	if s.Replaced == 0 || s.ReplacedIn != version {
		s.Replaced, s.ReplacedIn = at, version
	}
}

const maxRecent = 16

// ParseState returns the state of a stored text.
func ParseState(text string) (s State, err error) {
	if text == "" {
		return State{}, nil
	}
	if err = json.Unmarshal([]byte(text), &s); err != nil {
		return State{}, fmt.Errorf("state of a schedule %q: %w", text, err)
	}
	return s, nil
}

// StateOf returns the state of the row of a schedule, or of its last row in history: that row has the state before the last decision.
func StateOf(row *timer.Timer) (State, error) {
	s, err := ParseState(row.ScheduleState)
	if err == nil && row.Status == timer.StatusDone && DecisionOf(row.LastError) == "created" {
		s.create(row.ExecuteAt)
	}
	return s, err
}

// create adds an occurrence that was created.
func (s *State) create(at timer.Millis) {
	s.Created++
	s.Recent = append(s.Recent[max(0, len(s.Recent)-maxRecent+1):len(s.Recent):len(s.Recent)], at)
	s.Last, s.Replaced, s.ReplacedIn = at, 0, 0
}

// Text returns the stored form of the state.
func (s *State) Text() string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // numbers can always be encoded
	}
	return string(text)
}

// Result is what became of an occurrence.
type Result int

const (
	// Gone: there is no trace of it. It was deleted, or its history has expired.
	Gone Result = iota
	Unfinished
	Done
	Dead
)

// Occurred is an occurrence as it was read.
type Occurred struct {
	Result Result
	// FinishedAt is when it was done or dead.
	FinishedAt timer.Millis
}

// Due describes a schedule that is due.
type Due struct {
	// At is the instant of the occurrence, and Now is the present.
	At, Now timer.Millis
	// ResumedAt is when a client resumed the schedule, if At passed while it was paused; otherwise 0.
	ResumedAt timer.Millis
	State     State
	// Recent is what became of the occurrences in State.Recent, in their order. It is nil if ReadsRecent is false.
	Recent []Occurred
	// Exists: there is an occurrence at At already. It is read only if ReadsExisting.
	Exists bool
}

// ReadsExisting reports whether Due.Exists must be read: an earlier schedule of the same name, a trigger, or an answer that has moved
// the occurrence may have created one with the same instant. The decisions of one schedule are for different instants otherwise.
func (d *Due) ReadsExisting() bool { return d.State.Last == 0 || d.State.Replaced != 0 }

// ReadsRecent reports whether Decide needs Due.Recent.
func (s *Schedule) ReadsRecent() bool { return s.OnOverlap != Allow || s.PauseOnDead > 0 }

// Decision is what a schedule does when it is due. Exactly one of Wait, Pause, and the rest is set.
type Decision struct {
	// Wait is the time until the next decision about this instant, because an earlier occurrence is not finished.
	Wait time.Duration
	// Pause is why the schedule must be paused. Its state is then State.
	Pause string

	// Create: the occurrence at Due.At is created. Otherwise Reason says why not. If one was created after a wait, Reason says which
	// others are left out.
	Create bool
	Reason string
	// Cancel has the instants of occurrences that must be deleted first.
	Cancel []timer.Millis
	// Next is the instant of the next occurrence; 0 if there is none, so the schedule has ended.
	Next  timer.Millis
	State State
}

// queuePoll is the time between two decisions of a schedule that waits for an occurrence.
const queuePoll = time.Second

// Decide returns what the schedule does when it is due.
func (s *Schedule) Decide(d *Due) Decision {
	state := d.State
	state.Last = d.At
	settled, unfinished := s.settle(d, &state)
	if d.ResumedAt != 0 {
		state.Dead = 0
	}
	after := d.At // the next occurrence is after it
	state.Until, state.UntilIn = 0, 0
	if state.ReplacedIn == s.Version && state.Replaced > after {
		after = state.Replaced
		state.Until, state.UntilIn = after, s.Version
	}
	state.Replaced, state.ReplacedIn = 0, 0
	if s.Count > 0 && state.Created >= s.Count {
		return Decision{Reason: fmt.Sprintf("skipped: %d occurrences were created, and count is %d", state.Created, s.Count), State: state}
	}
	if s.PauseOnDead > 0 && state.Dead >= s.PauseOnDead {
		why := fmt.Sprintf("%d occurrences in a row are dead (pauseOnDead is %d)", state.Dead, s.PauseOnDead)
		state.Dead, state.Recent = 0, nil
		return Decision{Pause: why, State: state}
	}
	queued := s.OnOverlap == Queue && d.ResumedAt == 0 && (len(unfinished) > 0 || settled > d.At)
	if from, why := s.earliest(d); d.At < from && !queued {
		return s.leaveOut(state, max(after, from-1), fmt.Sprintf("no occurrences from %s to before %s: %s", d.At, from, why))
	}
	switch {
	case d.Exists:
		return s.leaveOut(state, after, "skipped: there is an occurrence at this instant already")
	case len(unfinished) > 0 && s.OnOverlap == Queue:
		return Decision{Wait: queuePoll}
	case len(unfinished) > 0 && s.OnOverlap == Skip:
		last := unfinished[len(unfinished)-1]
		return s.leaveOut(state, after, fmt.Sprintf("skipped: the occurrence at %s is not finished", last))
	}
	out := Decision{Create: true}
	if s.OnOverlap == CancelOther {
		out.Cancel = unfinished
		state.Recent = nil
	}
	if next, ok := s.After(after); queued && ok && next.At <= d.Now {
		out.Reason = createdText + fmt.Sprintf("; those from %s to %s were due while it waited, and are left out", next.At, d.Now)
		after = d.Now
	}
	state.create(d.At)
	out.State = state
	return s.advance(out, after)
}

// Moved reports whether an answer has determined the next occurrence.
func (s *Schedule) Moved(state *State) bool {
	return state.Replaced != 0 && state.ReplacedIn == s.Version
}

// Next returns the instant of the next occurrence of a schedule whose next one is after now and was not moved by an answer, for a time
// zone database that has changed since it was computed. ok is false if there is none.
func (s *Schedule) Next(state *State, now timer.Millis) (at timer.Millis, ok bool) {
	after := max(now, state.Last) // the clock of the process that decided may have been ahead
	if state.UntilIn == s.Version {
		after = max(after, state.Until)
	}
	next, ok := s.After(after)
	return next.At, ok
}

// leaveOut returns the decision not to create an occurrence.
func (s *Schedule) leaveOut(state State, after timer.Millis, reason string) Decision {
	return s.advance(Decision{Reason: reason, State: state}, after)
}

// advance sets the next occurrence, the first one after an instant, unless the schedule has ended.
func (s *Schedule) advance(d Decision, after timer.Millis) Decision {
	if next, ok := s.After(after); ok && (s.Count == 0 || d.State.Created < s.Count) {
		d.Next = next.At
	}
	return d
}

// settle removes the finished occurrences from the state and counts the dead ones. It returns when the last of them finished, and
// the instants of those that are not finished.
func (s *Schedule) settle(d *Due, state *State) (last timer.Millis, unfinished []timer.Millis) {
	if !s.ReadsRecent() {
		return 0, nil
	}
	for i, at := range state.Recent {
		o := Occurred{}
		if i < len(d.Recent) {
			o = d.Recent[i]
		}
		switch o.Result {
		case Unfinished:
			unfinished = append(unfinished, at)
		case Done, Gone: // history keeps dead occurrences longer than done ones
			state.Dead = 0
		case Dead:
			state.Dead++
		}
		last = max(last, o.FinishedAt)
	}
	state.Recent = unfinished
	return last, unfinished
}

// earliest returns the instant before which no occurrence is created any more, and why.
func (s *Schedule) earliest(d *Due) (from timer.Millis, why string) {
	switch late := d.Now.Sub(d.At); {
	case d.ResumedAt != 0:
		return d.ResumedAt, "the schedule was paused"
	case late <= OnTime:
		return d.At, ""
	case s.CatchUp == CatchUpNone:
		return d.Now.Add(-OnTime), `they were late, and catchUp is "none"`
	case s.CatchUp == CatchUpLast:
		return s.lastUntil(d.At, d.Now), `they were late, and catchUp is "last"`
	default:
		return d.Now.Add(-s.CatchUpWindow), "they were late by more than catchUpWindow, " + timer.FormatDuration(s.CatchUpWindow)
	}
}

// lastUntil returns the last instant of the schedule that is not before at, at which there is one, and not after now.
func (s *Schedule) lastUntil(at, now timer.Millis) timer.Millis {
	// Bisect by time: After answers for any instant, so the range halves until it contains one occurrence.
	for {
		next, ok := s.After(at)
		if !ok || next.At > now {
			return at
		}
		at = next.At
		for span := now.Sub(at) / 2; span > time.Second; span /= 2 {
			if later, ok := s.After(at.Add(span)); ok && later.At <= now {
				at = later.At
			}
		}
	}
}

// The beginnings of the texts of decisions in history. An empty text means that the occurrence was created.
const (
	createdText = "created"
	movedText   = "moved: "
	pausedText  = "paused: "
	endedText   = "ended: "
)

// MovedText returns the text in history of a schedule whose next occurrence the answer to an occurrence has moved.
func MovedText(timerID string, to timer.Millis) string {
	return movedText + "to " + to.String() + " by the answer to " + timerID
}

// PausedText returns the text in history of a schedule that was paused.
func PausedText(why string) string { return pausedText + why }

// EndedText returns the text in history of a schedule that the answer to an occurrence has ended.
func EndedText(timerID string) string { return endedText + "by the answer to " + timerID }

// DecisionOf returns the kind of a decision from its text in history: created, skipped, moved, paused or ended.
func DecisionOf(text string) string {
	switch {
	case text == "", strings.HasPrefix(text, createdText):
		return "created"
	case strings.HasPrefix(text, pausedText):
		return "paused"
	case strings.HasPrefix(text, movedText):
		return "moved"
	case strings.HasPrefix(text, endedText):
		return "ended"
	default:
		return "skipped"
	}
}
