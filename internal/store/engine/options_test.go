package engine

import (
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
	} {
		if got := FormatOptions(&s); got != text {
			t.Errorf("%+v: stored as %q, want %q", s, got, text)
		}
		got := timer.Spec{Window: time.Hour, Request: timer.Request{Method: "POST"}} // replaced
		if err := ParseOptions(text, &got); err != nil || got.Request != s.Request || got.Window != s.Window {
			t.Errorf("%q: read as %+v, %v; want %+v", text, got, err, s)
		}
	}
}

// TestOptionsOfALaterRelease: a process of this release can read the row.
func TestOptionsOfALaterRelease(t *testing.T) {
	var s timer.Spec
	if err := ParseOptions(`{"windowMs":1,"later":{"a":[]}}`, &s); err != nil || s.Window != time.Millisecond {
		t.Errorf("%+v, %v", s, err)
	}
	if err := ParseOptions(`{"windowMs":`, &s); err == nil {
		t.Error("broken options have no error")
	}
}
