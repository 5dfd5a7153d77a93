package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	hermetic(t)
	for name, c := range map[string]struct {
		status int
		answer string
		code   int
		shows  string // after the URL
	}{
		"ready":     {http.StatusOK, `{"status":"ready"}`, exitOK, " is ready\n"},
		"degraded":  {http.StatusOK, `{"status":"ready","degraded":[{"part":"bus","reason":"the bus does not answer"}]}`, exitOK, " is ready, but degraded: the bus does not answer\n"},
		"not ready": {http.StatusServiceUnavailable, `{"status":"not ready","reasons":["the store does not answer","hints are not consumed"]}`, exitFailure, " is not ready: the store does not answer; hints are not consumed\n"},
		"a proxy":   {http.StatusServiceUnavailable, `no upstream`, exitFailure, " does not answer: GET /readyz: 503 Service Unavailable is not the answer of a Timerbus process\n"},
		"no route":  {http.StatusNotFound, `{"status":"ready"}`, exitFailure, " does not answer: GET /readyz: 404 Not Found is not the answer of a Timerbus process\n"},
		"other":     {http.StatusOK, `{}`, exitFailure, " does not answer: GET /readyz: 200 OK is not the answer of a Timerbus process\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.URL.Path
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.answer)
			}))
			defer server.Close()
			got := command(t, "healthcheck", "--url", server.URL)
			want := server.URL + c.shows
			if c.code != exitOK {
				want = "timerbus: " + want
			}
			if got.code != c.code || got.stdout+got.stderr != want || asked != "/readyz" {
				t.Errorf("exit code %d after GET %s:\n%swant %d and\n%s", got.code, asked, got.stdout+got.stderr, c.code, want)
			}
		})
	}
}

// TestHealthcheckFindsTheProcess: without --url it asks the address of the settings: from the file, a flag, or the environment.
func TestHealthcheckFindsTheProcess(t *testing.T) {
	hermetic(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"status":"ready"}`)
	}))
	defer server.Close()
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	file := filepath.Join(t.TempDir(), "timerbus.yaml")
	if err := os.WriteFile(file, []byte("listen: 0.0.0.0:"+port+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ready := "http://127.0.0.1:" + port + " is ready\n"
	if got := command(t, "healthcheck", "--config", file); got.stdout != ready {
		t.Errorf("with a file: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := command(t, "healthcheck", "--listen", "127.0.0.1:"+port); got.stdout != ready {
		t.Errorf("with a flag: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	t.Setenv("TIMERBUS_LISTEN", ":"+port)
	t.Setenv("TIMERBUS_STORE", "postgres://u:p@127.0.0.1:1/db") // a setting of the process that the check does not use
	if got := command(t, "healthcheck"); got.stdout != ready {
		t.Errorf("with the environment: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	server.Close()
	if got := command(t, "healthcheck"); got.code != exitFailure || !strings.Contains(got.stderr, ":"+port+" does not answer: ") {
		t.Errorf("without a process: exit code %d\n%s", got.code, got.stderr)
	}
}

func TestHealthcheckUsage(t *testing.T) {
	hermetic(t)
	for args, want := range map[string]string{
		"healthcheck now":                               "healthcheck wants no argument",
		"healthcheck --url 127.0.0.1:8080":              `--url "127.0.0.1:8080" is not accepted: want the URL of a process, such as http://127.0.0.1:8081`,
		"healthcheck --url tcp://h:1":                   `--url "tcp://h:1" is not accepted`,
		"healthcheck --listen 8080":                     `listen: "8080" is not accepted: want host:port`,
		"healthcheck --store x":                         "unknown flag: --store",
		"healthcheck --listen 127.0.0.1:1 --url http:x": "none of the others can be",
	} {
		t.Run(args, func(t *testing.T) {
			if got := command(t, strings.Fields(args)...); got.code != exitUsage || !strings.Contains(got.stderr, want) {
				t.Errorf("exit code %d\n%s\nwant %d and %s", got.code, got.stderr, exitUsage, want)
			}
		})
	}
}
