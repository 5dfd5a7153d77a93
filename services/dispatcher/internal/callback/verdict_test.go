package callback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/pkg/timer"
)

// now is when the judged answers arrived.
var now = must(timer.ParseMillis("2030-01-31T09:00:00Z"))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// middle returns the middle of the random numbers, so that jitter is 0.
func middle() uint64 { return 1 << 63 }

func aTimer() *timer.Timer {
	return &timer.Timer{
		Namespace: "default", ID: "a", UUID: timer.UUIDOf("default", "a"),
		Spec: timer.Spec{
			ExecuteAt: now.Add(-time.Second), CallbackURL: "http://receiver.test/", CallbackTimeout: 30 * time.Second,
			Retry: timer.DefaultRetryPolicy(),
		},
		Generation: 7, Revision: 7,
	}
}

// TestAnswerTable tests the table of docs/design.md, section 7, line by line.
func TestAnswerTable(t *testing.T) {
	const (
		minute = time.Minute
		first  = 30 * time.Second // the default policy's first delay
	)
	reset := errors.New("connection reset by peer")
	_, dialled := net.DialTimeout("tcp", "127.0.0.1:1", time.Nanosecond)
	unresolved := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "a.test", IsNotFound: true}}
	dialRefused := &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("%w: 10.0.0.1 is a private address", egress.ErrRefused)}
	literal := must(egress.Parse("")).CheckHost("10.0.0.1")
	final := must(timer.StatusCodes{}.With(422))
	for _, c := range []struct {
		name   string
		answer Answer
		want   Kind
		next   time.Duration // from now
		reason string        // part of the reason
	}{
		{"200 empty", Answer{Status: 200}, Done, 0, ""},
		{"204", Answer{Status: 204}, Done, 0, ""},
		{"299", Answer{Status: 299}, Done, 0, ""},
		{"not JSON", ok("thank you"), Done, 0, ""},
		{"blank", ok(" \r\n"), Done, 0, ""},
		{"JSON string", ok(`"ok"`), Done, 0, ""},
		{"JSON array", ok(`[{"ok":false}]`), Done, 0, ""},
		{"JSON null", ok(`null`), Done, 0, ""},
		{"JSON of its own", ok(`{"status":"received"}`), Done, 0, ""},
		{"other case is another name", ok(`{"OK":false,"NextExecuteAt":"x"}`), Done, 0, ""},
		{"cut off JSON", ok(`{"ok":fal`), Done, 0, ""},
		{"two documents", ok(`{"ok":false} {"ok":false}`), Done, 0, ""},
		{"longer than is read", Answer{Status: 200, Body: []byte(`{"ok":false}`), TooLong: true}, Done, 0, ""},
		{"ok", ok(`{"ok":true}`), Done, 0, ""},
		{"ok with null time", ok(`{"ok":true,"nextExecuteAt":null}`), Done, 0, ""},
		{"ok with more", ok(` {"ok": true, "note": {"ok": false}} `), Done, 0, ""},

		{"again", ok(`{"ok":true,"nextExecuteAt":"2030-01-31T09:01:00Z"}`), Rescheduled, minute, ""},
		{"again though not ok", ok(`{"ok":false,"nextExecuteAt":"2030-01-31T09:01:00Z"}`), Rescheduled, minute, ""},
		{"again without ok", ok(`{"nextExecuteAt":"2030-01-31T10:01:00.0009+01:00"}`), Rescheduled, minute, ""},
		{"again in the past", ok(`{"ok":true,"nextExecuteAt":"1999-01-01T00:00:00Z"}`), Rescheduled, time.Second, ""},
		{"again at once", ok(`{"ok":true,"nextExecuteAt":"2030-01-31T09:00:00Z"}`), Rescheduled, time.Second, ""},

		{"not ok", ok(`{"ok":false}`), Retry, first, `"ok": false`},
		{"not ok behind a byte order mark", ok("\ufeff" + `{"ok":false}`), Retry, first, `"ok": false`},
		{"not ok with null time", ok(`{"ok":false,"nextExecuteAt":null}`), Retry, first, `"ok": false`},
		{"not ok ignores Retry-After", Answer{Status: 200, RetryAfter: "600", Body: []byte(`{"ok":false}`)}, Retry, first, ""},
		{"ok is text", ok(`{"ok":"yes"}`), Retry, first, `want true or false`},
		{"ok is null", ok(`{"ok":null}`), Retry, first, `want true or false`},
		{"ok is a number", ok(`{"ok":1,"nextExecuteAt":"2030-01-31T09:01:00Z"}`), Retry, first, `ok: "1"`},
		{"time is a number", ok(`{"ok":true,"nextExecuteAt":1896080460}`), Retry, first, "nextExecuteAt"},
		{"time is no time", ok(`{"ok":true,"nextExecuteAt":"tomorrow"}`), Retry, first, `"tomorrow"`},
		{"time is empty", ok(`{"ok":true,"nextExecuteAt":""}`), Retry, first, "nextExecuteAt"},
		{"time beyond year 9999", ok(`{"nextExecuteAt":"10000-01-01T00:00:00Z"}`), Retry, first, "nextExecuteAt"},

		{"301", Answer{Status: 301}, Retry, first, "redirects are not followed"},
		{"304", Answer{Status: 304}, Retry, first, "304"},
		{"408", Answer{Status: 408}, Retry, first, "408 Request Timeout"},
		{"425", Answer{Status: 425}, Retry, first, "425"},
		{"429", Answer{Status: 429}, Retry, first, "429"},
		{"500", Answer{Status: 500}, Retry, first, "500 Internal Server Error"},
		{"503", Answer{Status: 503}, Retry, first, "503"},
		{"599", Answer{Status: 599}, Retry, first, "599"},
		{"600", Answer{Status: 600}, Retry, first, "600"},
		{"101", Answer{Status: 101}, Retry, first, "101"},
		{"timeout", Answer{Err: fmt.Errorf("read: %w", context.DeadlineExceeded)}, Retry, first, "within 30s"},
		{"no connection in its time", Answer{Err: dialled}, Retry, first, "dial tcp 127.0.0.1:1: i/o timeout"},
		{"reset", Answer{Err: reset}, Retry, first, "reset by peer"},
		{"success cut off", Answer{Status: 200, Body: []byte(`{"ok":true`), Err: reset}, Retry, first, "reset by peer"},
		{"500 cut off", Answer{Status: 500, Err: reset}, Retry, first, "500"},
		{"nothing at all", Answer{}, Retry, first, "no answer"},

		{"Retry-After", Answer{Status: 503, RetryAfter: "120"}, Retry, 2 * minute, ""},
		{"Retry-After after a redirect", Answer{Status: 302, RetryAfter: "120"}, Retry, 2 * minute, ""},
		{"Retry-After below the backoff", Answer{Status: 429, RetryAfter: "1"}, Retry, first, ""},
		{"Retry-After beyond the cap", Answer{Status: 429, RetryAfter: "86400"}, Retry, 2 * time.Hour, ""},
		{"Retry-After as a date", Answer{Status: 429, RetryAfter: "Thu, 31 Jan 2030 09:05:00 GMT"}, Retry, 5 * minute, ""},
		{"Retry-After in the past", Answer{Status: 429, RetryAfter: "Thu, 31 Jan 2019 09:05:00 GMT"}, Retry, first, ""},
		{"Retry-After nonsense", Answer{Status: 429, RetryAfter: "soon"}, Retry, first, ""},

		// An ingress answers 404 while its backend is deployed, and 401 while a key is replaced.
		{"400", Answer{Status: 400}, Retry, first, "400 Bad Request"},
		{"401", Answer{Status: 401}, Retry, first, "401"},
		{"404", Answer{Status: 404, RetryAfter: "120"}, Retry, 2 * minute, "404"},
		{"499", Answer{Status: 499}, Retry, first, "499"},
		{"404 cut off", Answer{Status: 404, Err: reset}, Retry, first, "404"},

		{"410", Answer{Status: 410}, Dead, 0, "gone"},
		{"410 cut off", Answer{Status: 410, Err: reset}, Dead, 0, "gone"},
		{"listed", Answer{Status: 422}, Dead, 0, "422 Unprocessable Entity, a final status of its namespace"},
		{"listed, cut off", Answer{Status: 422, Err: reset, RetryAfter: "5"}, Dead, 0, "422"},

		{"a name that does not resolve", Answer{Err: unresolved}, Retry, first, "no such host"},
		{"a name that resolves to a refused address", Answer{Err: dialRefused}, Retry, first, "10.0.0.1 is a private address"},
		{"a refused address in the URL", Answer{Err: literal}, Dead, 0, "not called"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Classify(aTimer(), c.answer, final, now, middle)
			if v.Kind != c.want {
				t.Fatalf("kind %d, want %d (%+v)", v.Kind, c.want, v)
			}
			wantNext := timer.Millis(0)
			if c.next != 0 {
				wantNext = now.Add(c.next)
			}
			if v.NextAt != wantNext {
				t.Errorf("next at %v, want %v", v.NextAt, wantNext)
			}
			if !strings.Contains(v.Reason, c.reason) || (v.Reason == "") != (c.want == Done || c.want == Rescheduled) {
				t.Errorf("reason %q, want one with %q", v.Reason, c.reason)
			}
			if v.Status != c.answer.Status {
				t.Errorf("status %d, want %d", v.Status, c.answer.Status)
			}
			// At the last attempt, Retry becomes Exhausted; the other kinds do not change.
			last := aTimer()
			last.Attempts = timer.Attempt(last.Retry.MaxAttempts - 1)
			want := c.want
			if want == Retry {
				want = Exhausted
			}
			if v := Classify(last, c.answer, final, now, middle); v.Kind != want {
				t.Errorf("on the last attempt: kind %d, want %d", v.Kind, want)
			}
		})
	}
}

func ok(body string) Answer { return Answer{Status: 200, Body: []byte(body)} }

func TestBackoffGrowsToTheCap(t *testing.T) {
	p := timer.RetryPolicy{
		MaxAttempts: 1000, InitialInterval: 100 * time.Millisecond, BackoffMultiplier: 3, MaxInterval: 5 * time.Second,
	}
	want := []int{100, 300, 900, 2700, 5000, 5000}
	for i, w := range want {
		if got := delayAfter(&p, timer.Attempt(i+1), middle).Milliseconds(); got != int64(w) {
			t.Errorf("after attempt %d: %d ms, want %d", i+1, got, w)
		}
	}
	if got := delayAfter(&p, 999, middle); got != p.MaxInterval {
		t.Errorf("after attempt 999: %v, want the cap", got)
	}
	lowest := delayAfter(&p, 1, func() uint64 { return 0 })
	highest := delayAfter(&p, 1, func() uint64 { return ^uint64(0) })
	if lowest != 90*time.Millisecond || highest > 110*time.Millisecond || highest < 109*time.Millisecond {
		t.Errorf("jitter gives %v to %v, want 90 ms to 110 ms", lowest, highest)
	}
}

func TestMaxAttemptsDurationCountsFromExecuteAt(t *testing.T) {
	for _, c := range []struct {
		age  time.Duration // of executeAt
		want Kind
	}{
		{30 * time.Second, Retry},                      // next attempt exactly at the end
		{30*time.Second + time.Millisecond, Exhausted}, // a millisecond later
	} {
		tm := aTimer()
		tm.ExecuteAt = now.Add(-c.age)
		tm.Retry.MaxAttemptsDuration = time.Minute
		if v := Classify(tm, Answer{Status: 500}, timer.StatusCodes{}, now, middle); v.Kind != c.want {
			t.Errorf("executeAt %v ago: kind %d, want %d", c.age, v.Kind, c.want)
		}
	}
}

func TestBodyIsCutForPeople(t *testing.T) {
	long := strings.Repeat("ä", MaxBody/2)
	v := Classify(aTimer(), Answer{Status: 500, Body: []byte(long)}, timer.StatusCodes{}, now, middle)
	if len(v.Body) > maxQuoted || !strings.HasSuffix(v.Body, "ä…") {
		t.Errorf("body of %d bytes ends in %q", len(v.Body), v.Body[len(v.Body)-6:])
	}
	if v := Classify(aTimer(), Answer{Status: 500, Body: []byte("\xff\xfe bad")}, timer.StatusCodes{}, now, middle); v.Body != "\uFFFD bad" {
		t.Errorf("body %q", v.Body)
	}
	if v := Classify(aTimer(), Answer{Err: errors.New(strings.Repeat("x", 9999))}, timer.StatusCodes{}, now, middle); len(v.Reason) > maxReason {
		t.Errorf("reason of %d bytes", len(v.Reason))
	}
}

// FuzzClassify: Classify accepts every answer and returns a verdict that the store can write.
func FuzzClassify(f *testing.F) {
	f.Add(200, "", []byte(`{"ok":true,"nextExecuteAt":"2030-01-31T09:01:00Z"}`), false)
	f.Add(200, "", []byte(`{"ok":false}`), false)
	f.Add(503, "120", []byte("busy"), false)
	f.Add(429, "Thu, 31 Jan 2030 09:05:00 GMT", []byte{0xff}, true)
	f.Add(200, "", []byte(`{"ok":"\ud800","nextExecuteAt":[]}`), true)
	f.Fuzz(func(t *testing.T, status int, after string, body []byte, tooLong bool) {
		tm := aTimer()
		v := Classify(tm, Answer{Status: status, RetryAfter: after, Body: body, TooLong: tooLong}, timer.StatusCodes{}, now, middle)
		switch v.Kind {
		case Done, Dead, Exhausted:
			if v.NextAt != 0 {
				t.Fatalf("%+v has a next time", v)
			}
		case Rescheduled:
			if v.NextAt <= now || v.NextAt > timer.MaxMillis {
				t.Fatalf("%+v: next time out of range", v)
			}
		case Retry:
			if v.NextAt < now.Add(tm.Retry.InitialInterval) || v.NextAt > now.Add(tm.Retry.MaxInterval) {
				t.Fatalf("%+v: next time outside [backoff, cap]", v)
			}
		default:
			t.Fatalf("%+v has no kind", v)
		}
		if len(v.Reason) > maxReason || len(v.Body) > maxQuoted {
			t.Fatalf("%+v is too long", v)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "120", "-1", "99999999999999999999", "Thu, 31 Jan 2030 09:05:00 GMT", "1e3", " 7 "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		wait, ok := retryAfter(header, now)
		if wait < 0 || wait > timer.MaxMaxInterval || !ok && wait != 0 {
			t.Fatalf("%q: %v, %t", header, wait, ok)
		}
	})
}
