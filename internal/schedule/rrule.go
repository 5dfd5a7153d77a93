package schedule

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// frequency is the FREQ of an RRULE.
type frequency int

const (
	yearly frequency = iota
	monthly
	weekly
	daily
	hourly
	minutely
	secondly
)

var (
	frequencies  = []string{"YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"}
	weekdayNames = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}
)

// Seconds.
const (
	perMinute int64 = 60
	perHour         = 60 * perMinute
	perDay          = 24 * perHour
)

// ruleRule is an RRULE of RFC 5545 with its DTSTART. Times are seconds since 1970 of a local time, and days are days since 1970.
//
// The RFC leaves four questions open. If DTSTART does not match the rule, it is no occurrence. The period of a yearly rule with BYWEEKNO
// is the year of the weeks, which may begin in December or end in January. BYMONTH limits the days of a weekly rule, not its weeks. The
// parts of a yearly rule that name days must all match.
type ruleRule struct {
	freq         frequency
	interval     int64
	firstWeekday time.Weekday // WKST
	begin, until int64        // both inclusive

	// Empty parts do not limit the occurrences. Negative numbers count from the end.
	months, weekNumbers, yearDays, monthDays []int
	weekdays                                 []weekday
	hours, minutes, seconds                  []int
	positions                                []int // BYSETPOS
}

// weekday is a day of the week: the nth one of the month or year, or each one if nth is 0.
type weekday struct {
	nth int
	day time.Weekday
}

const wantRRule = `an RRULE of RFC 5545, such as "FREQ=MONTHLY;BYDAY=-1FR"; start is its DTSTART`

// maxInterval bounds INTERVAL, so that periods can be computed without overflow.
const maxInterval = 100_000_000

// maxSteps bounds how many days and periods a search for an occurrence looks at, which takes up to about 20 ms. No occurrence within
// this bound counts as none. Rules of days need 40 years at most if INTERVAL is 1, which are 14,610 steps.
const maxSteps = 200_000

// parseRRule parses an RRULE, which begins at a local time. An UNTIL in UTC is translated to the zone.
func parseRRule(field, text string, begin local, zone *time.Location) (*ruleRule, error) {
	r := &ruleRule{interval: 1, firstWeekday: time.Monday, begin: begin.Unix()}
	r.until = time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC).Unix() - 1
	count, err := r.parse(text, zone)
	if err == nil {
		err = r.check()
	}
	if err == nil {
		r.complete(begin)
		err = r.limit(count)
	}
	if err != nil {
		return nil, timer.Invalid(field, text, fmt.Sprintf("%s (%v)", wantRRule, err))
	}
	return r, nil
}

// parse reads the parts of an RRULE. It returns COUNT, or 0.
func (r *ruleRule) parse(text string, zone *time.Location) (count int64, err error) {
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(text)), "RRULE:"), ";") {
		name, value, _ := strings.Cut(part, "=")
		if _, twice := parts[name]; twice {
			return 0, fmt.Errorf("%s is given twice", name)
		}
		parts[name] = value
	}
	freq := slices.Index(frequencies, parts["FREQ"])
	if freq < 0 {
		return 0, fmt.Errorf("FREQ=%s: want %s", parts["FREQ"], strings.Join(frequencies, ", "))
	}
	r.freq = frequency(freq)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		value := parts[name]
		switch name {
		case "FREQ":
		case "INTERVAL":
			r.interval, err = number(value, maxInterval)
		case "COUNT":
			count, err = number(value, maxSteps)
		case "UNTIL":
			r.until, err = parseUntil(value, zone, r.until)
		case "WKST":
			r.firstWeekday, err = parseWeekday(value)
		case "BYDAY":
			r.weekdays, err = parseWeekdays(value)
		default:
			err = r.parseNumbers(name, value)
		}
		if err != nil {
			return 0, fmt.Errorf("%s=%s: %w", name, value, err)
		}
	}
	if _, ends := parts["UNTIL"]; ends && count > 0 {
		return 0, fmt.Errorf("either COUNT or UNTIL")
	}
	return count, nil
}

func number(text string, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("want 1 to %d", most)
	}
	return n, nil
}

// parseUntil returns the last second that may be an occurrence.
func parseUntil(text string, zone *time.Location, last int64) (int64, error) {
	at, err := time.Parse("20060102T150405", text)
	if utc, isUTC := strings.CutSuffix(text, "Z"); isUTC {
		if at, err = time.Parse("20060102T150405", utc); err == nil {
			_, offset := at.In(zone).Zone()
			at = at.Add(time.Duration(offset) * time.Second)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("want a date and a time, such as 20301231T235959 in the zone of the schedule, or 20301231T235959Z in UTC")
	}
	return min(last, at.Unix()), nil
}

func parseWeekday(text string) (time.Weekday, error) {
	i := slices.Index(weekdayNames, text)
	if i < 0 {
		return 0, fmt.Errorf("want %s", strings.Join(weekdayNames, ", "))
	}
	return time.Weekday(i), nil
}

func parseWeekdays(text string) (all []weekday, err error) {
	for name := range strings.SplitSeq(text, ",") {
		d := weekday{}
		split := max(0, len(name)-len("MO"))
		if d.day, err = parseWeekday(name[split:]); err != nil {
			return nil, err
		}
		if split > 0 {
			if d.nth, err = strconv.Atoi(name[:split]); err != nil || d.nth == 0 || d.nth < -53 || d.nth > 53 {
				return nil, fmt.Errorf("want a number from 1 to 53 or -53 to -1 before the day")
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// parseNumbers reads a part that is a list of numbers.
func (r *ruleRule) parseNumbers(name, value string) error {
	var (
		part      *[]int
		low, high int
	)
	switch name {
	case "BYMONTH":
		part, low, high = &r.months, 1, 12
	case "BYWEEKNO":
		part, low, high = &r.weekNumbers, -53, 53
	case "BYYEARDAY":
		part, low, high = &r.yearDays, -366, 366
	case "BYMONTHDAY":
		part, low, high = &r.monthDays, -31, 31
	case "BYHOUR":
		part, high = &r.hours, 23
	case "BYMINUTE":
		part, high = &r.minutes, 59
	case "BYSECOND":
		part, high = &r.seconds, 59
	case "BYSETPOS":
		part, low, high = &r.positions, -366, 366
	default:
		return fmt.Errorf("there is no such part")
	}
	for text := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < low || n > high || n == 0 && low < 0 {
			if low < 0 {
				return fmt.Errorf("want numbers from 1 to %d or %d to -1", high, low)
			}
			return fmt.Errorf("want numbers from %d to %d", low, high)
		}
		*part = append(*part, n)
	}
	slices.Sort(*part)
	*part = slices.Compact(*part)
	return nil
}

// check refuses combinations that the RFC forbids. Libraries disagree about them.
func (r *ruleRule) check() error {
	freq := frequencies[r.freq]
	numbered := slices.ContainsFunc(r.weekdays, func(d weekday) bool { return d.nth != 0 })
	switch {
	case len(r.weekNumbers) > 0 && r.freq != yearly:
		return fmt.Errorf("BYWEEKNO cannot be used with FREQ=%s", freq)
	case len(r.yearDays) > 0 && (r.freq == monthly || r.freq == weekly || r.freq == daily):
		return fmt.Errorf("BYYEARDAY cannot be used with FREQ=%s", freq)
	case len(r.monthDays) > 0 && r.freq == weekly:
		return fmt.Errorf("BYMONTHDAY cannot be used with FREQ=%s", freq)
	case numbered && r.freq > monthly:
		return fmt.Errorf("numbers in BYDAY cannot be used with FREQ=%s", freq)
	case numbered && len(r.weekNumbers) > 0:
		return fmt.Errorf("numbers in BYDAY cannot be used with BYWEEKNO")
	case len(r.positions) > 0 && !r.limitsDays() && len(r.hours)+len(r.minutes)+len(r.seconds) == 0:
		return fmt.Errorf("BYSETPOS needs another part that begins with BY")
	}
	return nil
}

// limitsDays reports whether there are days without an occurrence.
func (r *ruleRule) limitsDays() bool {
	return len(r.months)+len(r.weekNumbers)+len(r.yearDays)+len(r.monthDays)+len(r.weekdays) > 0
}

// complete takes from DTSTART what the rule does not say.
func (r *ruleRule) complete(begin local) {
	if len(r.yearDays)+len(r.monthDays)+len(r.weekdays) == 0 {
		switch {
		case r.freq == weekly, len(r.weekNumbers) > 0:
			r.weekdays = []weekday{{day: begin.Weekday()}}
		case r.freq == monthly:
			r.monthDays = []int{begin.Day()}
		case r.freq == yearly:
			r.monthDays = []int{begin.Day()}
			if len(r.months) == 0 {
				r.months = []int{int(begin.Month())}
			}
		}
	}
	if r.freq < hourly && len(r.hours) == 0 {
		r.hours = []int{begin.Hour()}
	}
	if r.freq < minutely && len(r.minutes) == 0 {
		r.minutes = []int{begin.Minute()}
	}
	if r.freq < secondly && len(r.seconds) == 0 {
		r.seconds = []int{begin.Second()}
	}
}

// limit sets until to the last one of a number of occurrences, so that searches can begin anywhere. 0 is no limit.
func (r *ruleRule) limit(count int64) error {
	if count == 0 {
		return nil
	}
	steps := maxSteps
	for at := range r.occurrences(r.begin-1, r.until, &steps) {
		steps--
		if count--; count == 0 {
			r.until = at
			return nil
		}
	}
	if steps <= 0 {
		return fmt.Errorf("the last of COUNT occurrences is too far away: use UNTIL, or the count or the end of the schedule")
	}
	return nil
}

func (r *ruleRule) after(at local) (local, bool) {
	steps := maxSteps
	for next := range r.occurrences(at.Unix(), r.until, &steps) {
		return time.Unix(next, 0).UTC(), true
	}
	return local{}, false
}

// on reports whether the rule has an occurrence on a day, which is given as its midnight. It subtracts its steps.
func (r *ruleRule) on(midnight local, steps *int) bool {
	begin := midnight.Unix()
	for range r.occurrences(begin-1, min(r.until, begin+perDay-1), steps) {
		return true
	}
	return false
}

// occurrences yields the occurrences after the time after and until the time until, in order, while there are steps left.
func (r *ruleRule) occurrences(after, until int64, steps *int) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		after := max(after, r.begin-1)
		first := r.period(r.begin)
		// p is the last period that begins before or at the time; it may contain earlier occurrences only.
		p := first + max(0, floorDiv(r.period(after)-first, r.interval))*r.interval
		c := candidates{}
		for *steps > 0 {
			begin := r.start(p)
			if begin > until {
				return
			}
			if later := r.skip(begin); later > begin {
				*steps--
				p = first + ceilDiv(r.period(later)-first, r.interval)*r.interval
				continue
			}
			end := r.start(p + 1)
			if r.freq < hourly && len(r.positions) == 0 { // the positions count in the whole period
				begin, end = max(begin, floorDiv(after, perDay)*perDay), min(end, until+1)
			}
			*steps -= c.fill(r, begin, end)
			if !c.yield(r.positions, after, func(at int64) bool { return at <= until && yield(at) }) {
				return
			}
			p += r.interval
		}
	}
}

// skip returns the second from which the next period of a rule of hours, minutes or seconds may have an occurrence, if the one that
// begins at a time has none. Otherwise it returns this time.
func (r *ruleRule) skip(at int64) int64 {
	clock := at - floorDiv(at, perDay)*perDay
	switch {
	case r.freq < hourly:
		return at
	case !r.matches(floorDiv(at, perDay)):
		return at - clock + perDay
	case len(r.hours) > 0 && !slices.Contains(r.hours, int(clock/perHour)):
		return at - clock%perHour + perHour
	case r.freq > hourly && len(r.minutes) > 0 && !slices.Contains(r.minutes, int(clock%perHour/perMinute)):
		return at - clock%perMinute + perMinute
	case r.freq == secondly && len(r.seconds) > 0 && !slices.Contains(r.seconds, int(clock%perMinute)):
		return at + 1
	}
	return at
}

// matches reports whether there may be occurrences on a day.
func (r *ruleRule) matches(d int64) bool {
	if !r.limitsDays() {
		return true
	}
	at := time.Unix(d*perDay, 0).UTC()
	year, month, monthDay := at.Date()
	if len(r.months) > 0 && !slices.Contains(r.months, int(month)) || !contains(r.monthDays, monthDay, monthLength(year, month)) {
		return false
	}
	if len(r.yearDays) > 0 && !contains(r.yearDays, at.YearDay(), yearLength(year)) {
		return false
	}
	if len(r.weekNumbers) > 0 {
		weekYear := r.weekYear(d)
		begin, end := r.firstWeek(weekYear), r.firstWeek(weekYear+1)
		if !contains(r.weekNumbers, int((d-begin)/7)+1, int((end-begin)/7)) {
			return false
		}
	}
	return len(r.weekdays) == 0 || slices.ContainsFunc(r.weekdays, func(w weekday) bool {
		if w.nth == 0 || w.day != at.Weekday() {
			return w.day == at.Weekday()
		}
		// The number counts in the month, or in the year if the rule is yearly without months.
		n, length := monthDay, monthLength(year, month)
		if r.freq == yearly && len(r.months) == 0 {
			n, length = at.YearDay(), yearLength(year)
		}
		return w.nth == (n+6)/7 || w.nth == -(length-n+7)/7
	})
}

// contains reports whether n of so many is in a part of a rule, which may count from the end. All numbers are in an empty part.
func contains(part []int, n, length int) bool {
	return len(part) == 0 || slices.Contains(part, n) || slices.Contains(part, n-length-1)
}

// period returns the number of the period of the rule's frequency that contains a time.
func (r *ruleRule) period(at int64) int64 {
	d := floorDiv(at, perDay)
	switch r.freq {
	case yearly:
		if len(r.weekNumbers) > 0 {
			return int64(r.weekYear(d))
		}
		return int64(time.Unix(at, 0).UTC().Year())
	case monthly:
		year, month, _ := time.Unix(at, 0).UTC().Date()
		return int64(year)*12 + int64(month) - 1
	case weekly:
		return floorDiv(d-r.weekOffset(), 7)
	case daily:
		return d
	case hourly:
		return floorDiv(at, perHour)
	case minutely:
		return floorDiv(at, perMinute)
	default:
		return at
	}
}

// start returns the first second of a period.
func (r *ruleRule) start(p int64) int64 {
	switch r.freq {
	case yearly:
		if len(r.weekNumbers) > 0 {
			return r.firstWeek(int(p)) * perDay
		}
		return firstOf(int(p), 1) * perDay
	case monthly:
		return firstOf(0, time.Month(p+1)) * perDay
	case weekly:
		return (p*7 + r.weekOffset()) * perDay
	case daily:
		return p * perDay
	case hourly:
		return p * perHour
	case minutely:
		return p * perMinute
	default:
		return p
	}
}

// weekOffset returns a day on which a week begins. 4 January 1970 was a Sunday.
func (r *ruleRule) weekOffset() int64 { return 3 + int64(r.firstWeekday) }

// firstWeek returns the first day of week 1 of a year, which contains 4 January.
func (r *ruleRule) firstWeek(year int) int64 {
	return floorDiv(firstOf(year, 1)+3-r.weekOffset(), 7)*7 + r.weekOffset()
}

// weekYear returns the year to whose weeks a day belongs: that of the fourth day of its week.
func (r *ruleRule) weekYear(d int64) int {
	fourth := floorDiv(d-r.weekOffset(), 7)*7 + r.weekOffset() + 3
	return time.Unix(fourth*perDay, 0).UTC().Year()
}

// firstOf returns the first day of a month.
func firstOf(year int, month time.Month) int64 {
	return floorDiv(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Unix(), perDay)
}

func yearLength(year int) int {
	if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		return 366
	}
	return 365
}

func monthLength(year int, month time.Month) int {
	switch month {
	case time.February:
		return yearLength(year) - 337
	case time.April, time.June, time.September, time.November:
		return 30
	default:
		return 31
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// candidates are the times of a period that match a rule, before BYSETPOS: each second of each minute of each hour of each day.
type candidates struct {
	days                    []int64
	hours, minutes, seconds []int
	clock                   [3]int
}

// fill finds the candidates of a rule from begin to before end, in one period. It returns how many days it looked at.
func (c *candidates) fill(r *ruleRule, begin, end int64) (looked int) {
	c.days = c.days[:0]
	c.hours, c.minutes, c.seconds = r.hours, r.minutes, r.seconds
	first := floorDiv(begin, perDay)
	// The periods of these rules are within a day, hour or minute, which matches because skip has not skipped it.
	clock := int(begin - first*perDay)
	c.clock = [3]int{clock / int(perHour), clock % int(perHour) / int(perMinute), clock % int(perMinute)}
	switch r.freq {
	case secondly:
		c.seconds = c.clock[2:3]
		fallthrough
	case minutely:
		c.minutes = c.clock[1:2]
		fallthrough
	case hourly:
		c.hours = c.clock[:1]
		c.days = append(c.days, first)
		return 1
	case yearly, monthly, weekly, daily:
	}
	for d := first; d*perDay < end; d++ {
		looked++
		if r.matches(d) {
			c.days = append(c.days, d)
		}
	}
	return max(1, looked)
}

// yield yields those after a time, in order: all, or those at the positions. It returns false if yield has done so.
func (c *candidates) yield(positions []int, after int64, yield func(int64) bool) bool {
	if len(positions) == 0 {
		return c.each(after, yield)
	}
	var chosen []int64
	for _, position := range positions {
		if at, ok := c.at(position); ok && at > after {
			chosen = append(chosen, at)
		}
	}
	slices.Sort(chosen)
	for _, at := range slices.Compact(chosen) {
		if !yield(at) {
			return false
		}
	}
	return true
}

func (c *candidates) each(after int64, yield func(int64) bool) bool {
	for _, d := range c.days {
		for _, h := range c.hours {
			for _, m := range c.minutes {
				begin := d*perDay + int64(h)*perHour + int64(m)*perMinute
				if begin+perMinute <= after {
					continue
				}
				for _, s := range c.seconds {
					if at := begin + int64(s); at > after && !yield(at) {
						return false
					}
				}
			}
		}
	}
	return true
}

// at returns the candidate at a position, which begins at 1, or -1 from the end.
func (c *candidates) at(position int) (at int64, ok bool) {
	inHour := len(c.minutes) * len(c.seconds)
	inDay := len(c.hours) * inHour
	i := position - 1
	if position < 0 {
		i = position + len(c.days)*inDay
	}
	if i < 0 || i >= len(c.days)*inDay {
		return 0, false
	}
	at = c.days[i/inDay]*perDay + int64(c.hours[i%inDay/inHour])*perHour
	return at + int64(c.minutes[i%inHour/len(c.seconds)])*perMinute + int64(c.seconds[i%len(c.seconds)]), true
}
