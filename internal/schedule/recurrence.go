package schedule

import (
	"fmt"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// Spec is one source of occurrences. Exactly one of Cron, RRule, Dates and Every is set.
type Spec struct {
	Cron  string `json:"cron,omitempty"`
	RRule string `json:"rrule,omitempty"`
	// Dates are local times, in the form 2006-01-02T15:04:05.
	Dates []string `json:"dates,omitempty"`
	// Every is an interval between instants, at least MinEvery: Anchor plus a multiple of Every, also before Anchor.
	Every  time.Duration `json:"every,omitempty"`
	Anchor timer.Millis  `json:"anchor,omitzero"`
}

// Exclusion leaves out occurrences. Exactly one of the two is set: the local dates from From to Until inclusive, in the form
// 2006-01-02, or the dates on which an RRULE has an occurrence.
type Exclusion struct {
	From  string `json:"from,omitempty"`
	Until string `json:"until,omitempty"`
	RRule string `json:"rrule,omitempty"`
}

// Settings describe the occurrences of a schedule.
type Settings struct {
	Specs []Spec `json:"specs"`
	// TimeZone is a name of the IANA database. Empty: UTC.
	TimeZone string `json:"timeZone,omitempty"`
	// Start is the earliest instant of an occurrence, and the DTSTART of RRULEs. 0: there is none, and RRULEs begin at
	// 1970-01-01T00:00:00 local time. End is the first instant after all occurrences; 0: there is none.
	Start   timer.Millis `json:"start,omitzero"`
	End     timer.Millis `json:"end,omitzero"`
	Exclude []Exclusion  `json:"exclude,omitempty"`
	Gap     Gap          `json:"gap,omitempty"`
	Overlap Overlap      `json:"overlap,omitempty"`
}

const (
	// MaxSpecs bounds the specs of a schedule, MaxExclusions its exclusions, and MaxDates the dates of a spec.
	MaxSpecs      = 16
	MaxExclusions = 64
	MaxDates      = 1000
	// MinEvery is the shortest interval.
	MinEvery = time.Second

	dateForm = "2006-01-02"
	timeForm = "2006-01-02T15:04:05"
)

// Occurrence is one occurrence of a schedule.
type Occurrence struct {
	At timer.Millis
	// Local is At in the schedule's zone, in the form of RFC 3339.
	Local  string
	Remark Remark
}

// Recurrence computes the occurrences of a schedule. It can be used by several goroutines.
type Recurrence struct {
	zone       *time.Location
	rules      []rule
	intervals  []Spec
	start, end timer.Millis
	without    []*ruleRule // occurrences on their dates are left out
	ranges     []dateRange
	gap        Gap
	overlap    Overlap
}

// dateRange is from 00:00 of one local date to 00:00 after another one.
type dateRange struct{ from, until local }

// New checks settings. zones finds a time zone by its name, as time.LoadLocation does.
func New(s *Settings, zones func(name string) (*time.Location, error)) (*Recurrence, error) {
	r := &Recurrence{start: s.Start, end: s.End, gap: s.Gap, overlap: s.Overlap}
	var err error
	if r.zone, err = loadZone(s.TimeZone, zones); err != nil {
		return nil, err
	}
	switch r.gap {
	case "":
		r.gap = GapNext
	case GapNext, GapSkip:
	default:
		return nil, timer.Invalid("gap", string(s.Gap), `"next" or "skip"`)
	}
	switch r.overlap {
	case "":
		r.overlap = OverlapFirst
	case OverlapFirst, OverlapBoth:
	default:
		return nil, timer.Invalid("repeated", string(s.Overlap), `"first" or "both"`)
	}
	if s.End != 0 && s.End <= s.Start {
		return nil, timer.Invalid("end", s.End, "after start, "+s.Start.String())
	}
	if n := len(s.Specs); n < 1 || n > MaxSpecs {
		return nil, timer.Invalid("specs", fmt.Sprintf("%d specs", n), fmt.Sprintf("1 to %d", MaxSpecs))
	}
	begin := time.Unix(0, 0).UTC()
	if s.Start != 0 {
		at := s.Start.Time().In(r.zone)
		begin = time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
	}
	for i := range s.Specs {
		if err := r.add(fmt.Sprintf("specs[%d]", i), &s.Specs[i], begin); err != nil {
			return nil, err
		}
	}
	return r, r.exclude(s.Exclude, begin)
}

func loadZone(name string, zones func(string) (*time.Location, error)) (*time.Location, error) {
	switch name {
	case "":
		return time.UTC, nil
	case "Local":
		return nil, timer.Invalid("timeZone", name, `a name of the IANA database, such as "Europe/Berlin"`)
	}
	zone, err := zones(name)
	if err != nil {
		return nil, timer.Invalid("timeZone", name, `a name of the IANA database, such as "Europe/Berlin"`)
	}
	return zone, nil
}

// add adds a spec.
func (r *Recurrence) add(field string, s *Spec, begin local) (err error) {
	given := 0
	for _, is := range []bool{s.Cron != "", s.RRule != "", len(s.Dates) > 0, s.Every != 0} {
		if is {
			given++
		}
	}
	if given != 1 {
		return timer.Invalid(field, fmt.Sprintf("%d of them", given), "exactly one of cron, rrule, dates and every")
	}
	var added rule
	switch {
	case s.Cron != "":
		added, err = parseCron(field+".cron", s.Cron)
	case s.RRule != "":
		added, err = parseRRule(field+".rrule", s.RRule, begin, r.zone)
	case len(s.Dates) > 0:
		added, err = parseDates(field+".dates", s.Dates)
	case s.Every < MinEvery || s.Every%time.Millisecond != 0:
		return timer.Invalid(field+".every", s.Every, `"1s" or longer, in whole milliseconds`)
	default:
		r.intervals = append(r.intervals, *s)
		return nil
	}
	r.rules = append(r.rules, added)
	return err
}

func parseDates(field string, texts []string) (rule, error) {
	if len(texts) > MaxDates {
		return nil, timer.Invalid(field, fmt.Sprintf("%d dates", len(texts)), fmt.Sprintf("at most %d", MaxDates))
	}
	var all dates
	for _, text := range texts {
		at, err := time.Parse(timeForm, text)
		if err != nil {
			return nil, timer.Invalid(field, text, "local times such as "+timeForm)
		}
		all = append(all, at)
	}
	slices.SortFunc(all, local.Compare)
	return all, nil
}

func (r *Recurrence) exclude(all []Exclusion, begin local) error {
	if len(all) > MaxExclusions {
		return timer.Invalid("exclude", fmt.Sprintf("%d exclusions", len(all)), fmt.Sprintf("at most %d", MaxExclusions))
	}
	for i, e := range all {
		field := fmt.Sprintf("exclude[%d]", i)
		if e.RRule != "" {
			if e.From != "" || e.Until != "" {
				return timer.Invalid(field, e.RRule, "either from and until, or rrule")
			}
			// Only the dates of the RRULE count.
			without, err := parseRRule(field+".rrule", e.RRule, begin.Truncate(24*time.Hour), r.zone)
			if err != nil {
				return err
			}
			r.without = append(r.without, without)
			continue
		}
		from, err := time.Parse(dateForm, e.From)
		if err != nil {
			return timer.Invalid(field+".from", e.From, "a date such as "+dateForm)
		}
		until := from
		if e.Until != "" {
			if until, err = time.Parse(dateForm, e.Until); err != nil || until.Before(from) {
				return timer.Invalid(field+".until", e.Until, "a date such as "+dateForm+", not before from")
			}
		}
		r.ranges = append(r.ranges, dateRange{from, until.AddDate(0, 0, 1)})
	}
	return nil
}

// maxExcluded bounds how many dates with excluded occurrences After passes over; a range of dates counts as one or two a year. If all
// of them are excluded, there is no further occurrence. maxExclusionSteps bounds the steps of the RRULEs among the exclusions.
const (
	maxExcluded       = 4000
	maxExclusionSteps = 10 * maxSteps
)

// After returns the first occurrence after an instant. ok is false if there is none.
func (r *Recurrence) After(at timer.Millis) (o Occurrence, ok bool) {
	at = max(at, r.start-1)
	if at >= timer.MaxMillis {
		return o, false
	}
	steps := maxExclusionSteps
	ended := make([]bool, len(r.rules)) // a search that finds nothing is the longest, so it is not repeated
	for range maxExcluded {
		m, found := r.next(at, ended)
		if !found || m.at.Year() > lastYear || r.end != 0 && millis(m.at) >= r.end {
			return o, false
		}
		end, excluded := r.excluded(m.at, &steps)
		if steps <= 0 {
			return o, false
		}
		if !excluded {
			return Occurrence{At: millis(m.at), Local: m.at.In(r.zone).Format(time.RFC3339), Remark: m.remark}, true
		}
		at = max(millis(m.at), millis(end)-1)
	}
	return o, false
}

// next returns the earliest instant of all rules after at. It sets the members of ended for rules that have none, and leaves out these
// rules.
func (r *Recurrence) next(at timer.Millis, ended []bool) (first moment, found bool) {
	after := time.UnixMilli(int64(at)).UTC()
	for i, rule := range r.rules {
		if ended[i] {
			continue
		}
		m, ok := nextIn(r.zone, rule, after, r.gap, r.overlap)
		ended[i] = !ok
		if ok && (!found || m.at.Before(first.at) || m.at.Equal(first.at) && first.remark == RemarkGap) {
			first, found = m, true
		}
	}
	for _, s := range r.intervals {
		every := s.Every.Milliseconds()
		next := s.Anchor + timer.Millis((floorDiv(int64(at-s.Anchor), every)+1)*every)
		m := moment{at: next.Time()}
		if !found || m.at.Before(first.at) {
			first, found = m, true
		}
	}
	return first, found
}

// excluded reports whether the occurrence at an instant is left out. If it is, those before end are left out as well.
func (r *Recurrence) excluded(at time.Time, steps *int) (end time.Time, excluded bool) {
	if len(r.ranges)+len(r.without) == 0 {
		return end, false
	}
	in := at.In(r.zone)
	date := time.Date(in.Year(), in.Month(), in.Day(), 0, 0, 0, 0, time.UTC)
	var until local
	for _, d := range r.ranges {
		if !date.Before(d.from) && date.Before(d.until) && d.until.After(until) {
			until, excluded = d.until, true
		}
	}
	if !excluded && slices.ContainsFunc(r.without, func(without *ruleRule) bool { return without.on(date, steps) }) {
		until, excluded = date.AddDate(0, 0, 1), true
	}
	if !excluded {
		return end, false
	}
	// After a change of the zone's offset, the local time may be on the same dates again, or on later ones.
	p := periodAt(r.zone, at)
	end = p.toInstant(until)
	if !p.until.IsZero() && p.until.Before(end) {
		end = p.until
	}
	return end, true
}

// Zone returns the name of the time zone.
func (r *Recurrence) Zone() string { return r.zone.String() }

// Gaps returns the policy for skipped local times, with its default.
func (r *Recurrence) Gaps() Gap { return r.gap }

// Overlaps returns the policy for repeated local times, with its default.
func (r *Recurrence) Overlaps() Overlap { return r.overlap }
