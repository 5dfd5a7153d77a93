package engine

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// TestOptionsText: stored rows have this form.
func TestOptionsText(t *testing.T) {
	for text, s := range map[string]timer.Spec{
		"":                    {},
		`{"windowMs":600000}`: {Window: 10 * time.Minute},
		`{"method":"GET"}`:    {Request: timer.Request{Method: "GET"}},
		`{"method":"PUT","contentType":"text/plain; a=\"b\"","reschedule":true,"windowMs":1}`: {
			Request: timer.Request{Method: "PUT", ContentType: `text/plain; a="b"`, Reschedule: true}, Window: time.Millisecond,
		},
		`{"localAt":"2030-03-31T02:30","localZone":"UTC"}`: {Local: &timer.LocalTime{At: "2030-03-31T02:30", Zone: "UTC"}},
		`{"flowKey":"a","localAt":"2030-03-31T02:30","localZone":"UTC","localGap":"skip","localRepeated":"second"}`: {
			FlowKey: "a",
			Local:   &timer.LocalTime{At: "2030-03-31T02:30", Zone: "UTC", Gap: timer.GapSkip, Repeated: timer.RepeatedSecond},
		},
	} {
		if got := FormatOptions(&timer.Timer{Spec: s}); got != text {
			t.Errorf("%+v: stored as %q, want %q", s, got, text)
		}
		got := timer.Timer{Spec: timer.Spec{ // replaced
			Window: time.Hour, Request: timer.Request{Method: "POST"}, Local: &timer.LocalTime{At: "2031-01-01T00:00", Zone: "UTC"},
		}}
		if err := ParseOptions(text, &got); err != nil || !reflect.DeepEqual(got.Spec, s) {
			t.Errorf("%q: read as %+v, %v; want %+v", text, got, err, s)
		}
	}
}

// TestOptionsOfALaterRelease: a process of this release can read the row.
func TestOptionsOfALaterRelease(t *testing.T) {
	var s timer.Timer
	if err := ParseOptions(`{"windowMs":1,"later":{"a":[]}}`, &s); err != nil || s.Window != time.Millisecond {
		t.Errorf("%+v, %v", s, err)
	}
	if err := ParseOptions(`{"windowMs":`, &s); err == nil {
		t.Error("broken options have no error")
	}
}

// TestOptionsOfPausedTimers: the stored form matches PausedPattern, and only a row that is stored as parked is read as paused.
func TestOptionsOfPausedTimers(t *testing.T) {
	const text = `{"pause":{"by":"ops","note":"\"why\"","at":7},"method":"GET"}`
	paused := timer.Timer{
		Spec: timer.Spec{Request: timer.Request{Method: "GET"}}, Status: timer.StatusPaused,
		Pause: &timer.Pause{By: "ops", Note: `"why"`, At: 7},
	}
	if got := FormatOptions(&paused); got != text || !strings.HasPrefix(got, strings.TrimSuffix(PausedPattern, "%")) {
		t.Errorf("stored as %q, want %q, which begins as %q", got, text, PausedPattern)
	}
	got := timer.Timer{Status: StoredStatus(paused.Status)}
	if err := ParseOptions(text, &got); err != nil || got.Status != timer.StatusPaused || got.Pause == nil || *got.Pause != *paused.Pause {
		t.Errorf("read as %s, %+v, %v", got.Status, got.Pause, err)
	}
	got = timer.Timer{Status: timer.StatusDone}
	if err := ParseOptions(text, &got); err != nil || got.Status != timer.StatusDone || got.Pause != nil {
		t.Errorf("a done timer is read as %s, %+v, %v", got.Status, got.Pause, err)
	}
	paused.Status = timer.StatusScheduled
	if got := FormatOptions(&paused); got != `{"method":"GET"}` {
		t.Errorf("a scheduled timer is stored as %q", got)
	}
}
