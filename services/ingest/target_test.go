package ingest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/egress"
	"github.com/timerbus/timerbus/services/ingest"
)

// Every verb with a URL refuses one that no dispatcher would ever call.
func TestCallbackURLsThatCanNeverBeAllowed(t *testing.T) {
	policy, err := egress.Parse("10.1.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, func(c *ingest.Config) { c.Policy = policy })
	for _, c := range []struct{ url, reason string }{
		{"http://10.1.2.3/hook", ""},
		{"https://example.com/hook", ""},
		{"http://internal.example/hook", ""}, // checked when it is resolved
		{"http://10.2.0.1/hook", "a private address"},
		{"http://169.254.169.254/", "a metadata service's address"},
		{"http://localhost:9000/", "a loopback address"},
	} {
		for path, body := range map[string]string{
			"timers/create": `{"id":"a","executeIn":"1h","callbackUrl":"` + c.url + `"}`,
			"timers/update": `{"timerId":"a","callbackUrl":"` + c.url + `"}`,
		} {
			w.post("timers/create", `{"id":"a","executeIn":"1h"}`)
			r := w.post(path, body)
			switch {
			case c.reason == "" && r.status != http.StatusOK:
				t.Errorf("%s %s: %d %s", path, c.url, r.status, r.text)
			case c.reason != "" && (r.status != http.StatusBadRequest || !strings.Contains(r.text, c.reason) ||
				!strings.Contains(r.text, "callback-allow")):
				t.Errorf("%s %s: %d %s, want 400 with %q", path, c.url, r.status, r.text, c.reason)
			}
		}
	}
}
