package decode

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/zone"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func TestRequestIsRead(t *testing.T) {
	const at = `"id":"a","executeAt":"2030-01-31T09:00:00Z","callbackUrl":"http://h"`
	for name, c := range map[string]struct {
		request string
		want    timer.Request
		body    string
	}{
		"empty":            {`{}`, timer.Request{Method: "POST"}, ""},
		"nulls":            {`{"method":null,"body":null,"bodyBase64":null,"contentType":null,"reschedule":null}`, timer.Request{Method: "POST"}, ""},
		"GET":              {`{"method":"GET"}`, timer.Request{Method: "GET"}, ""},
		"a text":           {`{"body":"ä\u0000\n\"{"}`, timer.Request{Method: "POST", ContentType: "text/plain; charset=utf-8"}, "ä\x00\n\"{"},
		"an empty text":    {`{"method":"PUT","body":""}`, timer.Request{Method: "PUT", ContentType: "text/plain; charset=utf-8"}, ""},
		"a typed text":     {`{"body":"a=b","contentType":"application/x-www-form-urlencoded"}`, timer.Request{Method: "POST", ContentType: "application/x-www-form-urlencoded"}, "a=b"},
		"bytes":            {`{"method":"PATCH","bodyBase64":"AP8="}`, timer.Request{Method: "PATCH", ContentType: "application/octet-stream"}, "\x00\xff"},
		"escaped base64":   {`{"bodyBase64":"\u0041P8="}`, timer.Request{Method: "POST", ContentType: "application/octet-stream"}, "\x00\xff"},
		"no bytes":         {`{"bodyBase64":""}`, timer.Request{Method: "POST", ContentType: "application/octet-stream"}, ""},
		"may reschedule":   {`{"method":"DELETE","reschedule":true}`, timer.Request{Method: "DELETE", Reschedule: true}, ""},
		"reschedule false": {`{"reschedule":false}`, timer.Request{Method: "POST"}, ""},
	} {
		got, err := readSpec(`{` + at + `,"request":` + c.request + `}`)
		if err != nil || got.Request != c.want || string(got.Payload) != c.body {
			t.Errorf("%s: %+v with body %q, %v; want %+v with %q", name, got.Request, got.Payload, err, c.want, c.body)
		}
	}
}

func TestRequestIsRefused(t *testing.T) {
	const at = `"id":"a","executeAt":"2030-01-31T09:00:00Z","callbackUrl":"http://h"`
	const wantType = "want a media type such as text/plain; charset=utf-8, at most 255 bytes"
	for fields, want := range map[string]string{
		`"request":"GET"`:                                   `request: "GET" is not accepted: want an object`,
		`"request":{"verb":"GET"}`:                          `request.verb: "GET" is not accepted: want only the fields method, body, bodyBase64, contentType, reschedule`,
		`"request":{"method":"TRACE"}`:                      `request.method: "TRACE" is not accepted: want one of GET, POST, PUT, PATCH, DELETE`,
		`"request":{"method":"get"}`:                        `request.method: "get" is not accepted: want one of GET, POST, PUT, PATCH, DELETE`,
		`"request":{"method":""}`:                           `request.method: "" is not accepted: want one of GET, POST, PUT, PATCH, DELETE`,
		`"request":{"method":"GET","body":"x"}`:             `request.body: "x" is not accepted: want no body, because the method is GET`,
		`"request":{"body":7}`:                              `request.body: 7 is not accepted: want a text without unpaired surrogates`,
		`"request":{"body":"\ud800"}`:                       `request.body: "\ud800" is not accepted: want a text without unpaired surrogates`,
		`"request":{"bodyBase64":"AP8"}`:                    `request.bodyBase64: "AP8" is not accepted: want standard base64 with padding (RFC 4648, section 4)`,
		`"request":{"bodyBase64":"A_8="}`:                   `request.bodyBase64: "A_8=" is not accepted: want standard base64 with padding (RFC 4648, section 4)`,
		`"request":{"bodyBase64":"AP9="}`:                   `request.bodyBase64: "AP9=" is not accepted: want standard base64 with padding (RFC 4648, section 4)`,
		`"request":{"bodyBase64":{}}`:                       `request.bodyBase64: {} is not accepted: want standard base64 with padding (RFC 4648, section 4)`,
		`"request":{"body":"","bodyBase64":""}`:             `request.bodyBase64: "" is not accepted: want only one of body and bodyBase64`,
		`"request":{"contentType":"text/plain"}`:            `request.contentType: "text/plain" is not accepted: want body or bodyBase64, or no contentType`,
		`"request":{"body":"","contentType":""}`:            `request.contentType: "" is not accepted: ` + wantType,
		`"request":{"body":"","contentType":"text"}`:        `request.contentType: "text" is not accepted: ` + wantType,
		`"request":{"body":"","contentType":"a/b\r\nX: y"}`: `request.contentType: "a/b\r\nX: y" is not accepted: ` + wantType,
		`"request":{"reschedule":1}`:                        `request.reschedule: 1 is not accepted: want true or false`,
		`"request":{},"payload":{"a":1}`:                    `payload: "{\"a\":1}" is not accepted: want no payload with a request; its body is request.body`,
		`"request":{},"deliver":"both"`:                     `request: "POST" is not accepted: want a timer with a callbackUrl, delivered by callback only`,
		`"request":{"body":"` + tooLong + `"}`:              `payload: 102401 bytes are not accepted: want at most 102400`,
		`"window":"8d"`:                                     `window: 192h0m0s is not accepted: want a duration of whole milliseconds, at most 7 d`,
		`"window":"-1s"`:                                    `window: "-1s" is not accepted: want a duration such as "200ms", "30s", "1h" or "1d12h", not negative`,
		`"window":"1us"`:                                    `window: "1us" is not accepted: want at least "1ms"`,
		`"window":600`:                                      `window: 600 is not accepted: want a duration such as "200ms", "30s", "1h" or "1d12h", not negative`,
	} {
		if _, err := readSpec(`{` + at + `,` + fields + `}`); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", fields[:min(len(fields), 200)], err, want)
		}
	}
}

var tooLong = strings.Repeat("x", timer.MaxPayload+1)

func TestUpdatesOfRequestsAndWindows(t *testing.T) {
	old := timer.Spec{
		ExecuteAt: 5, CallbackURL: "http://old", CallbackTimeout: time.Second, Retry: timer.DefaultRetryPolicy(),
		Request: timer.Request{Method: "PUT", ContentType: "a/b"}, Payload: []byte("old"), Window: time.Hour,
	}
	settings := store.DefaultSettings()
	spread := func(window time.Duration) time.Duration { return timer.Spread(timer.UUIDOf("default", "a"), window) }
	if spread(time.Minute) == 0 || spread(time.Minute) == spread(time.Hour) {
		t.Fatal("choose another id for this test")
	}
	for fields, c := range map[string]struct {
		want    func(*timer.Spec)
		refused string
	}{
		`"correlationId":"c"`: {want: func(s *timer.Spec) { s.CorrelationID = "c" }},
		`"request":null`:      {want: func(s *timer.Spec) { s.Request, s.Payload = timer.Request{}, nil }},
		`"request":null,"payload":[1]`: {want: func(s *timer.Spec) {
			s.Request, s.Payload = timer.Request{}, []byte("[1]")
		}},
		`"request":{"body":"new"},"payload":null`: {want: func(s *timer.Spec) {
			s.Request, s.Payload = timer.Request{Method: "POST", ContentType: "text/plain; charset=utf-8"}, []byte("new")
		}},
		`"request":{"method":"GET"}`: {want: func(s *timer.Spec) { s.Request, s.Payload = timer.Request{Method: "GET"}, nil }},
		`"payload":[1]`:              {refused: `payload: "[1]" is not accepted: want no payload, because the timer has a request`},
		`"deliver":"event"`:          {refused: `request: "PUT" is not accepted: want a timer with a callbackUrl, delivered by callback only`},
		`"executeIn":"1s"`:           {want: func(s *timer.Spec) { s.ExecuteAt, s.Window = received+1000, 0 }},
		`"executeIn":"1s","window":null`: {want: func(s *timer.Spec) {
			s.ExecuteAt, s.Window = received+1000, 0
		}},
		`"executeAt":"2030-01-31T09:00:00Z","window":"1m"`: {want: func(s *timer.Spec) {
			s.ExecuteAt, s.Window = timer.Millis(1896080400000).Add(spread(time.Minute)), time.Minute
		}},
		`"window":"1m"`: {refused: `window: 1m0s is not accepted: want executeAt, executeIn or executeAtLocal with it`},
		`"window":null`: {refused: `window: "null" is not accepted: want executeAt, executeIn or executeAtLocal with it`},
	} {
		u, err := ReadUpdate([]byte(`{"id":"a",` + fields + `}`))
		var p timer.Patch
		if err == nil {
			p, err = u.Patch(timer.UUIDOf(u.Namespace, u.ID), received, &settings, zone.Load)
		}
		var got timer.Spec
		if err == nil {
			got, err = p.Apply(old)
		}
		if c.refused != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.refused) {
				t.Errorf("%s: %v, want %s", fields, err, c.refused)
			}
			continue
		}
		want := old
		c.want(&want)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", fields, got, err, want)
		}
	}
}
