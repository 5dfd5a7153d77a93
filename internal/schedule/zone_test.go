package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/timer"
)

// minutes is a rule with an occurrence at each local minute that is a multiple of every since midnight.
type minutes struct{ every int }

func (m minutes) matches(at local) bool {
	return at.Second() == 0 && at.Nanosecond() == 0 && (at.Hour()*60+at.Minute())%m.every == 0
}

// testStep is a divisor of all offsets since 1970; that of Liberia was 44 minutes and 30 seconds until 1972.
const testStep = 10 * time.Second

// window has the local time of each step in a window of a zone, and of the step before it.
type window struct {
	from   time.Time
	locals []local
	latest local // of all steps before: local times until then are repeated if they come again
}

func openWindow(zone *time.Location, from, until time.Time) (s window) {
	localOf := func(at time.Time) local { return at.UTC().Add(offsetAt(zone, at)) }
	s.from, s.latest = from, localOf(from.Add(-testStep))
	for at := from.Add(-26 * time.Hour); at.Before(from); at = at.Add(10 * time.Minute) {
		if l := localOf(at); l.After(s.latest) {
			s.latest = l
		}
	}
	for at := from.Add(-testStep); at.Before(until); at = at.Add(testStep) {
		s.locals = append(s.locals, localOf(at))
	}
	return s
}

// expected finds the occurrences of a rule in a window by looking at each step: an independent implementation.
func (m minutes) expected(s window, gap Gap, overlap Overlap) (all []time.Time) {
	latest, previous := s.latest, s.locals[0]
	for i, now := range s.locals[1:] {
		at := s.from.Add(time.Duration(i) * testStep)
		jump := now.Sub(previous) > testStep
		previous = now
		switch {
		case jump && gap == GapNext:
			for skipped := latest.Add(testStep); !skipped.After(now); skipped = skipped.Add(testStep) {
				if m.matches(skipped) {
					all = append(all, at)
					break
				}
			}
		case m.matches(now) && (overlap == OverlapBoth || now.After(latest)):
			all = append(all, at)
		}
		if now.After(latest) {
			latest = now
		}
	}
	return all
}

func (m minutes) after(at local) (local, bool) {
	step := time.Duration(m.every) * time.Minute
	day := at.Truncate(24 * time.Hour)
	next := day.Add(at.Sub(day).Truncate(step) + step)
	if tomorrow := day.AddDate(0, 0, 1); next.After(tomorrow) {
		next = tomorrow
	}
	return next, true
}

func offsetAt(zone *time.Location, at time.Time) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// changesOf finds the changes of a zone's offset by comparing the offsets of successive days.
func changesOf(zone *time.Location, from, until time.Time) (all []time.Time) {
	for day := from; day.Before(until); day = day.Add(24 * time.Hour) {
		before, after := day, day.Add(24*time.Hour)
		if offsetAt(zone, before) == offsetAt(zone, after) {
			continue
		}
		for after.Sub(before) > time.Second {
			middle := before.Add(after.Sub(before) / 2).Truncate(time.Second)
			if offsetAt(zone, middle) == offsetAt(zone, before) {
				before = middle
			} else {
				after = middle
			}
		}
		all = append(all, after)
	}
	return all
}

// TestEveryTransitionOfEveryZone compares the occurrences around each change of an offset from 1970 to 2100 with those found by looking at
// each step of a window.
func TestEveryTransitionOfEveryZone(t *testing.T) {
	t.Parallel()
	names, err := zone.Names()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	if testing.Short() {
		names = []string{"Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin", "Africa/Casablanca", "America/Sao_Paulo"}
	}
	type change struct {
		zone *time.Location
		at   time.Time
	}
	var changes []change
	seen := map[[3]int64]bool{} // many zones share their changes
	for _, name := range names {
		z, err := zone.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range changesOf(z, time.Unix(0, 0), time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)) {
			key := [3]int64{at.Unix(), int64(offsetAt(z, at.Add(-time.Second))), int64(offsetAt(z, at))}
			if !seen[key] {
				seen[key] = true
				changes = append(changes, change{z, at})
			}
		}
	}
	t.Logf("%d changes of %d zones", len(changes), len(names))
	const shards = 4
	for shard := range shards {
		t.Run(strconv.Itoa(shard), func(t *testing.T) {
			t.Parallel()
			for i := shard; i < len(changes); i += shards {
				if problem := checkChange(changes[i].zone, changes[i].at); problem != "" {
					t.Error(problem)
				}
			}
		})
	}
}

// checkChange describes the differences around a change.
func checkChange(zone *time.Location, change time.Time) (problem string) {
	from, until := change.Add(-70*time.Minute).UTC(), change.Add(70*time.Minute).UTC()
	w := openWindow(zone, from, until)
	for _, every := range []int{20, 90} {
		m := minutes{every}
		for _, gap := range []Gap{GapNext, GapSkip} {
			for _, overlap := range []Overlap{OverlapFirst, OverlapBoth} {
				want := m.expected(w, gap, overlap)
				var got []time.Time
				for at := from.Add(-time.Nanosecond); ; {
					next, ok := nextIn(zone, m, at, gap, overlap)
					if !ok || !next.at.Before(until) {
						break
					}
					at = next.at
					got = append(got, at)
				}
				if !equal(got, want) {
					problem += fmt.Sprintf("%s at %v, every %d minutes, gap %s, overlap %s:\n got %v\nwant %v\n", zone, change.UTC(), every, gap, overlap, got, want)
				}
			}
		}
	}
	return problem
}

func equal(a, b []time.Time) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// TestKnownChanges has the cases that other schedulers are known to get wrong.
func TestKnownChanges(t *testing.T) {
	for _, c := range []struct {
		name, zone, cron string
		gap              Gap
		overlap          Overlap
		after            string
		want             []string
	}{
		{"spring in Berlin", "Europe/Berlin", "30 2 * * *", GapNext, OverlapFirst, "2026-03-28T00:00:00Z", []string{
			"2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00 gap", "2026-03-30T02:30:00+02:00",
		}},
		{"spring in Berlin, skipped", "Europe/Berlin", "30 2 * * *", GapSkip, OverlapFirst, "2026-03-28T00:00:00Z", []string{
			"2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00",
		}},
		{"autumn in Berlin", "Europe/Berlin", "30 2 * * *", GapNext, OverlapFirst, "2026-10-24T12:00:00Z", []string{
			"2026-10-25T02:30:00+02:00 first", "2026-10-26T02:30:00+01:00",
		}},
		{"autumn in Berlin, both", "Europe/Berlin", "0,30 2 * * *", GapNext, OverlapBoth, "2026-10-24T12:00:00Z", []string{
			"2026-10-25T02:00:00+02:00 first", "2026-10-25T02:30:00+02:00 first", "2026-10-25T02:00:00+01:00 second",
			"2026-10-25T02:30:00+01:00 second", "2026-10-26T02:00:00+01:00",
		}},
		{"half an hour on Lord Howe Island", "Australia/Lord_Howe", "15 2 * * *", GapNext, OverlapBoth, "2026-10-03T00:00:00Z", []string{
			"2026-10-04T02:30:00+11:00 gap", "2026-10-05T02:15:00+11:00",
		}},
		{"half an hour back on Lord Howe Island", "Australia/Lord_Howe", "45 1 * * *", GapNext, OverlapBoth, "2026-04-04T00:00:00Z", []string{
			"2026-04-05T01:45:00+11:00 first", "2026-04-05T01:45:00+10:30 second",
		}},
		{"negative summer time in Dublin", "Europe/Dublin", "30 1 * * *", GapNext, OverlapFirst, "2026-10-24T12:00:00Z", []string{
			"2026-10-25T01:30:00+01:00 first", "2026-10-26T01:30:00Z",
		}},
		{"the day that Samoa skipped", "Pacific/Apia", "0 12 * * *", GapNext, OverlapFirst, "2011-12-29T12:00:00Z", []string{
			"2011-12-29T12:00:00-10:00", "2011-12-31T00:00:00+14:00 gap", "2011-12-31T12:00:00+14:00",
		}},
		{"no midnight in São Paulo", "America/Sao_Paulo", "0 0 * * *", GapNext, OverlapFirst, "2017-10-14T12:00:00Z", []string{
			"2017-10-15T01:00:00-02:00 gap", "2017-10-16T00:00:00-02:00",
		}},
		{"an hourly rule fires each hour", "Europe/Berlin", "0 * * * *", GapNext, OverlapBoth, "2026-10-24T23:30:00Z", []string{
			"2026-10-25T02:00:00+02:00 first", "2026-10-25T02:00:00+01:00 second", "2026-10-25T03:00:00+01:00",
		}},
		{"leap days", "UTC", "0 0 29 2 *", GapNext, OverlapFirst, "2096-03-01T00:00:00Z", []string{
			"2104-02-29T00:00:00Z", "2108-02-29T00:00:00Z",
		}},
		{"day 31", "UTC", "0 0 31 * *", GapNext, OverlapFirst, "2026-01-31T00:00:00Z", []string{
			"2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z",
		}},
		{"the last day", "UTC", "0 0 L * *", GapNext, OverlapFirst, "2028-01-31T00:00:00Z", []string{
			"2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z",
		}},
		{"the weekday nearest to the 15th", "UTC", "0 9 15W * *", GapNext, OverlapFirst, "2026-02-01T00:00:00Z", []string{
			"2026-02-16T09:00:00Z", "2026-03-16T09:00:00Z", "2026-04-15T09:00:00Z",
		}},
		{"the second Tuesday", "UTC", "0 9 * * TUE#2", GapNext, OverlapFirst, "2026-02-01T00:00:00Z", []string{
			"2026-02-10T09:00:00Z", "2026-03-10T09:00:00Z",
		}},
		{"the last Friday", "UTC", "0 9 * * 5L", GapNext, OverlapFirst, "2026-02-01T00:00:00Z", []string{
			"2026-02-27T09:00:00Z", "2026-03-27T09:00:00Z",
		}},
		{"a day of the month or of the week", "UTC", "0 0 13 * FRI", GapNext, OverlapFirst, "2026-02-07T00:00:00Z", []string{
			"2026-02-13T00:00:00Z", "2026-02-20T00:00:00Z", "2026-02-27T00:00:00Z", "2026-03-06T00:00:00Z", "2026-03-13T00:00:00Z",
		}},
		{"seconds", "UTC", "*/20 59 23 31 12 *", GapNext, OverlapFirst, "2026-01-01T00:00:00Z", []string{
			"2026-12-31T23:59:00Z", "2026-12-31T23:59:20Z", "2026-12-31T23:59:40Z", "2027-12-31T23:59:00Z",
		}},
		{"daily", "Asia/Kolkata", "@daily", GapNext, OverlapFirst, "2026-01-01T00:00:00Z", []string{"2026-01-02T00:00:00+05:30"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(&Settings{Specs: []Spec{{Cron: c.cron}}, TimeZone: c.zone, Gap: c.gap, Overlap: c.overlap}, zone.Load)
			if err != nil {
				t.Fatal(err)
			}
			after, _ := timer.ParseMillis(c.after)
			for _, want := range c.want {
				o, ok := r.After(after)
				got := strings.TrimSpace(o.Local + " " + string(o.Remark))
				if !ok || got != want {
					t.Fatalf("after %s: %s, want %s", after, got, want)
				}
				after = o.At
			}
		})
	}
}
