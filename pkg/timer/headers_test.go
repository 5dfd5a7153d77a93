package timer_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

func TestHeadersAreCanonicalAndOrdered(t *testing.T) {
	made, err := timer.NewHeaders([]timer.Header{{"x-trace", "a: b, c=\"d\""}, {"AUTHORIZATION", "Bearer x"}, {"X_odd", "1"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "Authorization: Bearer x\nX-Trace: a: b, c=\"d\"\nX_odd: 1\n"
	if made != want {
		t.Errorf("made %q, want %q", made, want)
	}
	if err := made.Check(); err != nil {
		t.Errorf("what was made is not acceptable: %v", err)
	}
	if got := made.Map(); !maps.Equal(got, map[string]string{"Authorization": "Bearer x", "X-Trace": "a: b, c=\"d\"", "X_odd": "1"}) {
		t.Errorf("map: %v", got)
	}
	if none, err := timer.NewHeaders(nil); err != nil || none != "" || none.Map() != nil || none.Check() != nil {
		t.Errorf("no headers: %q, %v", none, err)
	}
}

func TestHeadersAtTheirLimits(t *testing.T) {
	many := func(n, size int) []timer.Header {
		var all []timer.Header
		for i := range n {
			name := fmt.Sprintf("X-%02d", i)
			all = append(all, timer.Header{Name: name, Value: strings.Repeat("v", size-len(name))})
		}
		return all
	}
	one := func(name, value string) []timer.Header { return []timer.Header{{Name: name, Value: value}} }
	for what, c := range map[string]struct {
		fields []timer.Header
		field  string // field of the error; empty if the headers are accepted
	}{
		"as many as may be":        {many(timer.MaxHeaders, timer.MaxHeaderBytes/timer.MaxHeaders), ""},
		"one more":                 {many(timer.MaxHeaders+1, 8), "headers"},
		"a byte more":              {append(many(timer.MaxHeaders-1, timer.MaxHeaderBytes/timer.MaxHeaders), one("X-Last", strings.Repeat("v", 123))...), "headers"},
		"twice in two cases":       {append(one("X-A", "1"), one("x-a", "2")...), "headers"},
		"no name":                  {one("", "1"), "headers"},
		"the longest name":         {one(strings.Repeat("X", 128), "1"), ""},
		"a longer name":            {one(strings.Repeat("X", 129), "1"), "headers"},
		"a name with a colon":      {one("X:A", "1"), "headers"},
		"a name with a blank":      {one("X A", "1"), "headers"},
		"a name with a line break": {one("X-A\r\nX-B", "1"), "headers"},
		"a name beyond ASCII":      {one("X-Ä", "1"), "headers"},
		"all a name may have":      {one("!#$%&'*+-.^_`|~09azAZ", "1"), ""},
		"no value":                 {one("X-A", ""), "headers.X-A"},
		"a value with a tab":       {one("X-A", "a\tb"), ""},
		"a blank before a value":   {one("X-A", " a"), "headers.X-A"},
		"a tab behind a value":     {one("X-A", "a\t"), "headers.X-A"},
		"a line break in a value":  {one("X-A", "a\r\nb: c"), "headers.X-A"},
		"a value beyond ASCII":     {one("X-A", "ü"), "headers.X-A"},
		"the protocol's own":       {one("webhook-SIGNATURE", "1"), "headers"},
		"any of its kind":          {one("Webhook-Other", "1"), "headers"},
		"its own to a CGI script":  {one("webhook_id", "1"), "headers"},
		"the length":               {one("content-length", "1"), "headers"},
		"the host":                 {one("host", "x"), "headers"},
		"the connection's":         {one("Connection", "close"), "headers"},
		"a proxy's":                {one("Proxy-Authorization", "x"), "headers"},
		"transfer encoding":        {one("Transfer-Encoding", "chunked"), "headers"},
		"the correlation id":       {one("x-correlation-id", "1"), "headers"},
		"user agent":               {one("User-Agent", "mine/1"), ""},
	} {
		made, err := timer.NewHeaders(c.fields)
		var invalid *timer.InvalidError
		switch {
		case c.field == "" && (err != nil || made.Check() != nil):
			t.Errorf("%s: %v", what, err)
		case c.field != "" && (!errors.As(err, &invalid) || invalid.Field != c.field):
			t.Errorf("%s: %v, want it to name %s", what, err, c.field)
		}
	}
}

func TestAHeadersValueIsNotShown(t *testing.T) {
	_, err := timer.NewHeaders([]timer.Header{{"Authorization", "Bearer hunter2\n"}})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the refusal is %v", err)
	}
}

func FuzzHeaders(f *testing.F) {
	f.Add("X-A", "1", "x-b", "2")
	f.Add("a", "b: c", "B\n", " ")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		made, err := timer.NewHeaders([]timer.Header{{name1, value1}, {name2, value2}})
		if err != nil {
			return
		}
		if err := made.Check(); err != nil {
			t.Fatalf("made %q, which is not acceptable: %v", made, err)
		}
		if got := made.Map(); len(got) != 2 {
			t.Fatalf("%q has %d headers", made, len(got))
		}
		var again []timer.Header
		for name, value := range made.All() {
			if value != value1 && value != value2 {
				t.Fatalf("%q has a value that nobody gave", made)
			}
			again = append(again, timer.Header{Name: name, Value: value})
		}
		if back, err := timer.NewHeaders(again); err != nil || back != made {
			t.Fatalf("%q became %q, %v", made, back, err)
		}
	})
}

func TestHeadersThatNobodyMade(t *testing.T) {
	for _, h := range []timer.Headers{"x-a: 1\n", "X-A: 1", "X-B: 1\nX-A: 1\n", "X-A:1\n", "\n", "X-A\n", "X-A: 1\n\n"} {
		if h.Check() == nil {
			t.Errorf("%q is acceptable", h)
		}
	}
}
