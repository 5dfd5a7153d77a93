package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// refusing starts a service that answers every request with the same error.
func refusing(t *testing.T, status int, body string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600") // more than the client waits
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestExitCodesTellErrorsApart(t *testing.T) {
	hermetic(t)
	for _, c := range []struct {
		status     int
		code, want string // want is the name of the exit code
	}{
		{404, "TIMER_NOT_FOUND", "not found"},
		{404, "NAMESPACE_NOT_FOUND", "not found"},
		{404, "SCHEDULE_NOT_FOUND", "not found"},
		{404, "NOT_FOUND", "refused"}, // there is no such path: the service is of another release
		{409, "TIMER_EXISTS", "conflict"},
		{409, "GENERATION_CONFLICT", "conflict"},
		{409, "NAMESPACE_EXISTS", "conflict"},
		{409, "SCHEDULE_EXISTS", "conflict"},
		{409, "NAMESPACE_DELETING", "conflict"},
		{400, "INVALID_INPUT", "refused"},
		{401, "UNAUTHORIZED", "refused"},
		{403, "FORBIDDEN", "refused"},
		{405, "METHOD_NOT_ALLOWED", "refused"},
		{413, "PAYLOAD_TOO_LARGE", "refused"},
		{429, "RATE_LIMITED", "unreachable"},
		{503, "UNAVAILABLE", "unreachable"},
		{500, "INTERNAL_ERROR", "failed"},
		{504, "OUTCOME_UNKNOWN", "failed"},
		// The answer is not from the service but, for example, from a proxy.
		{404, "", "unreachable"},
		{502, "", "unreachable"},
		{403, "", "refused"},
	} {
		t.Run(fmt.Sprint(c.status, c.code), func(t *testing.T) {
			body := "<html>"
			if c.code != "" {
				body = fmt.Sprintf(`{"error":%q,"message":"it is so","details":{"timerId":"a"},"timestamp":"2030-01-31T09:00:00.000Z"}`, c.code)
			}
			url := refusing(t, c.status, body)
			for _, command := range []string{"timer get a", "timer delete a", "namespace get n", "shard list", "schedule get a"} {
				code, line := failed(t, append(strings.Fields(command), "--url", url)...)
				wantCode(t, c.want, code)
				if c.code != "" && !strings.HasSuffix(line, fmt.Sprintf(": it is so (%s)\n", c.code)) {
					t.Errorf("%s: %q", command, line)
				}
			}
		})
	}
}

func TestExitCodeOfWhatIsUnreachable(t *testing.T) {
	hermetic(t)
	for _, line := range []string{
		"timer get a --url http://127.0.0.1:1", "bench --url http://127.0.0.1:1",
		"timer watch --bus nats://127.0.0.1:1", "timer watch --bus kafka://127.0.0.1:1",
		"migrate status --store postgres://u:secret@127.0.0.1:1/db",
	} {
		code, _ := failed(t, strings.Fields(line)...)
		wantCode(t, "unreachable", code)
	}
}

// With --json an error is one line of JSON, and nothing else is on the error output.
func TestErrorsAreJSON(t *testing.T) {
	hermetic(t)
	missing := refusing(t, http.StatusNotFound,
		`{"error":"TIMER_NOT_FOUND","message":"there is no timer \"<a>\"","details":{"namespace":"n","timerId":"<a>"},"timestamp":"2030-01-31T09:00:00.000Z"}`)
	proxy := refusing(t, http.StatusBadGateway, "<html>")
	for name, c := range map[string]struct {
		args []string
		want string // without its beginning and end; * matches any text
	}{
		"the service's": {
			[]string{"timer", "get", "<a>", "--json", "--url", missing},
			`"code":"TIMER_NOT_FOUND","message":"there is no timer \"<a>\"","status":404,"details":{"namespace":"n","timerId":"<a>"},"exitCode":3`,
		},
		"a proxy's": {
			[]string{"namespace", "list", "--json", "--url", proxy},
			`"code":"UNREACHABLE","message":"502 Bad Gateway: <html>","status":502,"exitCode":6`,
		},
		"nobody's": {
			[]string{"shard", "list", "--json", "--url", "http://127.0.0.1:1"},
			`"code":"UNREACHABLE","message":"*connection refused","hint":"No service listens there: *","exitCode":6`,
		},
		"of a bus": {
			[]string{"timer", "watch", "--json", "--bus", "nats://127.0.0.1:1"},
			`"code":"UNREACHABLE","message":"connect to NATS at nats://127.0.0.1:1: *","exitCode":6`,
		},
		"an argument": {
			[]string{"timer", "get", "--json"},
			"\"code\":\"USAGE\",\"message\":\"get needs ID\",\"hint\":\"Run `timerbus timer get --help` for the accepted arguments.\",\"exitCode\":2",
		},
		"a flag":         {[]string{"timer", "get", "--colour", "red", "--json"}, `"code":"USAGE","message":"unknown flag: --colour","hint":"*","exitCode":2`},
		"a flag's value": {[]string{"timer", "create", "a", "--in", "1s", "--callback-timeout", "x", "--json"}, `"code":"USAGE","message":"*\"1d12h\"","hint":"*","exitCode":2`},
		"many timers": {
			[]string{"timer", "delete", "--matching", "--status", "parked", "--yes", "--json", "--url", missing},
			`"code":"TIMER_NOT_FOUND",*"exitCode":3`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			code := run(t.Context(), c.args, strings.NewReader(""), &bytes.Buffer{}, &stderr)
			var read struct {
				Error struct{ ExitCode int } `json:"error"`
			}
			if err := json.Unmarshal(stderr.Bytes(), &read); err != nil || read.Error.ExitCode != code || code == 0 {
				t.Fatalf("exit code %d, %v: %s", code, err, &stderr)
			}
			got := stderr.String()
			for part := range strings.SplitSeq(`{"error":{`+c.want+"}}\n", "*") {
				_, after, found := strings.Cut(got, part)
				if !found {
					t.Fatalf("%s\nwant %s", &stderr, c.want)
				}
				got = after
			}
		})
	}
}

// TestExitCodesAreDocumented compares the table in docs/operations.md with that of the program.
func TestExitCodesAreDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	help := command(t, "help", "exit-codes")
	if help.code != exitOK || len(exits) != 8 {
		t.Errorf("help exit-codes: exit code %d, %s; %d exit codes", help.code, help.stderr, len(exits))
	}
	for _, e := range exits {
		if row := fmt.Sprintf("| %d | %s | %s |\n", e.code, e.name, e.meaning); !bytes.Contains(raw, []byte(row)) {
			t.Errorf("docs/operations.md has no row %s", row)
		}
		if line := fmt.Sprintf("\n  %3d  %-11s  %s", e.code, e.name, e.meaning); !strings.Contains("\n"+help.stdout, line) {
			t.Errorf("help has no line%s, but\n%s", line, help.stdout)
		}
	}
	if root := command(t, "--help"); !strings.Contains(root.stdout, "timerbus help exit-codes") {
		t.Errorf("the help does not lead to the exit codes:\n%s", root.stdout)
	}
}

func TestWatchTakesTheBusFromTheEnvironment(t *testing.T) {
	hermetic(t)
	t.Setenv("TIMERBUS_BUS", "kafka://127.0.0.1:1")
	for args, want := range map[string]string{
		"": "connect to Kafka at 127.0.0.1:1", "--bus nats://127.0.0.1:2": "connect to NATS at nats://127.0.0.1:2",
	} {
		if _, said := failed(t, append([]string{"timer", "watch"}, strings.Fields(args)...)...); !strings.Contains(said, want) {
			t.Errorf("watch %s: %s, want %s", args, said, want)
		}
	}
	// If the bus URL comes from the variable, the error names the variable.
	t.Setenv("TIMERBUS_BUS", "http://x")
	code, said := failed(t, "timer", "watch")
	if code != exitUsage || !strings.HasPrefix(said, "timerbus: TIMERBUS_BUS: ") {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// failed runs a command that fails and returns its exit code and its line about the error.
func failed(t *testing.T, args ...string) (code int, line string) {
	t.Helper()
	got := command(t, args...)
	for said := range strings.Lines(got.stderr) {
		if strings.HasPrefix(said, "timerbus: ") {
			line = said
		}
	}
	if line == "" || got.code == exitOK {
		t.Errorf("%v: exit code %d: %s", args, got.code, got.stderr)
	}
	return got.code, line
}

func wantCode(t *testing.T, name string, code int) {
	t.Helper()
	for _, e := range exits {
		if e.name == name {
			if e.code != code {
				t.Errorf("exit code %d, want %d (%s)", code, e.code, name)
			}
			return
		}
	}
	t.Errorf("no exit code is named %s", name)
}
