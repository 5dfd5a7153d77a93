package timer_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/timer"
)

// wantField fails unless the error names the field; if field is "", it expects no error.
func wantField(t *testing.T, what string, err error, field string) {
	t.Helper()
	var invalid *timer.InvalidError
	switch {
	case field == "" && err != nil:
		t.Errorf("%s: %v, want it accepted", what, err)
	case field != "" && !errors.As(err, &invalid):
		t.Errorf("%s: %v, want it refused for %s", what, err, field)
	case field != "" && invalid.Field != field:
		t.Errorf("%s: refused for %s, want %s", what, invalid.Field, field)
	}
}

func TestCheckNamespace(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "Z": true, "0": true, ".": true, "_": true, "-": true, "default": true, "a.b_c-D9": true,
		strings.Repeat("n", timer.MaxNamespace): true,
		"":                                      false, strings.Repeat("n", timer.MaxNamespace+1): false,
		" ": false, "a b": false, "a/b": false, "a:b": false, "ä": false, "a\x00": false, "a\n": false, "@": false,
		"[": false, "`": false, "{": false,
	} {
		field := "namespace"
		if ok {
			field = ""
		}
		wantField(t, name, timer.CheckNamespace(name), field)
	}
}

func TestCheckID(t *testing.T) {
	for id, ok := range map[string]bool{
		"a": true, " ": true, "order/1:2#3": true, "日本語": true, "\u200b": true,
		strings.Repeat("x", timer.MaxID): true, strings.Repeat("界", timer.MaxID/3): true,
		"": false, strings.Repeat("x", timer.MaxID+1): false, strings.Repeat("界", timer.MaxID/3+1): false,
		"a\x00": false, "a\n": false, "\t": false, "\x7f": false, "\u0085": false, "\xff": false, "a\xc3": false,
	} {
		field, correlation := "timerId", "correlationId"
		if ok {
			field = ""
		}
		if ok || id == "" {
			correlation = "" // which may be empty
		}
		wantField(t, id, timer.CheckID(id), field)
		wantField(t, id, timer.CheckCorrelationID(id), correlation)
	}
}

func TestCheckCallbackURL(t *testing.T) {
	const prefix = "https://example.com/"
	for raw, ok := range map[string]bool{
		"http://example.com": true, "https://example.com:8443/a?b=c#d": true, "HTTP://EXAMPLE.com": true,
		"http://127.0.0.1:9000/": true, "http://[::1]:9000/": true, "https://user:secret@example.com/": true,
		"https://例え.jp/": true, "http://localhost": true,
		prefix + strings.Repeat("x", timer.MaxCallbackURL-len(prefix)):   true,
		prefix + strings.Repeat("x", timer.MaxCallbackURL-len(prefix)+1): false,
		"": false, "example.com": false, "//example.com": false, "/path": false, "ftp://example.com": false,
		"http://": false, "http://:80/": false, "http:example.com": false, "https:///path": false,
		"http://exa mple.com": false, "http://example.com/a b": false, "http://example.com/\n": false,
		"http://example.com/\x7f": false, "http://example.com/\xff": false, "http://example.com:port/": false,
		"javascript:alert(1)": false, "file:///etc/passwd": false, " http://example.com": false,
	} {
		field := "callbackUrl"
		if ok {
			field = ""
		}
		wantField(t, raw, timer.CheckCallbackURL(raw), field)
	}
}

func spec() timer.Spec {
	return timer.Spec{
		ExecuteAt: present, CallbackURL: "https://example.com/", CallbackTimeout: timer.DefaultCallbackTimeout,
		Retry: timer.DefaultRetryPolicy(),
	}
}

func TestSpecCheckAtItsLimits(t *testing.T) {
	for what, c := range map[string]struct {
		change func(s *timer.Spec)
		field  string
	}{
		"as it is":              {func(*timer.Spec) {}, ""},
		"first instant":         {func(s *timer.Spec) { s.ExecuteAt = timer.MinMillis }, ""},
		"before it":             {func(s *timer.Spec) { s.ExecuteAt = timer.MinMillis - 1 }, "executeAt"},
		"last instant":          {func(s *timer.Spec) { s.ExecuteAt = timer.MaxMillis }, ""},
		"after it":              {func(s *timer.Spec) { s.ExecuteAt = timer.MaxMillis + 1 }, "executeAt"},
		"never":                 {func(s *timer.Spec) { s.ExecuteAt = timer.Never }, "executeAt"},
		"callback":              {func(s *timer.Spec) { s.Deliver = timer.DeliverCallback }, ""},
		"callback without URL":  {func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverCallback, "" }, "callbackUrl"},
		"both without URL":      {func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverBoth, "" }, "callbackUrl"},
		"event without URL":     {func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverEvent, "" }, ""},
		"event with URL":        {func(s *timer.Spec) { s.Deliver = timer.DeliverEvent }, ""},
		"event with a bad URL":  {func(s *timer.Spec) { s.Deliver, s.CallbackURL = timer.DeliverEvent, "x" }, "callbackUrl"},
		"neither":               {func(s *timer.Spec) { s.CallbackURL = "" }, ""},
		"pigeon":                {func(s *timer.Spec) { s.Deliver = "pigeon" }, "deliver"},
		"shortest timeout":      {func(s *timer.Spec) { s.CallbackTimeout = timer.MinCallbackTimeout }, ""},
		"too short a timeout":   {func(s *timer.Spec) { s.CallbackTimeout = timer.MinCallbackTimeout - 1 }, "callbackTimeout"},
		"longest timeout":       {func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout }, ""},
		"too long a timeout":    {func(s *timer.Spec) { s.CallbackTimeout = timer.MaxCallbackTimeout + 1 }, "callbackTimeout"},
		"no timeout":            {func(s *timer.Spec) { s.CallbackTimeout = 0 }, "callbackTimeout"},
		"retry":                 {func(s *timer.Spec) { s.Retry.MaxAttempts = 0 }, "retryPolicy.maxAttempts"},
		"JSON":                  {func(s *timer.Spec) { s.Payload = []byte(` {"a":[1,null]} `) }, ""},
		"no JSON":               {func(s *timer.Spec) { s.Payload = []byte("{") }, "payload"},
		"two documents":         {func(s *timer.Spec) { s.Payload = []byte("1 2") }, "payload"},
		"an empty payload":      {func(s *timer.Spec) { s.Payload = []byte{} }, "payload"},
		"not UTF-8":             {func(s *timer.Spec) { s.Payload = []byte("\"\xff\"") }, "payload"},
		"the largest payload":   {func(s *timer.Spec) { s.Payload = bytes.Repeat([]byte("1"), timer.MaxPayload) }, ""},
		"correlation id":        {func(s *timer.Spec) { s.CorrelationID = strings.Repeat("c", timer.MaxCorrelationID) }, ""},
		"a long correlation id": {func(s *timer.Spec) { s.CorrelationID = strings.Repeat("c", timer.MaxCorrelationID+1) }, "correlationId"},
	} {
		s := spec()
		c.change(&s)
		wantField(t, what, s.Check(), c.field)
	}
}

func TestSpecCheckTooLarge(t *testing.T) {
	s := spec()
	s.Payload = bytes.Repeat([]byte("1"), timer.MaxPayload+1)
	var large *timer.PayloadTooLargeError
	err := s.Check()
	if !errors.As(err, &large) || large.Size != timer.MaxPayload+1 {
		t.Fatalf("%v, want it refused for its size", err)
	}
	if want := "payload: 102401 bytes are not accepted: want at most 102400"; err.Error() != want {
		t.Errorf("the user reads %q, want %q", err, want)
	}
}

func TestSpecWay(t *testing.T) {
	for _, c := range []struct {
		deliver timer.Deliver
		url     string
		want    timer.Deliver
	}{
		{timer.DeliverAuto, "https://example.com", timer.DeliverCallback},
		{timer.DeliverAuto, "", timer.DeliverEvent},
		{timer.DeliverEvent, "https://example.com", timer.DeliverEvent},
		{timer.DeliverBoth, "https://example.com", timer.DeliverBoth},
		{timer.DeliverCallback, "https://example.com", timer.DeliverCallback},
	} {
		s := timer.Spec{Deliver: c.deliver, CallbackURL: c.url}
		if got := s.Way(); got != c.want {
			t.Errorf("deliver %q to %q goes by %q, want %q", c.deliver, c.url, got, c.want)
		}
	}
}

func TestRetryPolicyAtItsLimits(t *testing.T) {
	if err := timer.DefaultRetryPolicy().Check(); err != nil {
		t.Errorf("the default is refused: %v", err)
	}
	for what, c := range map[string]struct {
		change func(p *timer.RetryPolicy)
		field  string
	}{
		"one attempt":         {func(p *timer.RetryPolicy) { p.MaxAttempts = 1 }, ""},
		"no attempt":          {func(p *timer.RetryPolicy) { p.MaxAttempts = 0 }, "maxAttempts"},
		"most attempts":       {func(p *timer.RetryPolicy) { p.MaxAttempts = timer.MaxMaxAttempts }, ""},
		"too many":            {func(p *timer.RetryPolicy) { p.MaxAttempts = timer.MaxMaxAttempts + 1 }, "maxAttempts"},
		"shortest end":        {func(p *timer.RetryPolicy) { p.MaxAttemptsDuration = time.Second }, ""},
		"too short an end":    {func(p *timer.RetryPolicy) { p.MaxAttemptsDuration = time.Second - 1 }, "maxAttemptsDuration"},
		"negative end":        {func(p *timer.RetryPolicy) { p.MaxAttemptsDuration = -time.Second }, "maxAttemptsDuration"},
		"longest end":         {func(p *timer.RetryPolicy) { p.MaxAttemptsDuration = timer.MaxMaxAttemptsDuration }, ""},
		"too long an end":     {func(p *timer.RetryPolicy) { p.MaxAttemptsDuration = timer.MaxMaxAttemptsDuration + 1 }, "maxAttemptsDuration"},
		"shortest interval":   {func(p *timer.RetryPolicy) { p.InitialInterval = time.Millisecond }, ""},
		"too short":           {func(p *timer.RetryPolicy) { p.InitialInterval = time.Millisecond - 1 }, "initialInterval"},
		"longest interval":    {func(p *timer.RetryPolicy) { p.InitialInterval, p.MaxInterval = 24*time.Hour, 24*time.Hour }, ""},
		"too long":            {func(p *timer.RetryPolicy) { p.InitialInterval, p.MaxInterval = 24*time.Hour+1, 48*time.Hour }, "initialInterval"},
		"constant":            {func(p *timer.RetryPolicy) { p.BackoffMultiplier = 1 }, ""},
		"shrinking":           {func(p *timer.RetryPolicy) { p.BackoffMultiplier = math.Nextafter(1, 0) }, "backoffMultiplier"},
		"steepest":            {func(p *timer.RetryPolicy) { p.BackoffMultiplier = 100 }, ""},
		"too steep":           {func(p *timer.RetryPolicy) { p.BackoffMultiplier = math.Nextafter(100, 101) }, "backoffMultiplier"},
		"not a number":        {func(p *timer.RetryPolicy) { p.BackoffMultiplier = math.NaN() }, "backoffMultiplier"},
		"infinite":            {func(p *timer.RetryPolicy) { p.BackoffMultiplier = math.Inf(1) }, "backoffMultiplier"},
		"cap at the interval": {func(p *timer.RetryPolicy) { p.MaxInterval = p.InitialInterval }, ""},
		"cap below it":        {func(p *timer.RetryPolicy) { p.MaxInterval = p.InitialInterval - 1 }, "maxInterval"},
		"highest cap":         {func(p *timer.RetryPolicy) { p.MaxInterval = timer.MaxMaxInterval }, ""},
		"too high a cap":      {func(p *timer.RetryPolicy) { p.MaxInterval = timer.MaxMaxInterval + 1 }, "maxInterval"},
	} {
		p := timer.DefaultRetryPolicy()
		c.change(&p)
		field := c.field
		if field != "" {
			field = "retryPolicy." + field
		}
		wantField(t, what, p.Check(), field)
	}
}

func TestInvalidErrorsShowAndCutTheValue(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{"a\"b\n", `f: "a\"b\n" is not accepted: want x`},
		{[]byte("raw"), `f: "raw" is not accepted: want x`},
		{42, `f: 42 is not accepted: want x`},
		{90 * time.Second, `f: 1m30s is not accepted: want x`},
		{strings.Repeat("y", 80), `f: "` + strings.Repeat("y", 80) + `" is not accepted: want x`},
		{strings.Repeat("y", 81), `f: "` + strings.Repeat("y", 80) + `…" is not accepted: want x`},
	} {
		if got := timer.Invalid("f", c.value, "x").Error(); got != c.want {
			t.Errorf("Invalid of %v reads %s, want %s", c.value, got, c.want)
		}
	}
}

func TestTimerNames(t *testing.T) {
	u := timer.UUIDOf("default", "order-1")
	x := timer.Timer{UUID: u, Generation: 7}
	if got := x.Correlation(); got != u.String() {
		t.Errorf("a correlation id that nobody gave is %q, want the uuid", got)
	}
	x.CorrelationID = "mine"
	if got := x.Correlation(); got != "mine" {
		t.Errorf("the given correlation id is %q", got)
	}
	if got := x.WebhookID(); got != "9a0af39d-ac5f-5e3b-845a-27f02d7c5a5e_7" {
		t.Errorf("webhook id is %q", got)
	}
	finished := 0
	for _, s := range timer.Statuses() {
		if s.Finished() {
			finished++
		}
	}
	if finished != 2 || !timer.StatusDone.Finished() || !timer.StatusDead.Finished() {
		t.Error("done and dead are the finished ones")
	}
}

func FuzzCheckCallbackURL(f *testing.F) {
	f.Add("https://example.com/a?b=c")
	f.Add("http://[::1%25eth0]:1/")
	f.Fuzz(func(t *testing.T, raw string) {
		if timer.CheckCallbackURL(raw) != nil {
			return
		}
		if len(raw) > timer.MaxCallbackURL || strings.ContainsAny(raw, " \n\r\t\x00") ||
			!strings.HasPrefix(strings.ToLower(raw), "http") {
			t.Errorf("%q is accepted", raw)
		}
	})
}

func FuzzCheckID(f *testing.F) {
	f.Add("order-1")
	f.Add("\u0085")
	f.Fuzz(func(t *testing.T, id string) {
		if timer.CheckID(id) == nil && (id == "" || len(id) > timer.MaxID || strings.ToValidUTF8(id, "") != id || strings.ContainsAny(id, "\x00\n\r")) {
			t.Errorf("%q is accepted", id)
		}
	})
}

// TestTheDefaultRetryPolicySpansADay: a receiver may be down for a night without losing a timer.
func TestTheDefaultRetryPolicySpansADay(t *testing.T) {
	p := timer.DefaultRetryPolicy()
	var span time.Duration
	for delay, n := p.InitialInterval, 1; n < p.MaxAttempts; n++ {
		span += min(delay, p.MaxInterval)
		delay = time.Duration(float64(delay) * p.BackoffMultiplier)
	}
	if span < 24*time.Hour || span > 25*time.Hour {
		t.Errorf("%d attempts span %v, want about 24 hours", p.MaxAttempts, span)
	}
}
