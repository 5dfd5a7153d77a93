package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/timer"
)

// field is a field of a random cron expression, with the values that it matches.
type field struct {
	text   string
	values map[int]bool // nil: all
}

func (f field) matches(n int) bool { return f.values == nil || f.values[n] }

// anyField returns a random field for values from low to high.
func anyField(random *rand.Rand, low, high int, names []string) field {
	if random.IntN(3) == 0 {
		return field{text: "*"}
	}
	name := func(n int) string {
		if names != nil && random.IntN(2) == 0 {
			return names[n]
		}
		return strconv.Itoa(n)
	}
	f := field{values: map[int]bool{}}
	var parts []string
	for range 1 + random.IntN(3) {
		a, step := low+random.IntN(high-low+1), 1
		b := a + random.IntN(high-a+1)
		switch random.IntN(4) {
		case 0:
			b = a
			parts = append(parts, name(a))
		case 1:
			parts = append(parts, name(a)+"-"+name(b))
		case 2:
			step = 1 + random.IntN(max(1, b-a)) // a longer step is refused
			parts = append(parts, fmt.Sprintf("%d-%d/%d", a, b, step))
		default:
			a, b, step = low, high, 1+random.IntN(high-low)
			parts = append(parts, fmt.Sprintf("*/%d", step))
		}
		for n := a; n <= b; n += step {
			f.values[n] = true
		}
	}
	f.text = strings.Join(parts, ",")
	return f
}

// expression is a random cron expression, and an independent implementation of it, which looks at each day.
type expression struct {
	text                 string
	second, minute, hour field
	month                field
	day, weekday         func(local) bool
	dayIsAny, weekIsAny  bool
}

func daysIn(at local) int { return time.Date(at.Year(), at.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day() }

func anyExpression(random *rand.Rand) expression {
	monthNames := strings.Split(",JAN,FEB,MAR,APR,MAY,JUN,JUL,AUG,SEP,OCT,NOV,DEC", ",")
	dayNames := strings.Split("SUN,MON,TUE,WED,THU,FRI,SAT", ",")
	e := expression{minute: anyField(random, 0, 59, nil), hour: anyField(random, 0, 23, nil), month: anyField(random, 1, 12, monthNames)}
	e.second = field{text: "", values: map[int]bool{0: true}}
	if random.IntN(3) == 0 {
		e.second = anyField(random, 0, 59, nil)
	}
	day, week := anyField(random, 1, 31, nil), anyField(random, 0, 6, dayNames)
	e.day, e.weekday = func(at local) bool { return day.matches(at.Day()) }, func(at local) bool { return week.matches(int(at.Weekday())) }
	// If both fields of days restrict, either is enough. As in Kubernetes, */2 restricts.
	isAny := func(f field) bool { return f.text == "*" || slices.Contains(strings.Split(f.text, ","), "*/1") }
	e.dayIsAny, e.weekIsAny = isAny(day), isAny(week)
	dayText, weekText := day.text, week.text
	switch random.IntN(8) {
	case 0:
		dayText, e.dayIsAny, e.day = "L", false, func(at local) bool { return at.Day() == daysIn(at) }
	case 1:
		n := 1 + random.IntN(20)
		dayText, e.dayIsAny = fmt.Sprintf("L-%d", n), false
		e.day = func(at local) bool { return at.Day() == daysIn(at)-n }
	case 2:
		n := 1 + random.IntN(31)
		dayText, e.dayIsAny = fmt.Sprintf("%dW", n), false
		e.day = func(at local) bool { return n <= daysIn(at) && at.Day() == nearest(at, n) }
	case 3:
		dayText, e.dayIsAny = "LW", false
		e.day = func(at local) bool { return at.Day() == nearest(at, daysIn(at)) }
	}
	switch random.IntN(6) {
	case 0:
		d, n := random.IntN(7), 1+random.IntN(5)
		weekText, e.weekIsAny = fmt.Sprintf("%d#%d", d, n), false
		e.weekday = func(at local) bool { return int(at.Weekday()) == d && (at.Day()-1)/7 == n-1 }
	case 1:
		d := random.IntN(7)
		weekText, e.weekIsAny = fmt.Sprintf("%dL", d), false
		e.weekday = func(at local) bool { return int(at.Weekday()) == d && at.Day()+7 > daysIn(at) }
	}
	e.text = strings.TrimSpace(strings.Join([]string{e.second.text, e.minute.text, e.hour.text, dayText, e.month.text, weekText}, " "))
	return e
}

// nearest returns the weekday nearest to a day in its month.
func nearest(at local, day int) int {
	switch time.Date(at.Year(), at.Month(), day, 0, 0, 0, 0, time.UTC).Weekday() {
	case time.Saturday:
		if day == 1 {
			return 3
		}
		return day - 1
	case time.Sunday:
		if day == daysIn(at) {
			return day - 2
		}
		return day + 1
	default:
		return day
	}
}

// next returns the first match after a local time, within years.
func (e *expression) next(at local, years int) (local, bool) {
	for day := at.Truncate(24 * time.Hour); day.Before(at.AddDate(years, 0, 0)); day = day.AddDate(0, 0, 1) {
		if !e.month.matches(int(day.Month())) {
			continue
		}
		ok := e.day(day) && e.weekday(day)
		if !e.dayIsAny && !e.weekIsAny {
			ok = e.day(day) || e.weekday(day)
		}
		if !ok {
			continue
		}
		for hour := range 24 {
			if !e.hour.matches(hour) {
				continue
			}
			for minute := range 60 {
				if !e.minute.matches(minute) {
					continue
				}
				for second := range 60 {
					now := day.Add(time.Duration(hour*3600+minute*60+second) * time.Second)
					if e.second.matches(second) && now.After(at) {
						return now, true
					}
				}
			}
		}
	}
	return local{}, false
}

// TestRandomCronExpressions compares cron expressions with an independent implementation.
func TestRandomCronExpressions(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 1000
	}
	never := 0
	for seed := range count {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		e := anyExpression(random)
		r, err := parseCron("cron", e.text)
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, e.text, err)
		}
		at := time.Date(1990+random.IntN(80), time.Month(1+random.IntN(12)), 1+random.IntN(28), random.IntN(24), random.IntN(60), random.IntN(60), 0, time.UTC)
		for range 4 {
			got, ok := r.after(at)
			want, is := e.next(at, 12)
			if !is {
				never++
				break // the library may look further
			}
			if !ok || !got.Equal(want) {
				t.Errorf("seed %d: %q after %v: %v, want %v", seed, e.text, at, got, want)
				break
			}
			at = got
		}
		if t.Failed() && seed > 200 {
			break
		}
	}
	t.Logf("%d expressions, %d of them without an occurrence in 12 years", count, never)
}

func TestBadSettingsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name     string
		settings Settings
		want     string
	}{
		{"no spec", Settings{}, "specs"},
		{"two kinds", Settings{Specs: []Spec{{Cron: "* * * * *", Every: time.Minute}}}, "specs[0]"},
		{"cron with 4 fields", Settings{Specs: []Spec{{Cron: "* * * *"}}}, "specs[0].cron"},
		{"minute 60", Settings{Specs: []Spec{{Cron: "60 * * * *"}}}, "specs[0].cron"},
		{"a zone in cron", Settings{Specs: []Spec{{Cron: "CRON_TZ=Europe/Berlin * * * * *"}}}, "specs[0].cron"},
		{"an interval in cron", Settings{Specs: []Spec{{Cron: "@every 1h"}}}, "specs[0].cron"},
		{"a descriptor that never occurs", Settings{Specs: []Spec{{Cron: "@none"}}}, "specs[0].cron"},
		{"rrule", Settings{Specs: []Spec{{RRule: "FREQ=SOMETIMES"}}}, "specs[0].rrule"},
		{"rrule with a start", Settings{Specs: []Spec{{RRule: "DTSTART:20260101T000000Z\nRRULE:FREQ=DAILY"}}}, "specs[0].rrule"},
		{"date", Settings{Specs: []Spec{{Dates: []string{"2026-02-30T00:00:00"}}}}, "specs[0].dates"},
		{"short interval", Settings{Specs: []Spec{{Every: time.Millisecond}}}, "specs[0].every"},
		{"zone", Settings{Specs: []Spec{{Cron: "* * * * *"}}, TimeZone: "Mars/Olympus"}, "timeZone"},
		{"the zone of the machine", Settings{Specs: []Spec{{Cron: "* * * * *"}}, TimeZone: "Local"}, "timeZone"},
		{"gap", Settings{Specs: []Spec{{Cron: "* * * * *"}}, Gap: "never"}, "gap"},
		{"overlap", Settings{Specs: []Spec{{Cron: "* * * * *"}}, Overlap: "second"}, "repeated"},
		{"end before start", Settings{Specs: []Spec{{Cron: "* * * * *"}}, Start: 2000, End: 1000}, "end"},
		{"exclusion", Settings{Specs: []Spec{{Cron: "* * * * *"}}, Exclude: []Exclusion{{From: "1.1.2026"}}}, "exclude[0].from"},
		{
			"exclusion backwards",
			Settings{Specs: []Spec{{Cron: "* * * * *"}}, Exclude: []Exclusion{{From: "2026-01-02", Until: "2026-01-01"}}},
			"exclude[0].until",
		},
	} {
		_, err := New(&c.settings, zone.Load)
		if err == nil || !strings.HasPrefix(err.Error(), c.want+":") {
			t.Errorf("%s: %v, want an error about %s", c.name, err, c.want)
		}
	}
}

func TestIntervalsExclusionsAndEnds(t *testing.T) {
	at := func(text string) timer.Millis {
		m, err := timer.ParseMillis(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		name     string
		settings Settings
		after    string
		want     []string
	}{
		{
			"an interval before and after its anchor",
			Settings{Specs: []Spec{{Every: 90 * time.Minute, Anchor: at("2026-01-01T00:10:00Z")}}},
			"2025-12-31T21:30:00Z",
			[]string{"2025-12-31T22:40:00Z", "2026-01-01T00:10:00Z", "2026-01-01T01:40:00Z"},
		},
		{
			"without weekends and a holiday",
			Settings{
				Specs:   []Spec{{Cron: "0 9 * * *"}},
				Exclude: []Exclusion{{RRule: "FREQ=WEEKLY;BYDAY=SA,SU"}, {From: "2026-01-01"}, {From: "2026-01-06", Until: "2026-01-07"}},
			},
			"2025-12-31T12:00:00Z",
			[]string{"2026-01-02T09:00:00Z", "2026-01-05T09:00:00Z", "2026-01-08T09:00:00Z"},
		},
		{
			"from start until end",
			Settings{Specs: []Spec{{Cron: "0 * * * *"}}, Start: at("2026-01-01T10:00:00Z"), End: at("2026-01-01T12:00:00Z")},
			"2020-01-01T00:00:00Z",
			[]string{"2026-01-01T10:00:00Z", "2026-01-01T11:00:00Z", ""},
		},
		{
			"an RRULE begins at start",
			Settings{Specs: []Spec{{RRule: "FREQ=DAILY;INTERVAL=2;COUNT=2"}}, Start: at("2026-03-28T01:30:00Z"), TimeZone: "Europe/Berlin"},
			"2020-01-01T00:00:00Z",
			[]string{"2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00", ""},
		},
		{
			"dates and cron at the same time occur once",
			Settings{Specs: []Spec{{Dates: []string{"2026-01-02T09:00:00", "2026-01-01T09:30:00"}}, {Cron: "0 9 * * *"}}},
			"2026-01-01T00:00:00Z",
			[]string{"2026-01-01T09:00:00Z", "2026-01-01T09:30:00Z", "2026-01-02T09:00:00Z", "2026-01-03T09:00:00Z"},
		},
		{"never", Settings{Specs: []Spec{{Cron: "0 0 30 2 *"}}}, "2026-01-01T00:00:00Z", []string{""}},
	} {
		r, err := New(&c.settings, zone.Load)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		after := at(c.after)
		for _, want := range c.want {
			o, ok := r.After(after)
			if ok != (want != "") || o.Local != want {
				t.Errorf("%s: after %s: %s, want %q", c.name, after, o.Local, want)
				break
			}
			after = o.At
		}
	}
}
