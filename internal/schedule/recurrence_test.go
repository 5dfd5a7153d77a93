package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/timer"
)

func instant(t *testing.T, text string) timer.Millis {
	t.Helper()
	at, err := timer.ParseMillis(text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestTraps has cases that schedulers are known to get wrong, and that TestKnownChanges does not have.
func TestTraps(t *testing.T) {
	cron := func(zone, text string, gap Gap, overlap Overlap) Settings {
		return Settings{Specs: []Spec{{Cron: text}}, TimeZone: zone, Gap: gap, Overlap: overlap}
	}
	rule := func(zone, start, text string, gap Gap, overlap Overlap) Settings {
		return Settings{Specs: []Spec{{RRule: text}}, Start: instant(t, start), TimeZone: zone, Gap: gap, Overlap: overlap}
	}
	dates := func(zone string, gap Gap, overlap Overlap, texts ...string) Settings {
		return Settings{Specs: []Spec{{Dates: texts}}, TimeZone: zone, Gap: gap, Overlap: overlap}
	}
	every := func(zone string, every time.Duration, anchor string) Settings {
		return Settings{Specs: []Spec{{Every: every, Anchor: instant(t, anchor)}}, TimeZone: zone}
	}
	excluding := func(s Settings, all ...Exclusion) Settings {
		s.Exclude = all
		return s
	}
	expensive := make([]Exclusion, MaxExclusions)
	for i := range expensive {
		expensive[i].RRule = "FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;BYSETPOS=366"
	}
	expensive[MaxExclusions-1].RRule = "FREQ=DAILY"
	const end = "none"
	for _, c := range []struct {
		name     string
		settings Settings
		after    string
		want     []string
	}{
		// New York: 02:00 to 03:00 on 8 March 2026 does not exist, and 01:00 to 02:00 on 1 November is repeated.
		{
			"New York, gap next", cron("America/New_York", "30 2 * * *", GapNext, OverlapFirst), "2026-03-07T00:00:00Z",
			[]string{"2026-03-07T02:30:00-05:00", "2026-03-08T03:00:00-04:00 gap", "2026-03-09T02:30:00-04:00"},
		},
		{
			"New York, gap skip", cron("America/New_York", "30 2 * * *", GapSkip, OverlapFirst), "2026-03-07T00:00:00Z",
			[]string{"2026-03-07T02:30:00-05:00", "2026-03-09T02:30:00-04:00"},
		},
		{
			"New York, overlap first", cron("America/New_York", "30 1 * * *", GapNext, OverlapFirst), "2026-10-31T00:00:00Z",
			[]string{"2026-10-31T01:30:00-04:00", "2026-11-01T01:30:00-04:00 first", "2026-11-02T01:30:00-05:00"},
		},
		{
			"New York, overlap both", cron("America/New_York", "30 1 * * *", GapNext, OverlapBoth), "2026-10-31T00:00:00Z",
			[]string{"2026-10-31T01:30:00-04:00", "2026-11-01T01:30:00-04:00 first", "2026-11-01T01:30:00-05:00 second", "2026-11-02T01:30:00-05:00"},
		},
		{
			"New York, several times in the gap are one occurrence", cron("America/New_York", "*/20 2 * * *", GapNext, OverlapFirst), "2026-03-08T00:00:00Z",
			[]string{"2026-03-08T03:00:00-04:00 gap", "2026-03-09T02:00:00-04:00"},
		},
		{
			"New York, an occurrence at the end of the gap", cron("America/New_York", "0,30 2-3 * * *", GapNext, OverlapFirst), "2026-03-08T00:00:00Z",
			[]string{"2026-03-08T03:00:00-04:00 gap", "2026-03-08T03:30:00-04:00", "2026-03-09T02:00:00-04:00"},
		},
		// Berlin: 02:00 to 03:00 on 29 March 2026 does not exist, and 02:00 to 03:00 on 25 October is repeated.
		{
			"Berlin, gap next, RRULE", rule("Europe/Berlin", "2026-03-28T01:30:00Z", "FREQ=DAILY", GapNext, OverlapFirst), "2026-01-01T00:00:00Z",
			[]string{"2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00 gap", "2026-03-30T02:30:00+02:00"},
		},
		{
			"Berlin, gap skip, RRULE", rule("Europe/Berlin", "2026-03-28T01:30:00Z", "FREQ=DAILY", GapSkip, OverlapFirst), "2026-01-01T00:00:00Z",
			[]string{"2026-03-28T02:30:00+01:00", "2026-03-30T02:30:00+02:00"},
		},
		{
			"Berlin, overlap first", cron("Europe/Berlin", "0 2 * * *", GapNext, OverlapFirst), "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:00:00+02:00 first", "2026-10-26T02:00:00+01:00"},
		},
		{
			"Berlin, overlap both", cron("Europe/Berlin", "0 2 * * *", GapNext, OverlapBoth), "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:00:00+02:00 first", "2026-10-25T02:00:00+01:00 second", "2026-10-26T02:00:00+01:00"},
		},
		{
			"Berlin, the end of the repeated hour is not repeated", cron("Europe/Berlin", "0 3 * * *", GapNext, OverlapBoth), "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T03:00:00+01:00", "2026-10-26T03:00:00+01:00"},
		},
		{
			"Berlin, overlap both, the last date", dates("Europe/Berlin", GapNext, OverlapBoth, "2026-10-25T02:30:00"), "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:30:00+02:00 first", "2026-10-25T02:30:00+01:00 second", end},
		},
		{
			"Berlin, overlap both, the last of COUNT occurrences",
			rule("Europe/Berlin", "2026-10-24T00:30:00Z", "FREQ=DAILY;COUNT=2", GapNext, OverlapBoth), "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T02:30:00+02:00 first", "2026-10-25T02:30:00+01:00 second", end},
		},
		{
			"Berlin, a repeated date in some years", dates("Europe/Berlin", GapNext, OverlapBoth, "2030-10-27T02:30:00"), "2026-01-01T00:00:00Z",
			[]string{"2030-10-27T02:30:00+02:00 first", "2030-10-27T02:30:00+01:00 second", end},
		},
		{
			"Berlin, a skipped date in some years", dates("Europe/Berlin", GapNext, OverlapFirst, "2030-03-31T02:30:00"), "2026-01-01T00:00:00Z",
			[]string{"2030-03-31T03:00:00+02:00 gap", end},
		},
		{
			"Berlin, the last date is in the gap", dates("Europe/Berlin", GapNext, OverlapFirst, "2026-03-29T02:30:00"), "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T03:00:00+02:00 gap", end},
		},
		{
			"Berlin, the last date is in the gap, skipped", dates("Europe/Berlin", GapSkip, OverlapFirst, "2026-03-29T02:30:00"), "2026-03-28T12:00:00Z",
			[]string{end},
		},
		// Lord Howe Island: 02:00 to 02:30 on 4 October 2026 does not exist, and 01:30 to 02:00 on 5 April is repeated.
		{
			"Lord Howe, gap skip", cron("Australia/Lord_Howe", "15 2 * * *", GapSkip, OverlapFirst), "2026-10-02T20:00:00Z",
			[]string{"2026-10-05T02:15:00+11:00"},
		},
		{
			"Lord Howe, overlap first", cron("Australia/Lord_Howe", "45 1 * * *", GapNext, OverlapFirst), "2026-04-04T00:00:00Z",
			[]string{"2026-04-05T01:45:00+11:00 first", "2026-04-06T01:45:00+10:30"},
		},
		{
			"Lord Howe, before the repeated half hour", cron("Australia/Lord_Howe", "15 1 * * *", GapNext, OverlapBoth), "2026-04-04T00:00:00Z",
			[]string{"2026-04-05T01:15:00+11:00", "2026-04-06T01:15:00+10:30"},
		},
		// Dublin: winter time is a negative summer time of -1 h in its data.
		{
			"Dublin, gap", cron("Europe/Dublin", "30 1 * * *", GapNext, OverlapFirst), "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T02:00:00+01:00 gap", "2026-03-30T01:30:00+01:00"},
		},
		{
			"Dublin, overlap both", cron("Europe/Dublin", "30 1 * * *", GapNext, OverlapBoth), "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T01:30:00+01:00 first", "2026-10-25T01:30:00Z second", "2026-10-26T01:30:00Z"},
		},
		// Samoa had no 30 December 2011.
		{
			"Samoa, gap skip", cron("Pacific/Apia", "0 12 * * *", GapSkip, OverlapFirst), "2011-12-29T12:00:00Z",
			[]string{"2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"},
		},
		{
			"Samoa, each hour", cron("Pacific/Apia", "0 * * * *", GapNext, OverlapFirst), "2011-12-30T08:30:00Z",
			[]string{"2011-12-29T23:00:00-10:00", "2011-12-31T00:00:00+14:00 gap", "2011-12-31T01:00:00+14:00"},
		},
		{
			"Samoa, the skipped day", dates("Pacific/Apia", GapNext, OverlapFirst, "2011-12-30T09:00:00"), "2011-01-01T00:00:00Z",
			[]string{"2011-12-31T00:00:00+14:00 gap", end},
		},
		{
			"Samoa, RRULE on Fridays", rule("Pacific/Apia", "2011-12-16T19:00:00Z", "FREQ=WEEKLY;BYDAY=FR", GapSkip, OverlapFirst), "2011-12-20T00:00:00Z",
			[]string{"2011-12-23T09:00:00-10:00", "2012-01-06T09:00:00+14:00"},
		},
		// The last change in the data of Metlakatla is that of 20 January 2019, from 02:00 to 01:00.
		{
			"Metlakatla in 2019", cron("America/Metlakatla", "30 1 * * *", GapNext, OverlapFirst), "2019-01-19T12:00:00Z",
			[]string{"2019-01-20T01:30:00-08:00 first", "2019-01-21T01:30:00-09:00"},
		},

		{
			"29 February or a Monday", cron("UTC", "0 0 29 2 1", GapNext, OverlapFirst), "2028-02-22T00:00:00Z",
			[]string{"2028-02-28T00:00:00Z", "2028-02-29T00:00:00Z", "2029-02-05T00:00:00Z"},
		},
		{
			"29 February 2000", cron("UTC", "0 0 29 2 *", GapNext, OverlapFirst), "1996-03-01T00:00:00Z",
			[]string{"2000-02-29T00:00:00Z", "2004-02-29T00:00:00Z"},
		},
		{"31 April", cron("UTC", "0 0 31 4,6,9,11 *", GapNext, OverlapFirst), "2026-01-01T00:00:00Z", []string{end}},
		{
			"RRULE on day 31", rule("UTC", "2026-01-01T09:00:00Z", "FREQ=MONTHLY;BYMONTHDAY=31", GapNext, OverlapFirst), "2026-01-01T00:00:00Z",
			[]string{"2026-01-31T09:00:00Z", "2026-03-31T09:00:00Z", "2026-05-31T09:00:00Z", "2026-07-31T09:00:00Z", "2026-08-31T09:00:00Z"},
		},
		{
			"RRULE, monthly from 31 January", rule("UTC", "2026-01-31T09:00:00Z", "FREQ=MONTHLY", GapNext, OverlapFirst), "2026-01-31T09:00:00Z",
			[]string{"2026-03-31T09:00:00Z", "2026-05-31T09:00:00Z"},
		},
		{
			"RRULE, yearly from 29 February", rule("UTC", "2024-02-29T09:00:00Z", "FREQ=YEARLY", GapNext, OverlapFirst), "2024-02-29T09:00:00Z",
			[]string{"2028-02-29T09:00:00Z", "2032-02-29T09:00:00Z"},
		},
		{
			"RRULE, yearly from 29 February, 2100", rule("UTC", "2024-02-29T09:00:00Z", "FREQ=YEARLY", GapNext, OverlapFirst), "2096-02-29T09:00:00Z",
			[]string{"2104-02-29T09:00:00Z"},
		},
		{
			"RRULE, every third year from 29 February", rule("UTC", "2024-02-29T09:00:00Z", "FREQ=YEARLY;INTERVAL=3", GapNext, OverlapFirst), "2024-02-29T09:00:00Z",
			[]string{"2036-02-29T09:00:00Z", "2048-02-29T09:00:00Z"},
		},
		{
			"RRULE far in the future, in a zone with summer time", rule("Europe/Berlin", "2024-02-29T08:00:00Z", "FREQ=YEARLY;INTERVAL=97", GapNext, OverlapFirst), "2024-03-01T00:00:00Z",
			[]string{"2412-02-29T09:00:00+01:00", "2800-02-29T09:00:00+01:00"},
		},
		{
			"RRULE that never occurs", rule("Europe/Berlin", "1990-01-01T00:00:00Z", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", GapNext, OverlapFirst), "2026-01-01T00:00:00Z",
			[]string{end},
		},
		{
			"RRULE without a start, east of Greenwich",
			Settings{Specs: []Spec{{RRule: "FREQ=DAILY"}}, TimeZone: "Asia/Kolkata"},
			"2026-01-01T00:00:00Z",
			[]string{"2026-01-02T00:00:00+05:30"},
		},
		{
			"RRULE without a start, west of Greenwich",
			Settings{Specs: []Spec{{RRule: "FREQ=DAILY"}}, TimeZone: "America/New_York"},
			"2026-01-01T00:00:00Z",
			[]string{"2026-01-01T00:00:00-05:00"},
		},
		{
			"RRULE from 1700", rule("UTC", "1700-01-01T09:00:00Z", "FREQ=YEARLY", GapNext, OverlapFirst), "2026-06-01T00:00:00Z",
			[]string{"2027-01-01T09:00:00Z"},
		},
		// UNTIL is 14:00 UTC, which is 09:00 in New York, as in an example of RFC 5545.
		{
			"UNTIL in UTC", rule("America/New_York", "1998-01-01T14:00:00Z", "FREQ=YEARLY;UNTIL=20000131T140000Z;BYMONTH=1;BYDAY=SU,MO,TU,WE,TH,FR,SA", GapNext, OverlapFirst),
			"2000-01-30T00:00:00Z",
			[]string{"2000-01-30T09:00:00-05:00", "2000-01-31T09:00:00-05:00", end},
		},
		{
			"UNTIL one second earlier", rule("America/New_York", "1998-01-01T14:00:00Z", "FREQ=DAILY;UNTIL=20000131T135959Z", GapNext, OverlapFirst),
			"2000-01-30T00:00:00Z",
			[]string{"2000-01-30T09:00:00-05:00", end},
		},
		{
			"UNTIL in local time", rule("America/New_York", "1998-01-01T14:00:00Z", "FREQ=DAILY;UNTIL=20000131T090000", GapNext, OverlapFirst),
			"2000-01-31T00:00:00Z",
			[]string{"2000-01-31T09:00:00-05:00", end},
		},
		// An interval is between instants, so its local time changes with the offset.
		{
			"24 hours in spring in Berlin", every("Europe/Berlin", 24*time.Hour, "2026-03-28T08:00:00Z"), "2026-03-28T00:00:00Z",
			[]string{"2026-03-28T09:00:00+01:00", "2026-03-29T10:00:00+02:00"},
		},
		{
			"24 hours from an anchor in summer", every("America/New_York", 24*time.Hour, "2026-07-01T13:00:00Z"), "2026-10-31T00:00:00Z",
			[]string{"2026-10-31T09:00:00-04:00", "2026-11-01T08:00:00-05:00"},
		},
		{
			"30 minutes in the repeated hour", every("Europe/Berlin", 30*time.Minute, "2026-01-01T00:00:00Z"), "2026-10-25T00:00:00Z",
			[]string{"2026-10-25T02:30:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00", "2026-10-25T03:00:00+01:00"},
		},
		{
			"an interval more than 292 years after its anchor", every("UTC", 24*time.Hour, "1971-01-01T09:00:00Z"), "2600-05-05T10:00:00Z",
			[]string{"2600-05-06T09:00:00Z"},
		},
		{
			"an interval more than 292 years before its anchor", every("UTC", 24*time.Hour, "2600-05-05T09:00:00Z"), "1971-01-01T10:00:00Z",
			[]string{"1971-01-02T09:00:00Z"},
		},
		{"an interval at the end of time", every("UTC", 365*24*time.Hour, "9999-06-01T00:00:00Z"), "9999-06-01T00:00:00Z", []string{end}},
		{"after the end of time", cron("UTC", "* * * * *", GapNext, OverlapFirst), "9999-12-31T23:59:59.999Z", []string{end}},

		{
			"weekends are left out of seconds",
			excluding(cron("Europe/Berlin", "* * * * * *", GapNext, OverlapFirst), Exclusion{RRule: "FREQ=WEEKLY;BYDAY=SA,SU"}),
			"2026-03-27T22:59:58Z",
			[]string{"2026-03-27T23:59:59+01:00", "2026-03-30T00:00:00+02:00", "2026-03-30T00:00:01+02:00"},
		},
		{
			"years are left out of seconds", excluding(every("Europe/Berlin", time.Second, "1970-01-01T00:00:00Z"), Exclusion{From: "2026-01-01", Until: "2076-12-31"}),
			"2025-12-31T22:59:58Z",
			[]string{"2025-12-31T23:59:59+01:00", "2077-01-01T00:00:00+01:00"},
		},
		{
			"a day without a midnight is left out",
			excluding(cron("America/Sao_Paulo", "0 * * * *", GapNext, OverlapFirst), Exclusion{From: "2017-10-15"}),
			"2017-10-15T01:30:00Z",
			[]string{"2017-10-14T23:00:00-03:00", "2017-10-16T00:00:00-02:00"},
		},
		{
			"a day whose end is repeated is left out",
			excluding(cron("America/Sao_Paulo", "0 * * * *", GapNext, OverlapBoth), Exclusion{From: "2018-02-17"}),
			"2018-02-17T00:30:00Z",
			[]string{"2018-02-16T23:00:00-02:00", "2018-02-18T00:00:00-03:00"},
		},
		{
			"the day before one whose beginning is repeated, by an RRULE",
			excluding(cron("America/Havana", "0 * * * *", GapNext, OverlapBoth), Exclusion{RRule: "FREQ=YEARLY;BYMONTH=10;BYMONTHDAY=31"}),
			"2026-10-31T03:30:00Z",
			[]string{"2026-11-01T00:00:00-04:00 first", "2026-11-01T00:00:00-05:00 second"},
		},
		{
			"all dates are left out", excluding(cron("UTC", "0 9 * * *", GapNext, OverlapFirst), Exclusion{RRule: "FREQ=DAILY"}),
			"2026-01-01T00:00:00Z",
			[]string{end},
		},
		{
			"all dates are left out, but it is expensive to find out", excluding(cron("UTC", "0 9 * * *", GapNext, OverlapFirst), expensive...),
			"2026-01-01T00:00:00Z",
			[]string{end},
		},
		{
			"an exclusion that never occurs", excluding(cron("UTC", "0 9 * * *", GapNext, OverlapFirst), Exclusion{RRule: "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}),
			"2026-01-01T00:00:00Z",
			[]string{"2026-01-01T09:00:00Z"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := New(&c.settings, zone.Load)
			if err != nil {
				t.Fatal(err)
			}
			after := instant(t, c.after)
			for _, want := range c.want {
				o, ok := r.After(after)
				got := end
				if ok {
					got = strings.TrimSpace(o.Local + " " + string(o.Remark))
				}
				if got != want {
					t.Fatalf("after %s: %s, want %s", after, got, want)
				}
				after = o.At
			}
		})
	}
}

// TestRulesAreAskedRarely checks that an occurrence that is centuries away is not searched again in each period of the zone.
func TestRulesAreAskedRarely(t *testing.T) {
	berlin, err := zone.Load("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, overlap := range []Overlap{OverlapFirst, OverlapBoth} {
		asked := 0
		rule := countingRule{dates{time.Date(9000, 7, 1, 12, 0, 0, 0, time.UTC)}, &asked}
		m, ok := nextIn(berlin, rule, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), GapNext, overlap)
		if want := time.Date(9000, 7, 1, 10, 0, 0, 0, time.UTC); !ok || !m.at.Equal(want) {
			t.Errorf("%v, want %v", m.at, want)
		}
		if asked > 10 {
			t.Errorf("overlap %s: the rule was asked %d times", overlap, asked)
		}
	}
}

type countingRule struct {
	rule

	asked *int
}

func (c countingRule) after(at local) (local, bool) {
	*c.asked++
	return c.rule.after(at)
}

// FuzzNew checks that New and After do not panic, that After increases strictly, and that occurrences are from start to before end and not
// on excluded dates.
func FuzzNew(f *testing.F) {
	f.Add("30 2 * * *", "FREQ=MONTHLY;BYDAY=-1FR", "2026-10-25T02:30:00", "Europe/Berlin", int64(3600_000), int64(1_700_000_000_000), int64(1_900_000_000_000), "2026-10-26", true)
	f.Add("*/20 59 23 L 12 MON#2", "FREQ=SECONDLY;INTERVAL=7;BYHOUR=1,2;BYSETPOS=-1", "2011-12-30T09:00:00", "Pacific/Apia", int64(86_400_000), int64(0), int64(0), "", false)
	f.Add("0 0 29 2 *", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=3", "2026-02-30T00:00:00", "UTC", int64(0), int64(-1), int64(253402300799999), "0001-01-01", true)
	f.Add("@daily", "FREQ=YEARLY;BYWEEKNO=-53;WKST=SU;UNTIL=20300101T000000Z", "", "Australia/Lord_Howe", int64(1000), int64(-62135596800000), int64(1), "9999-12-31", false)
	f.Add("@none", "FREQ=MINUTELY;INTERVAL=100000000", "9999-12-31T23:59:59", "America/Metlakatla", int64(0), int64(1_545_000_000_000), int64(0), "x", true)
	f.Add("", "", "", "Pacific/Apia", int64(86_400_000), int64(-1), int64(0), "", false)
	f.Fuzz(func(t *testing.T, cron, rrule, date, zoneName string, every, start, end int64, excluded string, both bool) {
		inRange := func(at int64) timer.Millis { return min(max(timer.Millis(at), timer.MinMillis), timer.MaxMillis) }
		s := Settings{TimeZone: zoneName, Start: inRange(start), End: inRange(end)}
		if both {
			s.Gap, s.Overlap = GapSkip, OverlapBoth
		}
		var exclude []Exclusion
		if excluded != "" {
			exclude = []Exclusion{{From: excluded}, {RRule: rrule}}
		}
		// Each spec alone, then those that are accepted together.
		var accepted []Spec
		for _, spec := range []Spec{{Cron: cron}, {RRule: rrule}, {Dates: []string{date}}, {Every: time.Duration(every) * time.Millisecond, Anchor: inRange(start)}} {
			s.Specs, s.Exclude = []Spec{spec}, nil
			if checkAfter(t, &s) {
				accepted = append(accepted, spec)
			}
		}
		s.Specs, s.Exclude = accepted, exclude
		checkAfter(t, &s)
	})
}

// checkAfter reports whether settings are accepted. If so, it checks their first occurrences.
func checkAfter(t *testing.T, s *Settings) bool {
	t.Helper()
	r, err := New(s, zone.Load)
	if err != nil {
		return false
	}
	for _, at := range []timer.Millis{timer.MinMillis, s.Start, 1_790_000_000_000, 4_000_000_000_000, timer.MaxMillis - 1, timer.Never} {
		for range 10 {
			o, ok := r.After(at)
			if !ok {
				break
			}
			if o.At <= at || o.At < s.Start || s.End != 0 && o.At >= s.End || o.At > timer.MaxMillis {
				t.Fatalf("%+v: after %s: %s", s, at, o.At)
			}
			local, err := time.Parse(time.RFC3339, o.Local)
			if err != nil || timer.FromTime(local) != o.At-o.At%1000 && o.At > 0 {
				t.Fatalf("%+v: local time %s (%v) of %s", s, o.Local, err, o.At)
			}
			if slices.ContainsFunc(s.Exclude, func(e Exclusion) bool { return e.From != "" && strings.HasPrefix(o.Local, e.From) }) {
				t.Fatalf("%+v: %s is excluded", s, o.Local)
			}
			// No earlier occurrence was passed over, and the answer is the same just before the occurrence.
			if again, ok := r.After(o.At - 1); !ok || again != o {
				t.Fatalf("%+v: after %s: %+v, but just before: %+v", s, at, o, again)
			}
			at = o.At
		}
	}
	return true
}
