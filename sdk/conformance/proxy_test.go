package conformance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/sdk/conformance"
)

// TestUnknownFaultsAreRefused: a fault with a spelling mistake must not pass the request on.
func TestUnknownFaultsAreRefused(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.NotFoundHandler())
	defer service.Close()
	proxy, err := conformance.Start(service.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	set := func(faults string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL()+conformance.Prefix+"faults", strings.NewReader(faults))
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	for faults, want := range map[string]string{
		`[{}, {"connection": "reset"}]`:                 `faults[1].connection "reset" is not accepted`,
		`[{"delay": "soon"}]`:                           `faults[0].delay: "soon" is not a duration`,
		`[{"connection": "refuse"}]`:                    `faults[0].for: "" is not a duration`,
		`[{"connection": "refuse", "for": "-1s"}]`:      `faults[0].for "-1s" is not accepted`,
		`[{"connection": "close", "for": "1s"}]`:        `faults[0].for "1s" is not accepted`,
		`[{"status": 42}]`:                              `faults[0].status 42 is not accepted`,
		`[{"state": 503}]`:                              `unknown field "state"`,
		`[{"status": 503, "connection": "reset-late"}]`: `faults[0].connection "reset-late" is not accepted`,
	} {
		if status, text := set(faults); status != http.StatusBadRequest || !strings.Contains(text, want) {
			t.Errorf("%s: %d %s, want 400 with %s", faults, status, text, want)
		}
	}
	if status, text := set(`[{"status": 503}, {"connection": "cut", "delay": "1ms"}]`); status != http.StatusNoContent {
		t.Errorf("accepted faults: %d %s", status, text)
	}
}
