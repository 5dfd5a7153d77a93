package timer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestRequestLimits(t *testing.T) {
	raw := func(change func(s *timer.Spec)) timer.Spec {
		s := spec()
		s.CallbackURL, s.Request = "http://a", timer.Request{Method: "PUT", ContentType: "text/plain"}
		s.Payload = []byte("not JSON \xff")
		change(&s)
		return s
	}
	for what, c := range map[string]struct {
		spec  timer.Spec
		field string // of the error; empty if the spec is accepted
	}{
		"a text":       {raw(func(*timer.Spec) {}), ""},
		"an empty one": {raw(func(s *timer.Spec) { s.Payload = nil }), ""},
		"no body":      {raw(func(s *timer.Spec) { s.Payload, s.Request.ContentType = nil, "" }), ""},
		"GET":          {raw(func(s *timer.Spec) { s.Payload, s.Request = nil, timer.Request{Method: "GET"} }), ""},
		"the longest type": {raw(func(s *timer.Spec) {
			s.Request.ContentType = "a/b; c=" + strings.Repeat("d", timer.MaxContentType-7)
		}), ""},
		"too long a type": {raw(func(s *timer.Spec) {
			s.Request.ContentType = "a/b; c=" + strings.Repeat("d", timer.MaxContentType-6)
		}), "request.contentType"},
		"an unknown method":    {raw(func(s *timer.Spec) { s.Request.Method = "TRACE" }), "request.method"},
		"a lower-case method":  {raw(func(s *timer.Spec) { s.Request.Method = "put" }), "request.method"},
		"a type and no method": {raw(func(s *timer.Spec) { s.Request.Method, s.Payload = "", []byte("1") }), "request.method"},
		"GET with a body":      {raw(func(s *timer.Spec) { s.Request.Method = "GET" }), "request.body"},
		"a body without type":  {raw(func(s *timer.Spec) { s.Request.ContentType = "" }), "request.contentType"},
		"no media type":        {raw(func(s *timer.Spec) { s.Request.ContentType = "text" }), "request.contentType"},
		"a line break":         {raw(func(s *timer.Spec) { s.Request.ContentType = "a/b\r\nX: y" }), "request.contentType"},
		"an event":             {raw(func(s *timer.Spec) { s.Deliver = timer.DeliverEvent }), "request"},
		"both":                 {raw(func(s *timer.Spec) { s.Deliver = timer.DeliverBoth }), "request"},
		"no URL":               {raw(func(s *timer.Spec) { s.CallbackURL = "" }), "request"},
	} {
		err := c.spec.Check()
		var invalid *timer.InvalidError
		switch {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v", what, err)
		case c.field != "" && (!errors.As(err, &invalid) || invalid.Field != c.field):
			t.Errorf("%s: %v, want an error of %s", what, err, c.field)
		}
	}
	large := raw(func(s *timer.Spec) { s.Payload = make([]byte, timer.MaxPayload+1) })
	var tooLarge *timer.PayloadTooLargeError
	if err := large.Check(); !errors.As(err, &tooLarge) {
		t.Errorf("a body of %d bytes: %v", timer.MaxPayload+1, err)
	}
}

// TestAPayloadDoesNotReplaceABody: the payload would be sent as the body of the request.
func TestAPayloadDoesNotReplaceABody(t *testing.T) {
	s := spec()
	s.CallbackURL, s.Request, s.Payload = "http://a", timer.Request{Method: "PUT", ContentType: "text/plain"}, []byte("x")
	payload, none := []byte("1"), []byte(nil)
	if _, err := (&timer.Patch{Payload: &payload}).Apply(s); err == nil || !strings.Contains(err.Error(), "has a request") {
		t.Errorf("a payload for a timer with a request: %v", err)
	}
	got, err := (&timer.Patch{Payload: &payload, Request: &timer.Request{}}).Apply(s)
	if err != nil || got.Request.Raw() || string(got.Payload) != "1" {
		t.Errorf("without the request: %+v, %v", got, err)
	}
	if got, err = (&timer.Patch{Payload: &none, Request: &timer.Request{Method: "GET"}}).Apply(s); err != nil || got.Payload != nil {
		t.Errorf("another request: %+v, %v", got, err)
	}
}

func TestWindowLimits(t *testing.T) {
	for window, accepted := range map[time.Duration]bool{
		0: true, time.Millisecond: true, timer.MaxWindow: true,
		-time.Millisecond: false, time.Microsecond: false, timer.MaxWindow + time.Millisecond: false,
	} {
		s := spec()
		s.Window = window
		if err := s.Check(); (err == nil) != accepted {
			t.Errorf("%v: %v", window, err)
		}
	}
}

// TestSpreadIsUniform compares the numbers of timers in ten equal parts of a window, for windows of which the length in
// milliseconds is, and is not, a power of two.
func TestSpreadIsUniform(t *testing.T) {
	const timers, parts = 20_000, 10
	for _, window := range []time.Duration{10 * time.Millisecond, 1 << 16 * time.Millisecond, 10 * time.Minute, timer.MaxWindow} {
		var counts [parts]int
		for i := range timers {
			u := timer.UUIDOf("default", string(rune('a'+i%26))+time.Duration(i).String())
			spread := timer.Spread(u, window)
			if spread < 0 || spread >= window || spread%time.Millisecond != 0 || spread != timer.Spread(u, window) {
				t.Fatalf("%v of %v for %v", spread, window, u)
			}
			counts[spread*parts/window]++
		}
		for part, n := range counts {
			if n < timers/parts*9/10 || n > timers/parts*11/10 {
				t.Errorf("window %v: %d timers in part %d, want about %d", window, n, part, timers/parts)
			}
		}
	}
	if timer.Spread(timer.UUIDOf("a", "b"), 0) != 0 {
		t.Error("a timer without a window is spread")
	}
}
