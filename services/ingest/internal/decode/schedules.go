package decode

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/internal/schedule"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// ScheduleSelection names a schedule.
type ScheduleSelection struct {
	Namespace string
	ID        string
}

// ScheduleFields are the parts of a definition in a body.
type ScheduleFields struct {
	specs         optional[[]schedule.Spec]
	timeZone      optional[string]
	start, end    optional[timer.Millis]
	exclude       optional[[]schedule.Exclusion]
	gap, repeated optional[string]
	count         optional[int]
	overlap       optional[string]
	catchUp       optional[string]
	catchUpWindow optional[time.Duration]
	pauseOnDead   optional[int]
	template      optional[Fields]
}

// CreateSchedule is the body of a create.
type CreateSchedule struct {
	ScheduleSelection
	ScheduleFields
	OnConflict store.OnConflict
}

// UpdateSchedule is the body of an update, and with only the last two fields that of a delete.
type UpdateSchedule struct {
	ScheduleSelection
	ScheduleFields
	DeletePending bool
	IfVersion     int // 0: any
}

// PauseSchedule is the body of a pause.
type PauseSchedule struct {
	ScheduleSelection
	Note string
}

// BackfillSchedule is the body of a backfill.
type BackfillSchedule struct {
	ScheduleSelection
	From, To timer.Millis
}

// PreviewSchedule is the body of a preview. ID is empty if it has a definition.
type PreviewSchedule struct {
	ScheduleSelection
	ScheduleFields
	From  timer.Millis // 0: the present
	Limit int
}

// ScheduleHistory is the body of a request for the history of a schedule.
type ScheduleHistory struct {
	ScheduleSelection
	Limit int
}

var (
	scheduleNames       = []string{"namespace", "id"}
	definitionNames     = []string{"specs", "timeZone", "start", "end", "exclude", "gap", "repeated"}
	policyNames         = []string{"count", "overlap", "catchUp", "catchUpWindow", "pauseOnDead", "timer"}
	createScheduleNames = slices.Concat(scheduleNames, definitionNames, policyNames, []string{"onConflict"})
	updateScheduleNames = slices.Concat(scheduleNames, definitionNames, policyNames, []string{"pending", "ifVersion"})
	deleteScheduleNames = slices.Concat(scheduleNames, []string{"pending", "ifVersion"})
	templateNames       = slices.DeleteFunc(slices.Clone(fieldNames), func(name string) bool {
		return slices.Contains(instantNames, name)
	})
)

// ReadCreateSchedule decodes the body of a create.
func ReadCreateSchedule(body []byte) (CreateSchedule, error) { return read(body, readCreateSchedule) }

func readCreateSchedule(v value) (CreateSchedule, error) {
	var c CreateSchedule
	err := v.object("", createScheduleNames, func(name string, v value) error {
		switch {
		case v.isNull():
			return nil // counts as absent
		case name == "onConflict":
			var read Create
			err := read.readOnConflict(v)
			c.OnConflict = read.OnConflict
			return err
		}
		if known, err := c.ScheduleSelection.read(name, v); known {
			return err
		}
		return c.ScheduleFields.read(name, v)
	})
	if err == nil {
		err = c.ScheduleSelection.complete()
	}
	if err == nil && !c.specs.given {
		err = timer.Invalid("specs", missing{}, wantSpecs)
	}
	return c, err
}

// ReadUpdateSchedule decodes the body of an update.
func ReadUpdateSchedule(body []byte) (UpdateSchedule, error) {
	return read(body, func(v value) (UpdateSchedule, error) { return readUpdateSchedule(v, updateScheduleNames) })
}

// ReadDeleteSchedule decodes the body of a delete.
func ReadDeleteSchedule(body []byte) (UpdateSchedule, error) { return read(body, readDeleteSchedule) }

func readDeleteSchedule(v value) (UpdateSchedule, error) {
	return readUpdateSchedule(v, deleteScheduleNames)
}

func readUpdateSchedule(v value, known []string) (UpdateSchedule, error) {
	var u UpdateSchedule
	err := v.object("", known, func(name string, v value) (err error) {
		switch name {
		case "pending":
			if v.isNull() {
				return nil
			}
			const want = `"keep" or "delete"`
			s, err := v.string(name, want)
			if err == nil && s != "keep" && s != "delete" {
				err = timer.Invalid(name, s, want)
			}
			u.DeletePending = s == "delete"
			return err
		case "ifVersion":
			if !v.isNull() {
				u.IfVersion, err = v.integer(name, 1, schedule.MaxCount, "a version as an answer gave it")
			}
			return err
		}
		if known, err := u.ScheduleSelection.read(name, v); known {
			return err
		}
		return u.ScheduleFields.read(name, v)
	})
	if err == nil {
		err = u.ScheduleSelection.complete()
	}
	return u, err
}

// ReadScheduleSelection decodes a body that names a schedule.
func ReadScheduleSelection(body []byte) (ScheduleSelection, error) {
	var s ScheduleSelection
	err := members(body, scheduleNames, func(name string, v value) error {
		_, err := s.read(name, v)
		return err
	})
	if err == nil {
		err = s.complete()
	}
	return s, err
}

// ReadPauseSchedule decodes the body of a pause.
func ReadPauseSchedule(body []byte) (PauseSchedule, error) {
	var p PauseSchedule
	err := members(body, slices.Concat(scheduleNames, []string{"note"}), func(name string, v value) error {
		if name == "note" {
			return readNote(&p.Note, v)
		}
		_, err := p.ScheduleSelection.read(name, v)
		return err
	})
	if err == nil {
		err = p.ScheduleSelection.complete()
	}
	return p, err
}

// ReadListSchedules decodes the body of a list.
func ReadListSchedules(body []byte) (List, error) {
	m, err := readSchedules(body, filterNames, nil, liveSchedules)
	m.Namespace = cmp.Or(m.Namespace, DefaultNamespace)
	return m.List, err
}

// ReadBackfillSchedule decodes the body of a backfill.
func ReadBackfillSchedule(body []byte) (BackfillSchedule, error) {
	var b BackfillSchedule
	var hasFrom, hasTo bool
	err := members(body, slices.Concat(scheduleNames, []string{"from", "to"}), func(name string, v value) (err error) {
		switch {
		case name == "from" && !v.isNull():
			hasFrom = true
			b.From, err = readInstant(name, v)
		case name == "to" && !v.isNull():
			hasTo = true
			b.To, err = readInstant(name, v)
		default:
			_, err = b.ScheduleSelection.read(name, v)
		}
		return err
	})
	switch {
	case err != nil:
		return b, err
	case !hasFrom:
		return b, timer.Invalid("from", missing{}, "the first instant of the range, an RFC 3339 time")
	case !hasTo:
		return b, timer.Invalid("to", missing{}, "the end of the range, an RFC 3339 time")
	case b.To <= b.From:
		return b, timer.Invalid("to", b.To.String(), "a time after from, which is "+b.From.String())
	}
	return b, b.ScheduleSelection.complete()
}

// CheckPassed checks that the range is not in the future.
func (b *BackfillSchedule) CheckPassed(now timer.Millis) error {
	if b.To > now {
		return timer.Invalid("to", b.To.String(), "a time that has passed")
	}
	return nil
}

// ReadPreviewSchedule decodes the body of a preview.
func ReadPreviewSchedule(body []byte) (PreviewSchedule, error) {
	p := PreviewSchedule{Limit: 10}
	known := slices.Concat(scheduleNames, definitionNames, []string{"from", "limit"})
	err := members(body, known, func(name string, v value) (err error) {
		switch {
		case v.isNull(): // counts as absent
		case name == "limit":
			err = readLimit(&p.Limit, v)
		case name == "from":
			p.From, err = readInstant(name, v)
		default:
			var selects bool
			if selects, err = p.ScheduleSelection.read(name, v); !selects {
				err = p.ScheduleFields.read(name, v)
			}
		}
		return err
	})
	f := &p.ScheduleFields
	p.Namespace = cmp.Or(p.Namespace, DefaultNamespace)
	switch {
	case err != nil:
	case p.ID == "" && !f.specs.given:
		err = timer.Invalid("id", missing{}, "the id of a schedule, or specs")
	case p.ID != "" && f.ChangesOccurrences():
		err = timer.Invalid("id", p.ID, "no id with the fields of a definition, or only the id")
	}
	return p, err
}

// ReadScheduleHistory decodes the body of a request for the history of a schedule.
func ReadScheduleHistory(body []byte) (ScheduleHistory, error) {
	h := ScheduleHistory{Limit: DefaultLimit}
	err := members(body, slices.Concat(scheduleNames, []string{"limit"}), func(name string, v value) error {
		if name == "limit" {
			return readLimit(&h.Limit, v)
		}
		_, err := h.ScheduleSelection.read(name, v)
		return err
	})
	if err == nil {
		err = h.ScheduleSelection.complete()
	}
	return h, err
}

const wantScheduleID = "1 to 200 bytes of UTF-8 without control characters"

// read decodes the field if it belongs to a selection.
func (s *ScheduleSelection) read(name string, v value) (known bool, err error) {
	switch name {
	case "namespace":
		if !v.isNull() {
			s.Namespace, err = readNamespace(name, v)
		}
	case "id":
		if v.isNull() {
			return true, nil
		}
		s.ID, err = v.string(name, wantScheduleID)
		if err == nil && (len(s.ID) > schedule.MaxName || timer.CheckID(s.ID) != nil) {
			err = timer.Invalid(name, raw(v), wantScheduleID)
		}
	default:
		return false, nil
	}
	return true, err
}

func (s *ScheduleSelection) complete() error {
	s.Namespace = cmp.Or(s.Namespace, DefaultNamespace)
	if s.ID == "" {
		return timer.Invalid("id", missing{}, wantScheduleID)
	}
	return nil
}

// read decodes one field of a definition.
func (f *ScheduleFields) read(name string, v value) (err error) {
	switch name {
	case "specs":
		if v.isNull() {
			return timer.Invalid(name, raw(v), wantSpecs)
		}
		f.specs, err = maybe(name, v, readSpecs)
	case "timeZone":
		f.timeZone, err = maybe(name, v, readLabel)
	case "start":
		f.start, err = maybe(name, v, readInstant)
	case "end":
		f.end, err = maybe(name, v, readInstant)
	case "exclude":
		f.exclude, err = maybe(name, v, readExclusions)
	case "gap":
		f.gap, err = maybe(name, v, readLabel)
	case "repeated":
		f.repeated, err = maybe(name, v, readLabel)
	case "count":
		f.count, err = maybe(name, v, func(field string, v value) (int, error) {
			return v.integer(field, 1, schedule.MaxCount, "1 to 1000000000")
		})
	case "overlap":
		f.overlap, err = maybe(name, v, readLabel)
	case "catchUp":
		f.catchUp, err = maybe(name, v, readLabel)
	case "catchUpWindow":
		f.catchUpWindow, err = maybe(name, v, readPositive)
	case "pauseOnDead":
		f.pauseOnDead, err = maybe(name, v, func(field string, v value) (int, error) {
			return v.integer(field, 1, schedule.MaxPauseOnDead, "1 to 1000")
		})
	case "timer":
		f.template, err = maybe(name, v, readTemplate)
	}
	return err
}

func readLabel(field string, v value) (string, error) { return v.string(field, "a text") }

const wantSpecs = `an array of specs, such as [{"cron":"0 8 * * MON-FRI"}]`

// elements decodes the elements of an array of objects.
func elements[T any](field string, v value, most int, want string, read func(path string, v value) (T, error)) ([]T, error) {
	if v[0] != '[' {
		return nil, timer.Invalid(field, raw(v), want)
	}
	var all []T
	var err error
	v.each(func(element value) {
		switch {
		case err != nil:
		case len(all) == most:
			err = timer.Invalid(field, "more", fmt.Sprintf("at most %d elements", most))
		default:
			var one T
			one, err = read(fmt.Sprintf("%s[%d]", field, len(all)), element)
			all = append(all, one)
		}
	})
	return all, err
}

func readSpecs(field string, v value) ([]schedule.Spec, error) {
	return elements(field, v, schedule.MaxSpecs, wantSpecs, func(path string, v value) (s schedule.Spec, err error) {
		if v[0] != '{' {
			return s, timer.Invalid(path, raw(v), wantSpecs)
		}
		err = v.object(path, []string{"cron", "rrule", "dates", "every", "anchor"}, func(name string, v value) (err error) {
			field := path + "." + name
			switch name {
			case "cron":
				s.Cron, err = v.string(field, "a cron expression")
			case "rrule":
				s.RRule, err = v.string(field, "an RRULE of RFC 5545")
			case "dates":
				s.Dates, err = elements(field, v, schedule.MaxDates, "an array of local times such as 2030-12-24T08:00:00", readLabel)
			case "every":
				s.Every, err = readPositive(field, v)
			default:
				s.Anchor, err = readInstant(field, v)
			}
			return err
		})
		return s, err
	})
}

func readExclusions(field string, v value) ([]schedule.Exclusion, error) {
	const want = `an array of exclusions, such as [{"from":"2030-12-24","until":"2030-12-26"}]`
	return elements(field, v, schedule.MaxExclusions, want, func(path string, v value) (e schedule.Exclusion, err error) {
		if v[0] != '{' {
			return e, timer.Invalid(path, raw(v), want)
		}
		err = v.object(path, []string{"from", "until", "rrule"}, func(name string, v value) (err error) {
			field := path + "." + name
			switch name {
			case "from":
				e.From, err = readLabel(field, v)
			case "until":
				e.Until, err = readLabel(field, v)
			default:
				e.RRule, err = v.string(field, "an RRULE of RFC 5545")
			}
			return err
		})
		return e, err
	})
}

// readTemplate decodes the fields of a timer without its time.
func readTemplate(field string, v value) (f Fields, err error) {
	if v[0] != '{' {
		return f, timer.Invalid(field, raw(v), "an object with the fields of a timer")
	}
	err = v.object(field, templateNames, func(name string, v value) error {
		if v.isNull() {
			return nil // counts as absent
		}
		return inField(field, f.read(name, v, false))
	})
	if err == nil {
		f.executeAt = optional[timer.Millis]{given: true}
		err = inField(field, f.complete(true))
	}
	return f, err
}

// inField adds the name of the object to the field in an error.
func inField(object string, err error) error {
	if invalid, ok := err.(*timer.InvalidError); ok { //nolint:errorlint // the errors of this package are not wrapped
		within := *invalid
		within.Field = object + "." + invalid.Field
		return &within
	}
	return err
}

// ChangesOccurrences reports whether the body has fields that determine the instants of occurrences.
func (f *ScheduleFields) ChangesOccurrences() bool {
	return f.specs.given || f.timeZone.given || f.start.given || f.end.given || f.exclude.given || f.gap.given || f.repeated.given
}

// HasTemplate reports whether the body has a template.
func (f *ScheduleFields) HasTemplate() bool { return f.template.given }

// Template returns the spec of the occurrences, with the defaults of the namespace. Its window and its time are not applied.
func (f *ScheduleFields) Template(defaults *store.Settings) (timer.Spec, error) {
	fields := f.template.v
	spec, err := fields.Spec(timer.UUID{}, 0, defaults, nil) // a template has no local time
	spec.ExecuteAt = 0
	return spec, inField("timer", err)
}

// Apply returns a definition with the changes of the body.
func (f *ScheduleFields) Apply(d schedule.Definition) schedule.Definition {
	change(&d.Specs, &f.specs)
	change(&d.TimeZone, &f.timeZone)
	change(&d.Start, &f.start)
	change(&d.End, &f.end)
	change(&d.Exclude, &f.exclude)
	d.Gap = schedule.Gap(changed(string(d.Gap), &f.gap))
	d.Overlap = schedule.Overlap(changed(string(d.Overlap), &f.repeated))
	change(&d.Count, &f.count)
	d.OnOverlap = schedule.Policy(changed(string(d.OnOverlap), &f.overlap))
	if f.catchUp.given && !f.catchUpWindow.given {
		d.CatchUpWindow = 0 // the default, because the present one may not be allowed with this policy
	}
	d.CatchUp = schedule.CatchUp(changed(string(d.CatchUp), &f.catchUp))
	change(&d.CatchUpWindow, &f.catchUpWindow)
	change(&d.PauseOnDead, &f.pauseOnDead)
	return d
}

func change[T any](field *T, o *optional[T]) { *field = changed(*field, o) }

// changed returns the value of a field after an update; null is the zero value.
func changed[T any](present T, o *optional[T]) T {
	if !o.given {
		return present
	}
	return o.v
}
