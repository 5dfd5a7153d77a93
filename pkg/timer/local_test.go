package timer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestParseLocal(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2030-03-31T02:30":        time.Date(2030, 3, 31, 2, 30, 0, 0, time.UTC),
		"2030-03-31T02:30:15":     time.Date(2030, 3, 31, 2, 30, 15, 0, time.UTC),
		"2030-03-31T02:30:15.5":   time.Date(2030, 3, 31, 2, 30, 15, 500_000_000, time.UTC),
		"2030-03-31T02:30:15.007": time.Date(2030, 3, 31, 2, 30, 15, 7_000_000, time.UTC),
		"0001-01-01T00:00:00":     time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		"9999-12-31T23:59:59.999": time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC),
	} {
		if got, err := timer.ParseLocal(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "2030-03-31", "2030-03-31T02", "2030-03-31T2:30:00", "2030-03-31T02:30:15.", "2030-03-31T02:30:15.0001",
		"2030-03-31T02:30:15,5", "2030-03-31T02:30:00Z", "2030-03-31T02:30Z", "2030-03-31T02:30:00+02:00", "2030-03-31 02:30:00",
		"2030-02-30T02:30:00", "2030-03-31T24:00:00", "2030-03-31T02:30:60", "0000-01-01T00:00:00", "10000-01-01T00:00:00",
		"2030-3-31T02:30:00", " 2030-03-31T02:30:00", "2030-03-31T2:30:005", "2030-03-31T02:30:1.50",
	} {
		got, err := timer.ParseLocal(text)
		invalid, ok := errors.AsType[*timer.InvalidError](err)
		if !ok || invalid.Field != "executeAtLocal" {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

func TestLocalTimeCheck(t *testing.T) {
	good := timer.LocalTime{At: "2030-03-31T02:30:00", Zone: "Europe/Berlin"}
	for what, c := range map[string]struct {
		change func(*timer.LocalTime)
		field  string
	}{
		"plain":      {func(*timer.LocalTime) {}, ""},
		"policies":   {func(l *timer.LocalTime) { l.Gap, l.Repeated = timer.GapSkip, timer.RepeatedSecond }, ""},
		"time":       {func(l *timer.LocalTime) { l.At = "tomorrow" }, "executeAtLocal"},
		"no zone":    {func(l *timer.LocalTime) { l.Zone = "" }, "timeZone"},
		"long zone":  {func(l *timer.LocalTime) { l.Zone = strings.Repeat("z", 65) }, "timeZone"},
		"gap":        {func(l *timer.LocalTime) { l.Gap = "both" }, "gap"},
		"repetition": {func(l *timer.LocalTime) { l.Repeated = "both" }, "repeated"},
	} {
		l := good
		c.change(&l)
		s := timer.Spec{CallbackTimeout: timer.DefaultCallbackTimeout, Retry: timer.DefaultRetryPolicy(), Local: &l}
		err := s.Check()
		invalid, _ := errors.AsType[*timer.InvalidError](err)
		if c.field == "" && err != nil || c.field != "" && (invalid == nil || invalid.Field != c.field) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A patch that sets ExecuteAt without Local clears Local, because ExecuteAt is then not its instant.
func TestPatchOfExecuteAtSetsLocal(t *testing.T) {
	local := &timer.LocalTime{At: "2030-03-31T02:30:00", Zone: "Europe/Berlin"}
	s := timer.Spec{ExecuteAt: 5, CallbackTimeout: timer.DefaultCallbackTimeout, Retry: timer.DefaultRetryPolicy()}
	apply := func(p timer.Patch) {
		t.Helper()
		var err error
		if s, err = p.Apply(s); err != nil {
			t.Fatal(err)
		}
	}
	apply(timer.Patch{ExecuteAt: new(timer.Millis(7)), Local: local})
	if s.Local != local || s.ExecuteAt != 7 {
		t.Errorf("after a local time: %+v", s)
	}
	apply(timer.Patch{FlowKey: new("x")})
	if s.Local != local {
		t.Error("another field cleared the local time")
	}
	apply(timer.Patch{ExecuteAt: new(timer.Millis(7))})
	if s.Local != nil {
		t.Error("an instant kept the local time")
	}
}
