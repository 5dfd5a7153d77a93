package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/api"
)

// TestWaitingHasAnEnd: the command first reports that it waits, and its last line names the cause.
func TestWaitingHasAnEnd(t *testing.T) {
	hermetic(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // connects, and does not answer
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for store, says := range map[string]string{
		"postgres://u:secret@127.0.0.1:1/db":                                      "the store does not answer",
		"postgres://u:secret@" + silent.Addr().String() + "/db?connect_timeout=1": "the store does not answer",
		"sqlite:" + t.TempDir():                                                   "the bus does not answer",
	} {
		args := []string{"dev", "--listen", "127.0.0.1:0", "--store", store, "--bus", "nats://127.0.0.1:1", "--start-wait", "300ms"}
		got := command(t, args...)
		lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
		waits := slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, "not started yet") && strings.Contains(line, says)
		})
		if last := lines[len(lines)-1]; got.code != exitUnreachable || !waits || !strings.HasPrefix(last, "timerbus: ") || strings.Contains(got.stderr, "secret") {
			t.Errorf("exit code %d:\n%s", got.code, got.stderr)
		}
	}
}

// TestLobbyLeavesTheListener: the lobby answers probes before the node is open, and the node then uses the same port.
func TestLobbyLeavesTheListener(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var told lobby
	told.say("the bus does not answer")
	stop := told.open(l, slog.New(slog.DiscardHandler))
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable, "/api/v1/timers/get": http.StatusServiceUnavailable} {
		status, body := get(t, l, path)
		var health api.Health
		if err := json.Unmarshal(body, &health); err != nil || status != want {
			t.Errorf("%s answers %d %s", path, status, body)
		}
		if want != http.StatusOK && !slices.Equal(health.Reasons, []string{"the bus does not answer"}) {
			t.Errorf("%s gives the reasons %v", path, health.Reasons)
		}
	}
	stop()
	node := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = node.Serve(l) }()
	defer node.Close()
	if status, body := get(t, l, "/readyz"); status != http.StatusNotFound {
		t.Errorf("after the lobby closed: %d %s", status, body)
	}
}

func get(t *testing.T, l net.Listener, path string) (status int, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, body
}
