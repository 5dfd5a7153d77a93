package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// callCounts counts the callbacks by the path of the URL, and keeps the last webhook-id of each.
type callCounts struct {
	mu    sync.Mutex
	calls map[string]int
	ids   map[string]string
}

func countCalls(t *testing.T) (url string, calls *callCounts) {
	t.Helper()
	calls = &callCounts{calls: map[string]int{}, ids: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls.mu.Lock()
		defer calls.mu.Unlock()
		calls.calls[r.URL.Path]++
		calls.ids[r.URL.Path] = r.Header.Get("Webhook-Id")
	}))
	t.Cleanup(server.Close)
	return server.URL, calls
}

func (c *callCounts) of(path string) (calls int, webhookID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[path], c.ids[path]
}

// await waits until there were n calls.
func (c *callCounts) await(t *testing.T, path string, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got, _ := c.of(path)
		if got == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d calls of %s, want %d", got, path, n)
		}
	}
}

// TestRestoreOfADataFolder backs up a folder, lets the service deliver a timer, and restores the folder twice: without and
// with the command.
func TestRestoreOfADataFolder(t *testing.T) {
	hermetic(t)
	receiver, calls := countCalls(t)
	folder := t.TempDir()
	service, api := dev(t, folder)
	create := func(id, in string) {
		t.Helper()
		if got := command(t, "timer", "create", id, "--in", in, "--callback-url", receiver+"/"+id, "--url", api); got.code != exitOK {
			t.Fatal(got.stderr)
		}
	}
	create("delivered", "3s")
	create("during-the-outage", "8s")
	create("future", "1h")
	plain, cut := t.TempDir(), t.TempDir()
	for _, to := range []string{plain, cut} {
		if got := command(t, "backup", filepath.Join(to, "timerbus.db"), "--data", folder); got.code != exitOK {
			t.Fatal(got.stderr)
		}
	}
	if got, _ := calls.of("/delivered"); got != 0 {
		t.Fatal("the backup took longer than the timer")
	}
	calls.await(t, "/delivered", 1)
	service.stop(t)
	stopped := time.Now().UTC()
	if got, _ := calls.of("/during-the-outage"); got != 0 {
		t.Fatal("the stop took longer than the timer")
	}
	_, original := calls.of("/delivered")
	time.Sleep(time.Until(stopped.Add(6 * time.Second))) // until "during-the-outage" is overdue
	at := stopped.Format(time.RFC3339Nano)

	counts := func(code int, args ...string) restored {
		t.Helper()
		got := command(t, append([]string{"restore", "--json", "--skip-due-before", at}, args...)...)
		var answer struct{ Namespaces []restored }
		if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || got.code != code || len(answer.Namespaces) != 1 {
			t.Fatalf("exit code %d, %v: %s%s", got.code, err, got.stdout, got.stderr)
		}
		return answer.Namespaces[0]
	}
	for range 2 { // counting changes nothing
		if n := counts(exitOK, "--data", cut); n.Due != 1 || n.Dead != 0 || n.Later != 1 {
			t.Errorf("counted %+v", n)
		}
	}
	if n := counts(exitOK, "--data", cut, "--apply"); n.Due != 1 || n.Dead != 1 || n.Later != 1 {
		t.Errorf("applied %+v", n)
	}

	service, api = dev(t, cut)
	calls.await(t, "/during-the-outage", 1)
	got := command(t, "timer", "get", "delivered", "--json", "--url", api)
	if !strings.Contains(got.stdout, `"dead"`) || !strings.Contains(got.stdout, "skipped by a restore") {
		t.Errorf("the skipped timer:\n%s", got.stdout)
	}
	if got := command(t, "timer", "get", "future", "--json", "--url", api); !strings.Contains(got.stdout, `"scheduled"`) {
		t.Errorf("a timer of the future:\n%s", got.stdout)
	}
	if busy := command(t, "restore", "--skip-due-before", at, "--data", cut); busy.code != exitFailure || !strings.Contains(busy.stderr, "in use") {
		t.Errorf("while a process runs: exit code %d, %s", busy.code, busy.stderr)
	}
	time.Sleep(2 * time.Second) // longer than the sweep's grace
	if n, _ := calls.of("/delivered"); n != 1 {
		t.Errorf("the timer was delivered %d times, want once", n)
	}
	service.stop(t)

	// Without the command the timer is delivered again, with the same webhook-id.
	service, _ = dev(t, plain)
	calls.await(t, "/delivered", 2)
	if _, again := calls.of("/delivered"); again != original || again == "" {
		t.Errorf("webhook-id %s, before the restore %s", again, original)
	}
	service.stop(t)
}

func TestRestoreRefuses(t *testing.T) {
	hermetic(t)
	refuses(t, map[string]string{
		"restore":                              "--skip-due-before is missing",
		"restore --skip-due-before yesterday":  "--skip-due-before",
		"restore --skip-due-before 2026-11-23": "--skip-due-before",
		"restore --fire-overdue=false":         "unknown flag",
		"restore --skip-due-before 2026-01-01T00:00:00Z --store memory:":                    "exists only inside its process",
		"restore --skip-due-before 2026-01-01T00:00:00Z --store oracle://me:hush@h":         "--store: ",
		"restore --skip-due-before 2026-01-01T00:00:00Z --store sqlite:/x?cache=1":          "sqlite:FOLDER",
		"restore --skip-due-before 2026-01-01T00:00:00Z --store postgres://h/db everything": "wants no argument",
	})
	folder := t.TempDir()
	got := command(t, "restore", "--skip-due-before", "2026-01-01T00:00:00Z", "--data", folder)
	if got.code != exitFailure || !strings.Contains(got.stderr, "holds no database") {
		t.Errorf("of an empty folder: exit code %d, %s", got.code, got.stderr)
	}
	service, _ := dev(t, folder)
	service.stop(t)
	future := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	if got := command(t, "restore", "--skip-due-before", future, "--data", folder); got.code != exitUsage || !strings.Contains(got.stderr, "before the present") {
		t.Errorf("with a cut-off in the future: exit code %d, %s", got.code, got.stderr)
	}
	if got := command(t, "restore", "--skip-due-before", "2026-01-01T00:00:00Z", "--data", folder); got.code != exitOK ||
		!strings.Contains(got.stdout, "default") || !strings.Contains(got.stdout, "--apply") {
		t.Errorf("counting: exit code %d, %s%s", got.code, got.stdout, got.stderr)
	}
}
