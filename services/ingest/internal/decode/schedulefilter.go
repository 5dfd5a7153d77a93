package decode

import (
	"slices"
	"strings"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

var (
	filterNames = []string{"namespace", "status", "nextFrom", "nextBefore", "limit", "cursor"}

	heldSchedules = []string{"paused", "parked"}
	liveSchedules = []string{"active", "paused", "parked"}
)

// ReadPauseSchedules decodes the body of a pause by filter.
func ReadPauseSchedules(body []byte) (PauseMatching, error) {
	var p PauseMatching
	var err error
	p.Matching, err = readMatchingSchedules(body, slices.Concat(filterNames, []string{"note"}), &p.Note, []string{"active"})
	return p, err
}

// ReadResumeSchedules decodes the body of a resume by filter. Without a status, it selects paused schedules.
func ReadResumeSchedules(body []byte) (Matching, error) {
	m, err := readMatchingSchedules(body, filterNames, nil, heldSchedules)
	if m.Query.Status == "" {
		m.Query.Status = timer.StatusPaused
	}
	return m, err
}

// ReadDeleteSchedules decodes the body of a deletion by filter. A criterion is required, because a deletion cannot be undone.
func ReadDeleteSchedules(body []byte) (Matching, error) {
	m, err := readMatchingSchedules(body, filterNames, nil, liveSchedules)
	if err == nil && m.Query.Status == "" && !m.Active && m.NextFrom == 0 && m.NextBefore == 0 {
		err = timer.Invalid("status", missing{}, "at least one of status, nextFrom and nextBefore")
	}
	return m, err
}

// readMatchingSchedules is readSchedules for a change, which requires a namespace.
func readMatchingSchedules(body []byte, known []string, note *string, statuses []string) (Matching, error) {
	m, err := readSchedules(body, known, note, statuses)
	if err == nil && m.Namespace == "" {
		err = timer.Invalid("namespace", missing{}, "the namespace of the schedules")
	}
	return m, err
}

// readSchedules decodes a filter of schedules. The namespace is empty if the body has none. note may be nil if it is not known.
func readSchedules(body []byte, known []string, note *string, statuses []string) (Matching, error) {
	m := Matching{List: List{Query: store.ListQuery{CorrelationID: schedule.Mark, Limit: DefaultLimit}, Schedules: true}}
	err := members(body, known, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "status":
			err = m.List.readScheduleStatus(v, statuses)
		case name == "nextFrom":
			m.NextFrom, err = readBound(name, v)
		case name == "nextBefore":
			m.NextBefore, err = readBound(name, v)
		case name == "note":
			err = readNote(note, v)
		default:
			_, err = m.List.read(name, v)
		}
		return err
	})
	return m, err
}

// ScheduleStatus returns the status of the schedules that the filter selects, or "" for any.
func (l *List) ScheduleStatus() string {
	if l.Active {
		return "active"
	}
	return string(l.Query.Status)
}

// readScheduleStatus decodes the status of schedules, which is one of statuses, as that of their rows.
func (l *List) readScheduleStatus(v value, statuses []string) error {
	want := strings.Join(statuses, " or ")
	s, err := v.string("status", want)
	switch {
	case err != nil:
		return err
	case !slices.Contains(statuses, s):
		return timer.Invalid("status", s, want)
	case s == "active":
		l.Active = true
	default:
		l.Query.Status = timer.Status(s)
	}
	return nil
}
