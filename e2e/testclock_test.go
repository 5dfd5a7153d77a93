package e2e_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/pkg/client"
)

// TestTestClock moves a service through 30 days of a daily schedule, with a kill in between.
func TestTestClock(t *testing.T) {
	if onDatabase() {
		t.Skip("a test clock needs the database in the data folder")
	}
	t.Parallel()
	var mu sync.Mutex
	var called []time.Time
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct{ ExecuteAt time.Time }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		called = append(called, body.ExecuteAt)
	}))
	t.Cleanup(hook.Close)
	service := newService(t, t.TempDir(), harness.WithArgs("--test-clock"))
	w := &world{Service: service, namespace: "default"}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	w.connectAPI(t)
	if _, err := w.api.CreateSchedule(t.Context(), client.CreateScheduleRequest{
		ID: "daily", Specs: []client.ScheduleSpec{{Cron: "0 9 * * *"}}, Timer: client.CreateTimerRequest{CallbackURL: hook.URL},
	}); err != nil {
		t.Fatal(err)
	}
	advance := func(by string) client.TestClock {
		t.Helper()
		began := time.Now()
		clock, err := w.api.AdvanceClock(t.Context(), client.AdvanceClockRequest{By: by})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("advance %s: %v", by, time.Since(began))
		return clock
	}
	start, err := w.api.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := advance("15d")
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := w.Start(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	after, err := w.api.Clock(t.Context())
	if err != nil || after.Now.Before(before.Now.Time) || after.Now.Sub(before.Now.Time) > patience {
		t.Errorf("the clock shows %v before the kill and %v after it, %v", before.Now, after.Now, err)
	}
	advance("15d")

	mu.Lock()
	defer mu.Unlock()
	for i, at := range called {
		if want := called[0].AddDate(0, 0, i); !at.Equal(want) {
			t.Errorf("occurrence %d at %v, want %v", i, at, want)
		}
	}
	if len(called) != 30 || called[0].Before(start.Now.Time) {
		t.Errorf("%d occurrences from %v", len(called), start.Now)
	}

	// A moved clock cannot be left out later.
	if err := w.Kill(); err != nil {
		t.Fatal(err)
	}
	code, output := attempt(t, "dev", "--listen", "127.0.0.1:0", "--nats-listen", "", "--data", service.Data)
	if code == 0 || !strings.Contains(output, service.Data) || !strings.Contains(output, "start with --test-clock") {
		t.Errorf("without --test-clock: exit code %d: %s", code, output)
	}
}

// attempt runs the binary, which must end.
func attempt(t *testing.T, args ...string) (code int, output string) {
	t.Helper()
	c := exec.CommandContext(within(t, patience), binary, args...)
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TIMERBUS_") })
	text, err := c.CombinedOutput()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), string(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(text)
}

// TestTestClockIsRefused: the flag is for the database in the data folder, and the routes for a service with the flag.
func TestTestClockIsRefused(t *testing.T) {
	t.Parallel()
	code, output := attempt(t, "dev", "--test-clock", "--store", "postgres://user@127.0.0.1:1/none")
	if code != 2 || !strings.Contains(output, "test-clock") || !strings.Contains(output, "external database") {
		t.Errorf("with an external database: exit code %d: %s", code, output)
	}
	w := onShared(t)
	for path, body := range map[string]string{"clock/get": `{}`, "clock/advance": `{"by":"1h"}`, "clock/set": `{"time":"2100-01-01T00:00:00Z"}`} {
		r := w.post(t, path, body)
		if r.status != http.StatusNotFound || !strings.Contains(r.body, "start timerbus dev with --test-clock") {
			t.Errorf("%s: %d %s", path, r.status, r.body)
		}
	}
	if files, err := os.ReadDir(w.Data); err != nil || slices.ContainsFunc(files, func(f os.DirEntry) bool { return filepath.Ext(f.Name()) == ".json" }) {
		t.Errorf("files %v, %v", files, err)
	}
}
