package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/timerbus/timerbus/pkg/api"
	"github.com/timerbus/timerbus/pkg/client"
	"github.com/timerbus/timerbus/pkg/timer"
)

// definitionFlags determine the instants of the occurrences of a schedule.
type definitionFlags struct {
	crons, rrules, dates         []string
	every                        time.Duration
	anchor, timeZone, start, end string
	excluded                     []string
	gap, repeated                string
}

const (
	dateForm = "2006-01-02"
	timeForm = "2006-01-02T15:04:05"
)

func (f *definitionFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.crons, "cron", nil,
		"cron expression, such as '0 8 * * MON-FRI'; 6 fields begin with seconds; may be repeated")
	c.Flags().StringArrayVar(&f.rrules, "rrule", nil, "RRULE of RFC 5545, such as 'FREQ=MONTHLY;BYDAY=-1FR'; may be repeated")
	c.Flags().StringArrayVar(&f.dates, "date", nil, "a local time, such as 2030-12-24T08:00:00; may be repeated")
	durationFlag(c, &f.every, "every", 0, "interval, such as 15m, at least 1s")
	c.Flags().StringVar(&f.anchor, "anchor", "", "an instant of the interval of --every (default: 1970-01-01T00:00:00Z)")
	c.Flags().StringVar(&f.timeZone, "time-zone", "", "time zone of the IANA database, such as Europe/Berlin (default: UTC)")
	c.Flags().StringVar(&f.start, "start", "", "earliest instant, and the DTSTART of --rrule, such as 2030-01-31T09:00:00Z")
	c.Flags().StringVar(&f.end, "end", "", "first instant after all occurrences")
	c.Flags().StringArrayVar(&f.excluded, "exclude", nil,
		"leave out a date (2030-12-24), dates (2030-12-24..2030-12-26), or those of an RRULE (rrule:FREQ=…); may be repeated")
	c.Flags().StringVar(&f.gap, "gap", "",
		"local times that a change of the clocks skips: next (the first instant after the gap) or skip (default next)")
	c.Flags().StringVar(&f.repeated, "repeated", "", "local times that a change of the clocks repeats: first or both (default first)")
	completeWith(c, "gap", client.GapNext, client.GapSkip)
	completeWith(c, "repeated", client.RepeatedFirst, client.RepeatedBoth)
}

// definitionNames are the flags of a definition. specNames are those of its specs.
func definitionNames() []string {
	return append(specNames(), "anchor", "time-zone", "start", "end", "exclude", "gap", "repeated")
}

func specNames() []string { return []string{"cron", "rrule", "date", "every"} }

func anyChanged(c *cobra.Command, flags ...string) bool {
	for _, flag := range flags {
		if c.Flags().Changed(flag) {
			return true
		}
	}
	return false
}

// specs returns the specs of the flags; nil if there are none. The dates are one spec.
func (f *definitionFlags) specs(c *cobra.Command) ([]client.ScheduleSpec, error) {
	var specs []client.ScheduleSpec
	for _, text := range f.crons {
		if text == "" {
			return nil, usagef(`--cron: "" is not accepted: want an expression such as "0 8 * * MON-FRI"`)
		}
		specs = append(specs, client.ScheduleSpec{Cron: text})
	}
	for _, text := range f.rrules {
		if text == "" {
			return nil, usagef(`--rrule: "" is not accepted: want an RRULE such as "FREQ=MONTHLY;BYDAY=-1FR"`)
		}
		specs = append(specs, client.ScheduleSpec{Rrule: text})
	}
	if len(f.dates) > 0 {
		spec := client.ScheduleSpec{Dates: make([]string, len(f.dates))}
		for i, text := range f.dates {
			at, err := time.Parse(timeForm, text)
			if err != nil {
				at, err = time.Parse("2006-01-02T15:04", text)
			}
			if err != nil {
				return nil, usagef("--date: %q is not accepted: want a local time such as 2030-12-24T08:00:00", text)
			}
			spec.Dates[i] = at.Format(timeForm)
		}
		specs = append(specs, spec)
	}
	if !c.Flags().Changed("every") {
		if c.Flags().Changed("anchor") {
			return nil, usagef("--anchor requires --every")
		}
		return specs, nil
	}
	if f.every < time.Second {
		return nil, usagef("--every: %q is not accepted: want at least 1s", timer.FormatDuration(f.every))
	}
	anchor, err := instant("--anchor", f.anchor)
	return append(specs, client.ScheduleSpec{Every: timer.FormatDuration(f.every), Anchor: anchor}), err
}

// exclusions returns the exclusions of the flags.
func (f *definitionFlags) exclusions() ([]client.ScheduleExclusion, error) {
	all := make([]client.ScheduleExclusion, len(f.excluded))
	for i, text := range f.excluded {
		if rule, ok := strings.CutPrefix(text, "rrule:"); ok && rule != "" {
			all[i].Rrule = rule
			continue
		}
		from, until, isRange := strings.Cut(text, "..")
		_, err := time.Parse(dateForm, from)
		if isRange && err == nil {
			_, err = time.Parse(dateForm, until)
		}
		if err != nil || isRange && until < from {
			const want = "2030-12-24, 2030-12-24..2030-12-26 or rrule:FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=1"
			return nil, usagef("--exclude: %q is not accepted: want a form such as %s", text, want)
		}
		all[i].From, all[i].Until = from, until
	}
	return all, nil
}

// definition returns the definition of the flags, as a preview wants it.
func (f *definitionFlags) definition(c *cobra.Command) (d client.PreviewScheduleRequest, err error) {
	d.TimeZone, d.Gap, d.Repeated = f.timeZone, api.ScheduleGap(f.gap), api.ScheduleRepeated(f.repeated)
	if d.Specs, err = f.specs(c); err != nil {
		return d, err
	}
	if d.Start, err = instant("--start", f.start); err != nil {
		return d, err
	}
	if d.End, err = instant("--end", f.end); err != nil {
		return d, err
	}
	d.Exclude, err = f.exclusions()
	return d, err
}

// changes copies the given flags to an update.
func (f *definitionFlags) changes(c *cobra.Command, request *client.UpdateScheduleRequest) error {
	d, err := f.definition(c)
	if err != nil {
		return err
	}
	request.Specs = d.Specs
	given := func(flag string, set func()) {
		if c.Flags().Changed(flag) {
			set()
		}
	}
	given("time-zone", func() { request.TimeZone = client.Set(f.timeZone) })
	given("start", func() { request.Start = client.Set(d.Start) })
	given("end", func() { request.End = client.Set(d.End) })
	given("exclude", func() { request.Exclude = client.Set(d.Exclude) })
	given("gap", func() { request.Gap = client.Set(f.gap) })
	given("repeated", func() { request.Repeated = client.Set(f.repeated) })
	return nil
}

// changed returns the definition of a schedule after an update.
func changed(s *client.Schedule, u *client.UpdateScheduleRequest) client.PreviewScheduleRequest {
	d := client.PreviewScheduleRequest{
		Namespace: s.Namespace, Specs: s.Specs, TimeZone: withChange(s.TimeZone, u.TimeZone), Start: withChange(s.Start, u.Start),
		End: withChange(s.End, u.End), Exclude: withChange(s.Exclude, u.Exclude),
		Gap:      api.ScheduleGap(withChange(string(s.Gap), u.Gap)),
		Repeated: api.ScheduleRepeated(withChange(string(s.Repeated), u.Repeated)),
	}
	if u.Specs != nil {
		d.Specs = u.Specs
	}
	return d
}

// withChange returns the value of a field after a change.
func withChange[T any](present T, change client.Change[T]) T {
	if v, ok := change.Value(); ok || change.Cleared() {
		return v
	}
	return present
}

// policyFlags say which occurrences a schedule creates.
type policyFlags struct {
	count, pauseOnDead int
	overlap, catchUp   string
	window             time.Duration
}

func (f *policyFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&f.count, "count", 0, "how many occurrences the schedule creates in all (default: no limit)")
	c.Flags().StringVar(&f.overlap, "overlap", "",
		"if an earlier occurrence is not finished: allow, skip, queue or cancelOther (default allow)")
	c.Flags().StringVar(&f.catchUp, "catch-up", "",
		"occurrences that an outage delayed by more than 10s: all (of the window), last or none (default all)")
	durationFlag(c, &f.window, "catch-up-window", 0, "how late these may be, 10s to 365d (default 1m)")
	c.Flags().IntVar(&f.pauseOnDead, "pause-on-dead", 0, "pause the schedule when so many occurrences in a row are dead, 1 to 1000")
	completeWith(c, "overlap", client.OverlapAllow, client.OverlapSkip, client.OverlapQueue, client.OverlapCancelOther)
	completeWith(c, "catch-up", client.CatchUpAll, client.CatchUpLast, client.CatchUpNone)
}

func (f *policyFlags) check(c *cobra.Command) error {
	if err := positive(c, "count", f.count); err != nil {
		return err
	}
	return positive(c, "pause-on-dead", f.pauseOnDead)
}

func describeSpec(s *client.ScheduleSpec) string {
	switch {
	case s.Cron != "":
		return "cron " + s.Cron
	case s.Rrule != "":
		return "rrule " + s.Rrule
	case len(s.Dates) > 3:
		return fmt.Sprintf("%d dates, %s …", len(s.Dates), s.Dates[0])
	case len(s.Dates) > 0:
		return "dates " + strings.Join(s.Dates, ", ")
	case s.Anchor.IsZero():
		return "every " + s.Every
	default:
		return "every " + s.Every + " from " + s.Anchor.String()
	}
}

// describeExclusion returns an exclusion in the form that --exclude accepts.
func describeExclusion(e *client.ScheduleExclusion) string {
	switch {
	case e.Rrule != "":
		return "rrule:" + e.Rrule
	case e.Until != "":
		return e.From + ".." + e.Until
	default:
		return e.From
	}
}

// templateClears are the values of --clear for fields of the template.
var templateClears = map[string]func(*client.CreateTimerRequest){
	"callback-timeout": func(t *client.CreateTimerRequest) { t.CallbackTimeout, t.CallbackTimeoutSeconds = "", 0 },
	"callback-url":     func(t *client.CreateTimerRequest) { t.CallbackURL = "" },
	"correlation-id":   func(t *client.CreateTimerRequest) { t.CorrelationID = "" },
	"deliver":          func(t *client.CreateTimerRequest) { t.Deliver = "" },
	"expire-after":     func(t *client.CreateTimerRequest) { t.ExpireAfter = "" },
	"flow-key":         func(t *client.CreateTimerRequest) { t.FlowKey = "" },
	"header":           func(t *client.CreateTimerRequest) { t.Headers = nil },
	"key":              func(t *client.CreateTimerRequest) { t.Key = "" },
	"on-dead":          func(t *client.CreateTimerRequest) { t.OnDead = "" },
	"on-done":          func(t *client.CreateTimerRequest) { t.OnDone = "" },
	"payload":          func(t *client.CreateTimerRequest) { t.Payload = nil },
	"request":          func(t *client.CreateTimerRequest) { t.Request = client.TimerRequest{} },
	"retry":            func(t *client.CreateTimerRequest) { t.RetryPolicy = client.RetryPolicyInput{} },
	"topic":            func(t *client.CreateTimerRequest) { t.Topic, t.Key = "", "" }, // a key has no meaning without a topic
	"window":           func(t *client.CreateTimerRequest) { t.Window = "" },
}

// definitionClears are the other values of --clear.
var definitionClears = map[string]func(*client.UpdateScheduleRequest){
	"catch-up":        func(u *client.UpdateScheduleRequest) { u.CatchUp = client.Clear[string]() },
	"catch-up-window": func(u *client.UpdateScheduleRequest) { u.CatchUpWindow = client.Clear[string]() },
	"count":           func(u *client.UpdateScheduleRequest) { u.Count = client.Clear[int]() },
	"end":             func(u *client.UpdateScheduleRequest) { u.End = client.Clear[client.Instant]() },
	"exclude":         func(u *client.UpdateScheduleRequest) { u.Exclude = client.Clear[[]client.ScheduleExclusion]() },
	"gap":             func(u *client.UpdateScheduleRequest) { u.Gap = client.Clear[string]() },
	"overlap":         func(u *client.UpdateScheduleRequest) { u.Overlap = client.Clear[string]() },
	"pause-on-dead":   func(u *client.UpdateScheduleRequest) { u.PauseOnDead = client.Clear[int]() },
	"repeated":        func(u *client.UpdateScheduleRequest) { u.Repeated = client.Clear[string]() },
	"start":           func(u *client.UpdateScheduleRequest) { u.Start = client.Clear[client.Instant]() },
	"time-zone":       func(u *client.UpdateScheduleRequest) { u.TimeZone = client.Clear[string]() },
}

// indexed matches the field of an error that is about an element of specs or exclude.
var indexed = regexp.MustCompile(`^(specs|exclude)\[(\d+)\]`)

// nameFlag adds a hint to the service's error about a field: which flag has the value.
func nameFlag(c *cobra.Command, specs []client.ScheduleSpec, f *definitionFlags, err error) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code != client.CodeInvalidInput {
		return err
	}
	field, _ := refused.Details["field"].(string)
	found := ""
	if m := indexed.FindStringSubmatch(field); m != nil {
		i, _ := strconv.Atoi(m[2])
		switch {
		case m[1] == "specs" && i < len(specs):
			found = specFlag(&specs[i])
		case m[1] == "exclude" && i < len(f.excluded):
			found = "--exclude " + strconv.Quote(f.excluded[i])
		}
	} else if flag := kebab(field[strings.LastIndexByte(field, '.')+1:]); c.Flags().Changed(flag) {
		found = "--" + flag
	}
	if found == "" {
		return err
	}
	return hintedError{err, "The value is from " + found + "."}
}

// specFlag returns the flag of a spec with its value.
func specFlag(s *client.ScheduleSpec) string {
	switch {
	case s.Cron != "":
		return "--cron " + strconv.Quote(s.Cron)
	case s.Rrule != "":
		return "--rrule " + strconv.Quote(s.Rrule)
	case len(s.Dates) > 0:
		return "--date"
	default:
		return "--every"
	}
}

// kebab returns a name of the API in the form of a flag: time-zone for timeZone.
func kebab(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
