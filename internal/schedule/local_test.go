package schedule

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestResolve(t *testing.T) {
	for _, c := range []struct{ at, zone, gap, repeated, want string }{
		{"2030-01-31T09:00", "Europe/Berlin", "", "", "2030-01-31T08:00:00.000Z"},
		{"2030-07-31T09:00:01.250", "Europe/Berlin", "", "", "2030-07-31T07:00:01.250Z"},
		{"2030-07-31T09:00:00", "UTC", "skip", "second", "2030-07-31T09:00:00.000Z"},
		// 02:00 becomes 03:00.
		{"2030-03-31T01:59:59.999", "Europe/Berlin", "", "", "2030-03-31T00:59:59.999Z"},
		{"2030-03-31T02:00:00", "Europe/Berlin", "", "", "2030-03-31T01:00:00.000Z"},
		{"2030-03-31T02:30:00", "Europe/Berlin", "", "", "2030-03-31T01:00:00.000Z"},
		{"2030-03-31T02:30:00", "Europe/Berlin", "", "second", "2030-03-31T01:00:00.000Z"},
		{"2030-03-31T03:00:00", "Europe/Berlin", "skip", "", "2030-03-31T01:00:00.000Z"},
		// 03:00 becomes 02:00.
		{"2030-10-27T01:59:59", "Europe/Berlin", "", "second", "2030-10-26T23:59:59.000Z"},
		{"2030-10-27T02:00:00", "Europe/Berlin", "", "", "2030-10-27T00:00:00.000Z"},
		{"2030-10-27T02:30:00", "Europe/Berlin", "skip", "", "2030-10-27T00:30:00.000Z"},
		{"2030-10-27T02:30:00", "Europe/Berlin", "", "second", "2030-10-27T01:30:00.000Z"},
		{"2030-10-27T03:00:00", "Europe/Berlin", "", "second", "2030-10-27T02:00:00.000Z"},
		// Lord Howe changes by 30 minutes: 02:00 becomes 02:30 in October, and 01:30 in April.
		{"2030-10-06T02:15:00", "Australia/Lord_Howe", "", "", "2030-10-05T15:30:00.000Z"},
		{"2030-04-07T01:45:00", "Australia/Lord_Howe", "", "", "2030-04-06T14:45:00.000Z"},
		{"2030-04-07T01:45:00", "Australia/Lord_Howe", "", "second", "2030-04-06T15:15:00.000Z"},
		// Samoa skipped 30 December 2011, Kwajalein 21 August 1993.
		{"2011-12-30T00:00:00", "Pacific/Apia", "", "", "2011-12-30T10:00:00.000Z"},
		{"2011-12-30T23:59:59", "Pacific/Apia", "", "", "2011-12-30T10:00:00.000Z"},
		{"1993-08-21T12:00:00", "Pacific/Kwajalein", "", "", "1993-08-21T12:00:00.000Z"},
	} {
		l := timer.LocalTime{At: c.at, Zone: c.zone, Gap: timer.Gap(c.gap), Repeated: timer.Repeated(c.repeated)}
		got, err := Resolve(&l, zone.Load)
		if err != nil || got.String() != c.want {
			t.Errorf("%+v: %s, %v; want %s", l, got, err, c.want)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	for _, c := range []struct{ at, zone, gap, field, text string }{
		{"2030-03-31T02:30:00", "Europe/Berlin", "skip", "executeAtLocal", "from 2030-03-31T02:00:00 to 2030-03-31T03:00:00"},
		{"2030-10-06T02:15:00", "Australia/Lord_Howe", "skip", "executeAtLocal", "from 2030-10-06T02:00:00 to 2030-10-06T02:30:00"},
		{"2011-12-30T12:00:00", "Pacific/Apia", "skip", "executeAtLocal", "from 2011-12-30T00:00:00 to 2011-12-31T00:00:00"},
		{"2030-01-31T09:00", "Europe/Atlantis", "", "timeZone", `"Europe/Atlantis"`},
		{"2030-01-31T09:00", "Local", "", "timeZone", `"Local"`},
		{"2030-01-31T09:00", "", "", "timeZone", "IANA"},
		{"2030-02-30T09:00", "Europe/Berlin", "", "executeAtLocal", `"2030-02-30T09:00"`},
		{"9999-12-31T23:59:59", "America/New_York", "", "executeAtLocal", "in the years 1 to 9999"},
		{"0001-01-01T00:00:00", "Asia/Tokyo", "", "executeAtLocal", "in the years 1 to 9999"},
	} {
		got, err := Resolve(&timer.LocalTime{At: c.at, Zone: c.zone, Gap: timer.Gap(c.gap)}, zone.Load)
		invalid, ok := errors.AsType[*timer.InvalidError](err)
		if !ok || invalid.Field != c.field || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %s, %v; want an error for %s with %q", c, got, err, c.field, c.text)
		}
	}
}

// TestResolveEveryZone compares the instants of local times around the present with those of package time.
func TestResolveEveryZone(t *testing.T) {
	names, err := zone.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		location, err := zone.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := time.Date(2029, 1, 1, 0, 15, 0, 0, time.UTC); at.Year() < 2031; at = at.Add(37 * time.Hour) {
			l := timer.LocalTime{At: at.Format("2006-01-02T15:04:05"), Zone: name}
			got, err := Resolve(&l, zone.Load)
			in := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, location)
			if err != nil {
				t.Fatal(err)
			}
			exists := in.Hour() == at.Hour() && in.Minute() == at.Minute()
			shown := got.Time().In(location).Format("2006-01-02T15:04:05")
			if exists && shown != l.At || !exists && shown <= l.At {
				t.Errorf("%s in %s: %s, which is %s there", l.At, name, got, shown)
			}
		}
	}
}
