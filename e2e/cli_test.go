package e2e_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/timerbus/timerbus/pkg/client"
)

// cli runs the binary like a user at a terminal. It fails the test if the exit code is not want.
func (w *world) cli(t *testing.T, want int, args ...string) string {
	t.Helper()
	command := exec.CommandContext(within(t, patience), binary, args...)
	command.Env = append(command.Environ(), "TIMERBUS_URL="+w.URL())
	output, err := command.CombinedOutput()
	if code := command.ProcessState.ExitCode(); code != want {
		t.Fatalf("timerbus %s: exit code %d, %v, want %d\n%s", strings.Join(args, " "), code, err, want, output)
	}
	return string(output)
}

// cliJSON decodes the output of --json.
func cliJSON[T any](t *testing.T, w *world, args ...string) T {
	t.Helper()
	var v T
	output := w.cli(t, 0, append(args, "--json")...)
	if err := json.Unmarshal([]byte(output), &v); err != nil {
		t.Fatalf("timerbus %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return v
}

// TestCommandLine runs the commands of the README, with `timerbus receive` as the receiver.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := onShared(t)
	receive := exec.CommandContext(within(t, patience), binary, "receive", "--listen", "127.0.0.1:0", "--fail-first", "1")
	stdout, err := receive.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	receive.Stderr = receive.Stdout
	if err := receive.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	line := func(want string) string {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return lines.Text()
			}
		}
		t.Fatalf("receive ended without printing %q: %v", want, lines.Err())
		return ""
	}
	url := strings.Fields(line("http://"))[2]

	ns := w.namespace
	made := cliJSON[client.Timer](t, w, "timer", "create", "order-17", "-n", ns, "--in", "1h", "--callback-url", url, "--payload", `{"order":17}`)
	if made.ID != "order-17" || string(made.Payload) == "" {
		t.Errorf("created %+v", made)
	}
	if got := cliJSON[client.Timer](t, w, "timer", "get", "order-17", "-n", ns); got.Generation != made.Generation {
		t.Errorf("got %+v", got)
	}
	w.cli(t, 0, "timer", "update", "order-17", "-n", ns, "--in", "200ms", "--initial-interval", "100ms")
	for attempt := 1; attempt <= 2; attempt++ {
		if shown := line("order-17"); !strings.Contains(shown, "late") || !strings.Contains(shown, fmt.Sprint("attempt ", attempt)) {
			t.Errorf("receive prints %q", shown)
		}
	}
	w.reaches(t, "order-17", isStatus("done"))
	if shown := w.cli(t, 0, "timer", "history", "order-17", "-n", ns); strings.Count(shown, "failed") != 1 || !strings.Contains(shown, "done") {
		t.Errorf("history prints\n%s", shown)
	}
	w.cli(t, 0, "timer", "create", "other", "-n", ns, "--in", "1h")
	if shown := w.cli(t, 0, "timer", "list", "-n", ns); !strings.Contains(shown, "other") || strings.Contains(shown, "order-17") {
		t.Errorf("list prints\n%s", shown)
	}
	w.cli(t, 0, "timer", "delete", "other", "-n", ns)
	w.cli(t, 3, "timer", "get", "other", "-n", ns)
	w.cli(t, 2, "timer", "create", "neither", "-n", ns)
	if shown := w.cli(t, 0, "namespace", "list"); !strings.Contains(shown, ns) || !strings.Contains(shown, "default") {
		t.Errorf("namespace list prints\n%s", shown)
	}
	if err := receive.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := receive.Wait(); err != nil {
		t.Errorf("receive, interrupted: %v", err)
	}
}
