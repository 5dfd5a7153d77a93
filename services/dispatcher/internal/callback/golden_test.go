package callback

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/pkg/timer"
)

var update = flag.Bool("update", false, "write the golden file anew")

const goldenFile = "testdata/answers.golden"

// TestAnswerMatrix pins the whole answer table: every answer in every state of the policy. A changed line changes the
// protocol with receivers.
func TestAnswerMatrix(t *testing.T) {
	got := matrix()
	if *update {
		if err := os.WriteFile(goldenFile, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		var g, w string
		if i < len(gotLines) {
			g = gotLines[i]
		}
		if i < len(wantLines) {
			w = wantLines[i]
		}
		if g != w {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, g, w)
		}
	}
}

// policyStates are the states in which a timer can be when an answer arrives.
var policyStates = []struct {
	name   string
	change func(*timer.Timer)
}{
	{"first", func(*timer.Timer) {}},
	{"third", func(t *timer.Timer) { t.Attempts = 2 }},
	{"last", func(t *timer.Timer) { t.Attempts = timer.Attempt(t.Retry.MaxAttempts - 1) }},
	{"no time left", func(t *timer.Timer) {
		t.ExecuteAt, t.Retry.MaxAttemptsDuration = now.Add(-time.Hour), time.Hour
	}},
}

func matrix() string {
	var b strings.Builder
	b.WriteString("# answer | policy state | verdict | next after | reason\n")
	line := func(name string, a Answer, final timer.StatusCodes) {
		for _, state := range policyStates {
			tm := aTimer()
			state.change(tm)
			v := Classify(tm, a, final, now, middle)
			next := "-"
			if v.NextAt != 0 {
				next = v.NextAt.Sub(now).String()
			}
			fmt.Fprintf(&b, "%s | %s | %s | %s | %s\n", name, state.name, kindName[v.Kind], next, v.Reason)
		}
	}
	bodies := []string{
		"", "thanks", `{`, `[]`, `"ok"`, `null`, `{}`, `{"OK":false}`, `{"message":"hi"}`,
		`{"ok":true}`, `{"ok":false}`, `{"ok":null}`, `{"ok":1}`, `{"ok":"true"}`, `{"ok":true,"ok":false}`,
		`{"ok":true,"nextExecuteAt":"2030-01-31T10:00:00Z"}`, `{"ok":false,"nextExecuteAt":"2030-01-31T10:00:00Z"}`,
		`{"nextExecuteAt":"2030-01-31T11:00:00+01:00"}`, `{"nextExecuteAt":"2019-01-01T00:00:00Z"}`,
		`{"nextExecuteAt":null}`, `{"nextExecuteAt":""}`, `{"nextExecuteAt":1896080460}`, `{"nextExecuteAt":"tomorrow"}`,
		`{"ok":"yes","nextExecuteAt":"2030-01-31T10:00:00Z"}`,
	}
	var none timer.StatusCodes
	for _, status := range []int{200, 201, 202, 204, 299} {
		for _, body := range bodies {
			line(fmt.Sprintf("%d %s", status, body), Answer{Status: status, Body: []byte(body)}, none)
		}
	}
	// The body of an answer other than 2xx is ignored.
	for _, status := range []int{
		100, 101, 199, 300, 301, 302, 303, 304, 307, 308, 399, 400, 401, 403, 404, 405, 408, 409, 410, 413, 418, 421, 422,
		425, 429, 451, 499, 500, 501, 502, 503, 504, 520, 599, 600, 999,
	} {
		line(fmt.Sprint(status), Answer{Status: status}, none)
		line(fmt.Sprintf(`%d {"ok":true,…}`, status), Answer{
			Status: status, Body: []byte(`{"ok":true,"nextExecuteAt":"2030-01-31T10:00:00Z"}`),
		}, none)
	}
	for _, after := range []string{
		"0", "1", "60", "3600", "86400", "99999999999999999999", "-1", "1.5", "soon", " 90 ",
		"Thu, 31 Jan 2030 09:02:00 GMT", "Thursday, 31-Jan-30 09:02:00 GMT", "Thu Jan 31 09:02:00 2030", "Thu, 31 Jan 2019 09:02:00 GMT",
	} {
		for _, status := range []int{302, 429, 503} {
			line(fmt.Sprintf("%d Retry-After: %q", status, after), Answer{Status: status, RetryAfter: after}, none)
		}
	}
	cut := errors.New("read the answer: connection reset by peer")
	for _, status := range []int{0, 200, 302, 404, 410, 429, 500} {
		line(fmt.Sprintf("%d and cut off", status), Answer{Status: status, Err: cut}, none)
	}
	line("200 and too long", Answer{Status: 200, TooLong: true, Body: []byte(`{"ok":false}`)}, none)
	line("address refused by policy", Answer{Err: fmt.Errorf("dial: %w: 10.0.0.1 is a private address", egress.ErrRefused)}, none)
	line("URL refused by policy", Answer{Err: fmt.Errorf("%w: 10.0.0.1 is a private address", egress.ErrRefusedURL)}, none)
	final := must(timer.ParseStatusCodes("404 429"))
	for _, status := range []int{400, 404, 410, 429, 500} {
		line(fmt.Sprintf("%d where 404 and 429 are final", status), Answer{Status: status, RetryAfter: "120"}, final)
	}
	return b.String()
}

var kindName = map[Kind]string{
	Done: "done", Rescheduled: "rescheduled", Retry: "retry", Dead: "dead", Exhausted: "exhausted",
}

// FuzzParseReply: parseReply returns either a valid reply, or an error that explains the invalid member.
func FuzzParseReply(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[1]", `{"ok":true}`, `{"ok":false,"nextExecuteAt":null}`, `{"nextExecuteAt":"2030-01-31T09:01:00Z"}`,
		"\ufeff{\"ok\":false}", `{"ok":true}{"ok":false}`, `{"ok":tru`, `{"\u006fk":false}`, strings.Repeat(`{"a":`, 100),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := parseReply(body)
		if err != nil {
			if r != (reply{}) || err.Error() == "" {
				t.Fatalf("%q: %+v with %v", body, r, err)
			}
			return
		}
		if r.rescheduled != (r.at != 0) && r.at != 0 || r.rescheduled && (r.at < timer.MinMillis || r.at > timer.MaxMillis) {
			t.Fatalf("%q: %+v", body, r)
		}
		// Surrounding space has no effect, and parsing is deterministic.
		again, err := parseReply([]byte(" \n" + string(body) + "\t"))
		if err != nil || again != r {
			t.Fatalf("%q: %+v, then %+v, %v", body, r, again, err)
		}
	})
}
