package schedule

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/teambition/rrule-go"
)

// randomRule is a random RRULE, and an independent implementation of RFC 5545, which looks at each day.
type randomRule struct {
	text  string
	begin local
	freq  string
	// numbers has the parts that are lists of numbers, and days that of BYDAY.
	numbers         map[string][]int
	days            []randomDay
	interval, count int
	firstWeekday    time.Weekday
	until           local // zero if there is none
}

type randomDay struct {
	nth int
	day time.Weekday
}

var (
	testFrequencies = strings.Split("YEARLY,MONTHLY,WEEKLY,DAILY,HOURLY,MINUTELY,SECONDLY", ",")
	testWeekdays    = strings.Split("SU,MO,TU,WE,TH,FR,SA", ",")
)

// anyRule returns a random RRULE that the RFC permits.
func anyRule(random *rand.Rand) *randomRule {
	r := &randomRule{
		freq: testFrequencies[random.IntN(len(testFrequencies))], numbers: map[string][]int{}, interval: 1, firstWeekday: time.Monday,
		begin: time.Date(1990+random.IntN(60), time.Month(1+random.IntN(12)), 1+random.IntN(31), random.IntN(24), random.IntN(60), random.IntN(60), 0, time.UTC),
	}
	parts := []string{"FREQ=" + r.freq}
	if random.IntN(2) == 0 {
		r.interval = 1 + random.IntN(5)
		if random.IntN(4) == 0 {
			r.interval = 1 + random.IntN(200)
		}
		parts = append(parts, fmt.Sprintf("INTERVAL=%d", r.interval))
	}
	if random.IntN(3) == 0 {
		r.firstWeekday = time.Weekday(random.IntN(7))
		parts = append(parts, "WKST="+testWeekdays[r.firstWeekday])
	}
	short := r.freq == "HOURLY" || r.freq == "MINUTELY" || r.freq == "SECONDLY"
	for _, part := range []struct {
		name      string
		permitted bool
		one, most int // one of so many rules has this part
		negative  bool
	}{
		{"BYMONTH", true, 4, 12, false},
		{"BYWEEKNO", r.freq == "YEARLY", 3, 53, true},
		{"BYYEARDAY", r.freq == "YEARLY" || short, 6, 366, true},
		{"BYMONTHDAY", r.freq != "WEEKLY", 4, 31, true},
		{"BYHOUR", true, 4, 23, false},
		{"BYMINUTE", true, 6, 59, false},
		{"BYSECOND", true, 6, 59, false},
	} {
		if !part.permitted || random.IntN(part.one) > 0 {
			continue
		}
		list, size := map[int]bool{}, 1+random.IntN(4)
		if random.IntN(3) == 0 {
			size = 1 + random.IntN(1+part.most/2)
		}
		for range size {
			n := 1 + random.IntN(part.most)
			switch {
			case part.negative && random.IntN(2) == 0:
				n = -n
			case part.most%10 != 2 && !part.negative && random.IntN(10) == 0:
				n = 0 // hours, minutes and seconds
			}
			list[n] = true
		}
		r.numbers[part.name] = slices.Sorted(maps.Keys(list))
	}
	if random.IntN(2) == 0 {
		numbered := r.freq == "MONTHLY" || r.freq == "YEARLY" && r.numbers["BYWEEKNO"] == nil
		var names []string
		for range 1 + random.IntN(4) {
			d := randomDay{day: time.Weekday(random.IntN(7))}
			if numbered && random.IntN(2) == 0 {
				most := 5
				if r.freq == "YEARLY" && r.numbers["BYMONTH"] == nil {
					most = 53
				}
				d.nth = 1 + random.IntN(most)
				if random.IntN(2) == 0 {
					d.nth = -d.nth
				}
			}
			r.days = append(r.days, d)
			name := testWeekdays[d.day]
			if d.nth != 0 {
				name = strconv.Itoa(d.nth) + name
			}
			names = append(names, name)
		}
		parts = append(parts, "BYDAY="+strings.Join(names, ","))
	}
	if (len(r.numbers) > 0 || len(r.days) > 0) && random.IntN(3) == 0 {
		list := map[int]bool{}
		for range 1 + random.IntN(3) {
			n := 1 + random.IntN(4)
			if random.IntN(4) == 0 {
				n = 1 + random.IntN(40)
			}
			if random.IntN(2) == 0 {
				n = -n
			}
			list[n] = true
		}
		r.numbers["BYSETPOS"] = slices.Sorted(maps.Keys(list))
	}
	for _, name := range slices.Sorted(maps.Keys(r.numbers)) {
		var texts []string
		for _, n := range r.numbers[name] {
			texts = append(texts, strconv.Itoa(n))
		}
		parts = append(parts, name+"="+strings.Join(texts, ","))
	}
	switch random.IntN(4) {
	case 0:
		r.count = 1 + random.IntN(6)
		parts = append(parts, fmt.Sprintf("COUNT=%d", r.count))
	case 1:
		r.until = r.begin.AddDate(0, 0, random.IntN(1000))
		parts = append(parts, "UNTIL="+r.until.Format("20060102T150405"))
	}
	random.Shuffle(len(parts)-1, func(i, j int) { parts[i+1], parts[j+1] = parts[j+1], parts[i+1] })
	r.text = strings.Join(parts, ";")
	return r
}

// expected returns the first occurrences, at most so many. complete is the time until which they are known.
func (r *randomRule) expected(most int) (all []local, complete local) {
	// The parts that the rule takes from its begin.
	hours, minutes, seconds := r.numbers["BYHOUR"], r.numbers["BYMINUTE"], r.numbers["BYSECOND"]
	longer := slices.Index(testFrequencies, r.freq)
	if hours == nil && longer < 4 {
		hours = []int{r.begin.Hour()}
	}
	if minutes == nil && longer < 5 {
		minutes = []int{r.begin.Minute()}
	}
	if seconds == nil && longer < 6 {
		seconds = []int{r.begin.Second()}
	}
	is := func(part []int, n int) bool { return part == nil || slices.Contains(part, n) }

	var (
		period local   // the begin of the one whose candidates are collected
		set    []local // its candidates
		work   int
	)
	// finish adds the occurrences of the period. It returns false after the last one.
	finish := func() bool {
		for _, at := range r.choose(set) {
			if at.Before(r.begin) {
				continue
			}
			if !r.until.IsZero() && at.After(r.until) || len(all) == most || r.count > 0 && len(all) == r.count {
				return false
			}
			all = append(all, at)
		}
		set = nil
		return true
	}
	forever := r.begin.AddDate(1000, 0, 0)
	for day := r.beginOfPeriod(r.begin).Truncate(24 * time.Hour); ; day = day.AddDate(0, 0, 1) {
		if work++; work > 30_000 || day.After(r.begin.AddDate(20, 0, 0)) {
			return all, period
		}
		if !r.matchesDay(day) {
			continue
		}
		for hour := range 24 {
			if !is(hours, hour) {
				continue
			}
			for minute := range 60 {
				if !is(minutes, minute) {
					continue
				}
				for second := range 60 {
					work++
					at := day.Add(time.Duration(hour*3600+minute*60+second) * time.Second)
					if !is(seconds, second) || at.Before(r.beginOfPeriod(r.begin)) {
						continue
					}
					if begin := r.beginOfPeriod(at); !begin.Equal(period) {
						if !finish() {
							return all, forever
						}
						period = begin
					}
					if r.periods(r.beginOfPeriod(r.begin), period)%r.interval == 0 {
						set = append(set, at)
					}
				}
			}
		}
	}
}

// choose applies BYSETPOS.
func (r *randomRule) choose(set []local) (chosen []local) {
	positions := r.numbers["BYSETPOS"]
	if positions == nil {
		return set
	}
	for i, at := range set {
		if slices.Contains(positions, i+1) || slices.Contains(positions, i-len(set)) {
			chosen = append(chosen, at)
		}
	}
	return chosen
}

// beginOfPeriod returns the begin of the year, month and so on, that contains a time.
func (r *randomRule) beginOfPeriod(at local) local {
	day := at.Truncate(24 * time.Hour)
	switch r.freq {
	case "YEARLY":
		if r.numbers["BYWEEKNO"] != nil {
			year, _, _ := r.week(day)
			return weeksOf(year, r.firstWeekday)[0]
		}
		return time.Date(at.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	case "MONTHLY":
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	case "WEEKLY":
		for day.Weekday() != r.firstWeekday {
			day = day.AddDate(0, 0, -1)
		}
		return day
	case "DAILY":
		return day
	case "HOURLY":
		return at.Truncate(time.Hour)
	case "MINUTELY":
		return at.Truncate(time.Minute)
	default:
		return at
	}
}

// periods returns the number of periods between two periods, which are given by their begins.
func (r *randomRule) periods(from, to local) int {
	switch r.freq {
	case "YEARLY": // with BYWEEKNO, the year may begin in December
		return to.AddDate(0, 0, 7).Year() - from.AddDate(0, 0, 7).Year()
	case "MONTHLY":
		return (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
	case "WEEKLY":
		return int(to.Sub(from) / (7 * 24 * time.Hour))
	case "DAILY":
		return int(to.Sub(from) / (24 * time.Hour))
	case "HOURLY":
		return int(to.Sub(from) / time.Hour)
	case "MINUTELY":
		return int(to.Sub(from) / time.Minute)
	default:
		return int(to.Sub(from) / time.Second)
	}
}

// matchesDay reports whether a day matches the parts about days.
func (r *randomRule) matchesDay(day local) bool {
	year, month, _ := day.Date()
	date := func(year int, month time.Month, d int) bool {
		return day.Equal(time.Date(year, month, d, 0, 0, 0, 0, time.UTC))
	}
	matches := func(name string, match func(n int) bool) bool {
		part, given := r.numbers[name]
		return !given || slices.ContainsFunc(part, match)
	}
	switch {
	case !matches("BYMONTH", func(n int) bool { return int(month) == n }),
		!matches("BYMONTHDAY", func(n int) bool {
			return n > 0 && date(year, month, n) || n < 0 && date(year, month+1, n+1) && day.Month() == month
		}),
		!matches("BYYEARDAY", func(n int) bool { return n > 0 && date(year, 1, n) || n < 0 && date(year+1, 1, n+1) }):
		return false
	}
	if part := r.numbers["BYWEEKNO"]; part != nil {
		_, number, weeks := r.week(day)
		if !slices.Contains(part, number) && !slices.Contains(part, number-weeks-1) {
			return false
		}
	}
	switch {
	case r.days != nil:
		return slices.ContainsFunc(r.days, func(d randomDay) bool { return r.matchesWeekday(day, d) })
	case r.numbers["BYMONTHDAY"] != nil || r.numbers["BYYEARDAY"] != nil:
		return true
	}
	// The parts that the rule takes from its begin.
	switch {
	case r.freq == "WEEKLY", r.numbers["BYWEEKNO"] != nil:
		return day.Weekday() == r.begin.Weekday()
	case r.freq == "MONTHLY", r.freq == "YEARLY" && r.numbers["BYMONTH"] != nil:
		return day.Day() == r.begin.Day()
	case r.freq == "YEARLY":
		return day.Month() == r.begin.Month() && day.Day() == r.begin.Day()
	}
	return true
}

// matchesWeekday reports whether a day is a certain one in BYDAY. It counts the days of this name in the month or year.
func (r *randomRule) matchesWeekday(day local, d randomDay) bool {
	if day.Weekday() != d.day || d.nth == 0 {
		return day.Weekday() == d.day
	}
	first := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	end := first.AddDate(0, 1, 0)
	if r.freq == "YEARLY" && r.numbers["BYMONTH"] == nil {
		first = time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
		end = first.AddDate(1, 0, 0)
	}
	before, from := 0, 0
	for other := first; other.Before(end); other = other.AddDate(0, 0, 1) {
		switch {
		case other.Weekday() != d.day:
		case other.Before(day):
			before++
		default:
			from++
		}
	}
	return d.nth == before+1 || d.nth == -from
}

// week returns the number of a day's week, the year to which it belongs, and how many weeks this year has.
func (r *randomRule) week(day local) (year, number, weeks int) {
	for year = day.Year() - 1; year <= day.Year()+1; year++ {
		all := weeksOf(year, r.firstWeekday)
		for i, begin := range all {
			if !day.Before(begin) && day.Sub(begin) < 7*24*time.Hour {
				return year, i + 1, len(all)
			}
		}
	}
	panic("a day without a week")
}

type yearOfWeeks struct {
	year  int
	first time.Weekday
}

var knownWeeks sync.Map // yearOfWeeks to []local

// weeksOf returns the begins of the weeks of a year: those with at least four days in it.
func weeksOf(year int, first time.Weekday) (begins []local) {
	if known, ok := knownWeeks.Load(yearOfWeeks{year, first}); ok {
		return known.([]local) //nolint:errcheck // only this function stores
	}
	for day := time.Date(year-1, 12, 20, 0, 0, 0, 0, time.UTC); day.Year() <= year; day = day.AddDate(0, 0, 1) {
		inYear := 0
		for i := range 7 {
			if day.AddDate(0, 0, i).Year() == year {
				inYear++
			}
		}
		if day.Weekday() == first && inYear >= 4 {
			begins = append(begins, day)
		}
	}
	knownWeeks.Store(yearOfWeeks{year, first}, begins)
	return begins
}

// TestRandomRRules compares the first occurrences of RRULEs with those of the independent implementation, and of rrule-go where it is
// right.
func TestRandomRRules(t *testing.T) {
	t.Parallel()
	count := 12_500 // of which 10,000 have an occurrence
	if testing.Short() {
		count = 1250
	}
	const shards = 4
	for shard := range shards {
		t.Run(strconv.Itoa(shard), func(t *testing.T) {
			t.Parallel()
			never, others, failed := 0, 0, 0
			for seed := shard; seed < count; seed += shards {
				rule := anyRule(rand.New(rand.NewPCG(uint64(seed), 2)))
				expected, complete := rule.expected(6)
				if len(expected) == 0 && seed/shards%8 > 0 {
					continue // searches that find nothing take most of the time
				}
				if problem := rule.compare(expected, complete); problem != "" {
					t.Errorf("seed %d: %s from %v: %s", seed, rule.text, rule.begin, problem)
					failed++
				}
				if len(expected) == 0 {
					never++ // and rrule-go may search for minutes, or forever
				} else if !rule.differsInRRuleGo() {
					others++
					if got := rruleGo(t, rule.text, rule.begin, len(expected)); !equal(got, expected) {
						t.Errorf("seed %d: %s from %v: rrule-go: %v, want %v", seed, rule.text, rule.begin, got, expected)
						failed++
					}
				}
				if failed > 5 {
					t.Fatal("too many failures")
				}
			}
			t.Logf("%d rules without an occurrence; %d others were compared with rrule-go as well", never, others)
		})
	}
}

// compare describes a difference between the rule and its expected occurrences, which are complete until a time.
func (r *randomRule) compare(expected []local, complete local) string {
	parsed, err := parseRRule("rrule", r.text, r.begin, time.UTC)
	if err != nil {
		if len(expected) < r.count {
			return "" // the last of COUNT occurrences cannot be found
		}
		return err.Error()
	}
	at := r.begin.AddDate(-3, 0, 0)
	for _, next := range expected {
		// The answer is the same for each time from the previous occurrence on.
		for _, from := range []local{at, at.Add(next.Sub(at) / 3), next.Add(-time.Nanosecond)} {
			if got, ok := parsed.after(from); !ok || !got.Equal(next) {
				return fmt.Sprintf("after %v: %v, want %v", from, got, next)
			}
		}
		at = next
	}
	if got, ok := parsed.after(at); ok && got.Before(complete) && len(expected) < 6 {
		return fmt.Sprintf("after %v: %v, want none before %v", at, got, complete)
	}
	return ""
}

// differsInRRuleGo reports whether rrule-go may differ from the RFC; TestRRuleGo explains the differences.
func (r *randomRule) differsInRRuleGo() bool {
	numbered := func(d randomDay) bool { return d.nth != 0 }
	plain := func(d randomDay) bool { return d.nth == 0 }
	return r.numbers["BYWEEKNO"] != nil || r.freq == "WEEKLY" && r.numbers["BYSETPOS"] != nil ||
		slices.ContainsFunc(r.days, numbered) && slices.ContainsFunc(r.days, plain)
}

// rruleGo returns the first occurrences of a rule by github.com/teambition/rrule-go.
func rruleGo(t *testing.T, text string, begin local, most int) (all []local) {
	t.Helper()
	option, err := rrule.StrToROption(text)
	if err != nil {
		t.Fatal(err)
	}
	option.Dtstart = begin
	r, err := rrule.NewRRule(*option)
	if err != nil {
		t.Fatal(err)
	}
	next := r.Iterator()
	for range most {
		if at, ok := next(); ok {
			all = append(all, at)
		}
	}
	return all
}

// localTimes parses dates with an optional hour and minute.
func localTimes(t *testing.T, texts ...string) (all []local) {
	t.Helper()
	for _, text := range texts {
		at, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			at, err = time.Parse(dateForm, text)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, at)
	}
	return all
}

func occurrencesOf(t *testing.T, text string, begin local, most int) (all []local) {
	t.Helper()
	r, err := parseRRule("rrule", text, begin, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	for at := begin.Add(-time.Second); len(all) < most; {
		next, ok := r.after(at)
		if !ok {
			break
		}
		all = append(all, next)
		at = next
	}
	return all
}

// TestRRuleGo has the rules for which rrule-go v1.8.2 differs from the RFC, as dateutil, which it follows, does for most of them. It is why
// this package expands rules itself (docs/decisions/0072). If a case fails because rrule-go has changed, its reason may be gone.
func TestRRuleGo(t *testing.T) {
	for _, c := range []struct {
		name, rule, begin string
		want, rruleGo     []string
	}{
		{
			// RFC: "Each BYDAY value can also be preceded by a positive (+n) or negative (-n) integer", so each value counts by itself.
			// rrule-go requires that a day matches both a value with a number and one without.
			"days with and without a number", "FREQ=MONTHLY;BYDAY=MO,1FR", "2026-01-01",
			[]string{"2026-01-02", "2026-01-05", "2026-01-12", "2026-01-19"},
			nil,
		},
		{
			// RFC: "A set of recurrence instances starts at the beginning of the interval defined by the FREQ rule part." The first week
			// begins on Monday 5 January, so its first day is before DTSTART. rrule-go begins the first week at DTSTART.
			"positions in the first week", "FREQ=WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=1", "2026-01-06",
			[]string{"2026-01-12", "2026-01-19"},
			[]string{"2026-01-07", "2026-01-12"},
		},
		{
			// RFC: "Information, not contained in the rule, necessary to determine the various recurrence instance start time and dates are
			// derived from the Start Time (DTSTART)", here the weekday. libical (pull request 455) and JSCalendar do the same.
			"weeks without a day", "FREQ=YEARLY;BYWEEKNO=20", "2026-01-06",
			[]string{"2026-05-12", "2027-05-18"},
			[]string{"2026-05-11", "2026-05-12"},
		},
		{
			// 2010 has 52 weeks, so 1 January 2011 is in week 52. rrule-go computes the number of weeks of the previous year from the
			// length of the current one.
			"the last week of the previous year", "FREQ=YEARLY;BYWEEKNO=53;BYDAY=SA", "2010-06-01",
			[]string{"2016-01-02", "2021-01-02"},
			[]string{"2011-01-01", "2016-01-02"},
		},
		{
			// 1997 has 52 weeks, so its week -52 is week 1, which begins on 30 December 1996. rrule-go finds negative weeks only on
			// dates of the year whose weeks they are.
			"a negative week that begins in December", "FREQ=YEARLY;BYWEEKNO=-52;BYDAY=MO", "1996-06-01",
			[]string{"1996-12-30", "1998-01-05"},
			[]string{"1998-01-05", "1999-01-04"},
		},
		{
			// Week 1 of 1997 begins on 30 December 1996, and that of 1998 on 29 December 1997. rrule-go counts years by dates, so from 1995
			// on it takes the latter for a day of 1997. Week 1 of each second year is in 1995, 1997 and 1999.
			"week 1 of each second year", "FREQ=YEARLY;INTERVAL=2;BYWEEKNO=1;BYDAY=MO", "1995-01-05",
			[]string{"1996-12-30", "1999-01-04"},
			[]string{"1997-12-29", "1999-01-04"},
		},
	} {
		begin := localTimes(t, c.begin)[0]
		if got, want := occurrencesOf(t, c.rule, begin, len(c.want)), localTimes(t, c.want...); !equal(got, want) {
			t.Errorf("%s: %s: %v, want %v", c.name, c.rule, got, want)
		}
		if c.rruleGo == nil {
			continue // there is none, which rrule-go takes seconds to find out
		}
		if got, want := rruleGo(t, c.rule, begin, len(c.rruleGo)), localTimes(t, c.rruleGo...); !equal(got, want) {
			t.Errorf("%s: %s: rrule-go has changed: %v, was %v", c.name, c.rule, got, want)
		}
	}
}

// TestExamplesOfRFC5545 has examples of section 3.8.5.3, as local times: DTSTART is at 09:00.
func TestExamplesOfRFC5545(t *testing.T) {
	for _, c := range []struct {
		rule, begin string
		want        []string
		ends        bool
	}{
		{"FREQ=DAILY;COUNT=10", "1997-09-02", []string{"1997-09-02", "1997-09-03"}, false},
		{"FREQ=DAILY;INTERVAL=10;COUNT=5", "1997-09-02", []string{"1997-09-02", "1997-09-12", "1997-09-22", "1997-10-02", "1997-10-12"}, true},
		{"FREQ=WEEKLY;COUNT=4;INTERVAL=2;BYDAY=TU,SU;WKST=MO", "1997-08-05", []string{"1997-08-05", "1997-08-10", "1997-08-19", "1997-08-24"}, true},
		{"FREQ=WEEKLY;COUNT=4;INTERVAL=2;BYDAY=TU,SU;WKST=SU", "1997-08-05", []string{"1997-08-05", "1997-08-17", "1997-08-19", "1997-08-31"}, true},
		{"FREQ=MONTHLY;COUNT=6;BYDAY=-2MO", "1997-09-22", []string{"1997-09-22", "1997-10-20", "1997-11-17", "1997-12-22", "1998-01-19", "1998-02-16"}, true},
		{"FREQ=MONTHLY;INTERVAL=2;COUNT=10;BYDAY=1SU,-1SU", "1997-09-07", []string{"1997-09-07", "1997-09-28", "1997-11-02", "1997-11-30", "1998-01-04", "1998-01-25"}, false},
		{"FREQ=MONTHLY;BYMONTHDAY=-3", "1997-09-28", []string{"1997-09-28", "1997-10-29", "1997-11-28", "1997-12-29", "1998-01-29", "1998-02-26"}, false},
		{"FREQ=MONTHLY;COUNT=10;BYMONTHDAY=1,-1", "1997-09-30", []string{"1997-09-30", "1997-10-01", "1997-10-31", "1997-11-01", "1997-11-30", "1997-12-01", "1997-12-31"}, false},
		{"FREQ=MONTHLY;INTERVAL=18;COUNT=10;BYMONTHDAY=10,11,12,13,14,15", "1997-09-10", []string{
			"1997-09-10", "1997-09-11", "1997-09-12", "1997-09-13", "1997-09-14", "1997-09-15", "1999-03-10", "1999-03-11", "1999-03-12", "1999-03-13",
		}, true},
		{"FREQ=YEARLY;INTERVAL=3;COUNT=10;BYYEARDAY=1,100,200", "1997-01-01", []string{
			"1997-01-01", "1997-04-10", "1997-07-19", "2000-01-01", "2000-04-09", "2000-07-18", "2003-01-01", "2003-04-10", "2003-07-19", "2006-01-01",
		}, true},
		{"FREQ=YEARLY;BYDAY=20MO", "1997-05-19", []string{"1997-05-19", "1998-05-18", "1999-05-17"}, false},
		{"FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "1997-05-12", []string{"1997-05-12", "1998-05-11", "1999-05-17"}, false},
		{"FREQ=YEARLY;BYMONTH=3;BYDAY=TH", "1997-03-13", []string{"1997-03-13", "1997-03-20", "1997-03-27", "1998-03-05"}, false},
		{"FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "1997-09-02", []string{"1998-02-13", "1998-03-13", "1998-11-13", "1999-08-13", "2000-10-13"}, false},
		{"FREQ=MONTHLY;BYDAY=SA;BYMONTHDAY=7,8,9,10,11,12,13", "1997-09-13", []string{"1997-09-13", "1997-10-11", "1997-11-08", "1997-12-13", "1998-01-10"}, false},
		{"FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8", "1996-11-05", []string{"1996-11-05", "2000-11-07", "2004-11-02"}, false},
		{"FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", "1997-09-04", []string{"1997-09-04", "1997-10-07", "1997-11-06"}, true},
		{"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2", "1997-09-29", []string{"1997-09-29", "1997-10-30", "1997-11-27", "1997-12-30", "1998-01-29"}, false},
		{"FREQ=MINUTELY;INTERVAL=90;COUNT=4", "1997-09-02", []string{"1997-09-02 09:00", "1997-09-02 10:30", "1997-09-02 12:00", "1997-09-02 13:30"}, true},
		{"FREQ=DAILY;BYHOUR=9,10,11,12,13,14,15,16;BYMINUTE=0,20,40", "1997-09-02", []string{"1997-09-02 09:00", "1997-09-02 09:20", "1997-09-02 09:40", "1997-09-02 10:00"}, false},
		{"FREQ=MINUTELY;INTERVAL=20;BYHOUR=9,10,11,12,13,14,15,16", "1997-09-02", []string{"1997-09-02 09:00", "1997-09-02 09:20", "1997-09-02 09:40", "1997-09-02 10:00"}, false},
		{"FREQ=MONTHLY;BYMONTHDAY=15,30;COUNT=5", "2007-01-15", []string{"2007-01-15", "2007-01-30", "2007-02-15", "2007-03-15", "2007-03-30"}, true},
	} {
		most := len(c.want)
		if c.ends {
			most++
		}
		got := occurrencesOf(t, c.rule, localTimes(t, c.begin+" 09:00")[0], most)
		for i, want := range c.want {
			if !strings.Contains(want, " ") {
				c.want[i] += " 09:00"
			}
		}
		if want := localTimes(t, c.want...); !equal(got, want) {
			t.Errorf("%s: %v, want %v", c.rule, got, want)
		}
	}
}

func TestRefusedRRules(t *testing.T) {
	for _, c := range []struct{ rule, reason string }{
		{"", "FREQ=: want YEARLY, MONTHLY"},
		{"INTERVAL=2", "FREQ=: want YEARLY, MONTHLY"},
		{"FREQ=OFTEN", "FREQ=OFTEN: want YEARLY, MONTHLY"},
		{"FREQ=DAILY;FREQ=WEEKLY", "FREQ is given twice"},
		{"FREQ=DAILY;DTSTART=20260101T000000", "DTSTART=20260101T000000: there is no such part"},
		{"DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY", "FREQ=: want"},
		{"FREQ=YEARLY;BYEASTER=0", "BYEASTER=0: there is no such part"}, // of dateutil and rrule-go, not of the RFC
		{"FREQ=DAILY;", "there is no such part"},
		{"FREQ=DAILY;COUNT=3;UNTIL=20270101T000000", "either COUNT or UNTIL"},
		{"FREQ=DAILY;COUNT=0", "COUNT=0: want 1 to"},
		{"FREQ=DAILY;COUNT=1000000", "COUNT=1000000: want 1 to 200000"},
		{"FREQ=DAILY;COUNT=150000", "the last of COUNT occurrences is too far away"},
		{"FREQ=DAILY;INTERVAL=0", "INTERVAL=0: want 1 to"},
		{"FREQ=DAILY;INTERVAL=-1", "INTERVAL=-1: want 1 to"},
		{"FREQ=DAILY;INTERVAL=1000000000", "INTERVAL=1000000000: want 1 to 100000000"},
		{"FREQ=DAILY;UNTIL=20270101", "UNTIL=20270101: want a date and a time"}, // libraries disagree about the last day
		{"FREQ=DAILY;UNTIL=20270231T000000", "UNTIL=20270231T000000: want a date and a time"},
		{"FREQ=DAILY;WKST=1MO", "WKST=1MO: want SU, MO"},
		{"FREQ=WEEKLY;BYDAY=MO,", "BYDAY=MO,: want SU, MO"},
		{"FREQ=WEEKLY;BYDAY=1", "BYDAY=1: want SU, MO"},
		{"FREQ=MONTHLY;BYDAY=0MO", "BYDAY=0MO: want a number from 1 to 53"},
		{"FREQ=YEARLY;BYDAY=54MO", "BYDAY=54MO: want a number from 1 to 53"},
		{"FREQ=DAILY;BYMONTH=13", "BYMONTH=13: want numbers from 1 to 12"},
		{"FREQ=DAILY;BYMONTH=-1", "BYMONTH=-1: want numbers from 1 to 12"},
		{"FREQ=DAILY;BYMONTHDAY=0", "BYMONTHDAY=0: want numbers from 1 to 31 or -31 to -1"},
		{"FREQ=DAILY;BYHOUR=24", "BYHOUR=24: want numbers from 0 to 23"},
		{"FREQ=DAILY;BYSECOND=60", "BYSECOND=60: want numbers from 0 to 59"}, // leap seconds do not exist here
		{"FREQ=DAILY;BYMINUTE=1,,2", "BYMINUTE=1,,2: want numbers from 0 to 59"},
		{"FREQ=DAILY;BYMONTH", "BYMONTH=: want numbers from 1 to 12"},
		{"FREQ=MONTHLY;BYWEEKNO=1", "BYWEEKNO cannot be used with FREQ=MONTHLY"},
		{"FREQ=DAILY;BYYEARDAY=1", "BYYEARDAY cannot be used with FREQ=DAILY"},
		{"FREQ=WEEKLY;BYMONTHDAY=1", "BYMONTHDAY cannot be used with FREQ=WEEKLY"},
		{"FREQ=WEEKLY;BYDAY=1MO", "numbers in BYDAY cannot be used with FREQ=WEEKLY"},
		{"FREQ=YEARLY;BYWEEKNO=1;BYDAY=1MO", "numbers in BYDAY cannot be used with BYWEEKNO"},
		{"FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS needs another part"},
	} {
		_, err := parseRRule("rrule", c.rule, time.Unix(0, 0).UTC(), time.UTC)
		if err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: %v, want an error with %q", c.rule, err, c.reason)
		}
	}
}

func TestLenientRRules(t *testing.T) {
	begin := localTimes(t, "2026-01-01")[0]
	for _, rule := range []string{"RRULE:FREQ=MONTHLY;BYDAY=+2TU,-1FR", " freq=monthly;byday=2tu,-1fr,2tu\n", "BYDAY=-1FR,2TU;FREQ=MONTHLY"} {
		if got, want := occurrencesOf(t, rule, begin, 3), localTimes(t, "2026-01-13", "2026-01-30", "2026-02-10"); !equal(got, want) {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
}

// TestStepsOfRRules checks that an answer does not depend on how long ago the rule began, and that searches are bounded.
func TestStepsOfRRules(t *testing.T) {
	at := time.Date(2026, 11, 27, 12, 34, 56, 0, time.UTC)
	for _, c := range []struct {
		rule  string
		most  int
		never bool
	}{
		{rule: "FREQ=SECONDLY", most: 2},
		{rule: "FREQ=SECONDLY;INTERVAL=7", most: 2},
		{rule: "FREQ=SECONDLY;INTERVAL=30;BYHOUR=9,10,11,12,13,14,15,16,17;BYDAY=MO,TU,WE,TH,FR", most: 2},
		{rule: "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=29;BYHOUR=23;BYMINUTE=59;BYSECOND=59", most: 1500},
		{rule: "FREQ=MINUTELY", most: 2},
		{rule: "FREQ=MINUTELY;INTERVAL=15;BYHOUR=9;BYDAY=MO", most: 30},
		{rule: "FREQ=MINUTELY;COUNT=90000", most: 1}, // of 1970
		{rule: "FREQ=HOURLY;INTERVAL=5;BYMONTHDAY=-1", most: 40},
		{rule: "FREQ=DAILY;INTERVAL=3", most: 2},
		{rule: "FREQ=WEEKLY;INTERVAL=2", most: 21},
		{rule: "FREQ=MONTHLY;BYMONTHDAY=31", most: 62},
		{rule: "FREQ=YEARLY", most: 400},
		{rule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", most: 41 * 366},
		{rule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", most: maxSteps + 366, never: true},
		{rule: "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30", most: maxSteps, never: true},
		{rule: "FREQ=MONTHLY;BYDAY=6MO", most: maxSteps + 31, never: true}, // rrule-go panics on BYDAY=10MO
		{rule: "FREQ=DAILY;BYHOUR=9;BYSETPOS=2", most: maxSteps, never: true},
		{rule: "FREQ=MINUTELY;BYSETPOS=2;BYHOUR=9", most: maxSteps, never: true},
		{rule: "FREQ=HOURLY;INTERVAL=24;BYHOUR=5", most: maxSteps, never: true}, // DTSTART is at 00:00; rrule-go does not return
		{rule: "FREQ=MINUTELY;INTERVAL=60;BYMINUTE=7", most: maxSteps, never: true},
		{rule: "FREQ=SECONDLY;INTERVAL=60;BYSECOND=1", most: maxSteps, never: true},
		{rule: "FREQ=YEARLY;INTERVAL=100000000;BYMONTH=1;BYMONTHDAY=1", most: 2, never: true},
		{rule: "FREQ=SECONDLY;INTERVAL=100000000", most: 2},
		// It occurs, but after the bound.
		{rule: "FREQ=SECONDLY;INTERVAL=3601;BYMONTH=1,7;BYMONTHDAY=1;BYHOUR=5;BYMINUTE=4;BYSECOND=2", most: maxSteps, never: true},
	} {
		r, err := parseRRule("rrule", c.rule, time.Unix(0, 0).UTC(), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		steps, found := maxSteps, false
		for range r.occurrences(at.Unix(), r.until, &steps) {
			found = true
			break
		}
		ended := r.until < at.Unix()
		if _, ok := r.after(at); ok != found {
			t.Errorf("%s: after(%v) found an occurrence: %t, want %t", c.rule, at, ok, found)
		}
		if taken := maxSteps - steps; taken > c.most || found == (c.never || ended) {
			t.Errorf("%s: %d steps, found an occurrence: %t; want at most %d steps", c.rule, taken, found, c.most)
		}
	}
}

// TestStepsOfExclusions checks that a question about one day does not look at the days after it.
func TestStepsOfExclusions(t *testing.T) {
	for _, rule := range []string{"FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=MONTHLY;BYDAY=3TU"} {
		r, err := parseRRule("rrule", rule, time.Unix(0, 0).UTC(), time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		steps := maxSteps
		if r.on(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), &steps) || maxSteps-steps > 2 {
			t.Errorf("%s: an occurrence, or %d steps", rule, maxSteps-steps)
		}
	}
}

// BenchmarkRRule measures the search of the next occurrence, of rules that began in 1970.
func BenchmarkRRule(b *testing.B) {
	for _, rule := range []string{
		"FREQ=SECONDLY", "FREQ=MINUTELY;INTERVAL=15;BYHOUR=9,10;BYDAY=MO,TU", "FREQ=WEEKLY;BYDAY=MO", "FREQ=MONTHLY;BYDAY=-1FR",
		"FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "FREQ=YEARLY;BYWEEKNO=20", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
	} {
		b.Run(rule, func(b *testing.B) {
			r, err := parseRRule("rrule", rule, time.Unix(0, 0).UTC(), time.UTC)
			if err != nil {
				b.Fatal(err)
			}
			at := time.Date(2026, 11, 27, 12, 34, 56, 0, time.UTC)
			for b.Loop() {
				r.after(at)
			}
		})
	}
}
