package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/benchmark/host"
)

// asMain is the variable that makes the test binary run the program itself.
const asMain = "TIMERBUS_BENCHMARK_AS_MAIN"

// few makes every phase small.
var few = []string{
	"--creates", "20", "--pending", "100", "--commands", "20", "--backlog", "50", "--watch", "10ms", "--connections", "2",
}

func TestMain(m *testing.M) {
	if os.Getenv(asMain) != "" {
		main()
	}
	os.Exit(m.Run())
}

// binary returns TIMERBUS_BIN, or a new build.
func binary(t *testing.T) string {
	t.Helper()
	if given := os.Getenv("TIMERBUS_BIN"); given != "" {
		return given
	}
	path := filepath.Join(t.TempDir(), "timerbus")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/timerbus")
	build.Dir = ".."
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return path
}

func TestSmoke(t *testing.T) {
	service := binary(t)
	t.Setenv("TIMERBUS_LISTEN", "nonsense") // the benchmark must ignore a developer's settings
	folders := t.TempDir()
	t.Setenv("TMPDIR", folders)

	t.Run("two rounds", func(t *testing.T) {
		var stdout, stderr bytes.Buffer
		file := filepath.Join(t.TempDir(), "bench.json")
		o := options{binary: service, json: file, short: true, rounds: 2, setups: []host.Setup{host.Embedded}, phases: []string{"create", "backlog", "topic"}, extra: few}
		if err := measure(t.Context(), o, &stdout, &stderr); err != nil {
			t.Fatalf("%v\n%s", err, &stderr)
		}
		for _, want := range []string{
			"creates over HTTP, 2 connections", "fires with HTTP callback, 50 due at once", "commands through the topic, sync always",
			"commands through the topic, sync interval", "cold start", "≥ 10,000", "service  generator  receiver",
		} {
			if !strings.Contains(stdout.String(), want) {
				t.Errorf("no %q in:\n%s", want, &stdout)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all reports
		if err := json.Unmarshal(text, &all); err != nil || len(all.Setups) != 1 || all.Setups[0].Rounds != 2 || all.Machine.Processors != runtime.NumCPU() {
			t.Fatalf("%v, %s", err, text)
		}
		r := all.Setups[0]
		for _, key := range []string{
			"start.empty", "start.full", "create.rate", "backlog.outcome_rate", "backlog.cpu_service", "backlog.cpu_receiver", "topic_always.rate", "topic_always.batched_rate", "topic_interval.rate",
		} {
			i := slices.IndexFunc(r.Rows, func(row *row) bool { return row.Key == key })
			if i < 0 || len(r.Rows[i].Values) != 2 {
				t.Errorf("%s is not there twice", key)
			} else if r.Rows[i].Max <= 0 && !strings.Contains(key, "cpu") { // a few timers take less than a tick
				t.Errorf("%s is %v", key, r.Rows[i].Values)
			}
		}
		if left, err := filepath.Glob(filepath.Join(folders, "timerbus-bench-*")); err != nil || len(left) > 0 {
			t.Errorf("%s is left, %v", left, err)
		}
	})
	t.Run("service that cannot start", func(t *testing.T) {
		o := options{binary: service, phases: []string{"create"}}
		on := host.Setup{Arguments: func(string, map[string]string) []string {
			return []string{"dev", "--listen", "127.0.0.1:0", "--data", "/proc/none"}
		}}
		_, err := playRound(t.Context(), &o, &on, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "the service ended") || !strings.Contains(err.Error(), "/proc/none") {
			t.Errorf("error %v, want the output of the service", err)
		}
	})
	t.Run("generator that fails", func(t *testing.T) {
		var stderr bytes.Buffer
		o := options{binary: service, phases: []string{"naps"}}
		_, err := playRound(t.Context(), &o, &host.Embedded, &stderr)
		if err == nil || !strings.Contains(err.Error(), "the generator") || !strings.Contains(stderr.String(), "naps") {
			t.Errorf("error %v, %s", err, &stderr)
		}
	})
	if runtime.GOOS != "linux" {
		return // the test finds children, and the program ends orphans, with Linux features
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(fmt.Sprintf("no orphans after %v", signal), func(t *testing.T) { interrupted(t, service, signal) })
	}
	t.Run("an interrupted run shows its rounds", func(t *testing.T) { interruptedLater(t, service) })
}

// interruptedLater interrupts the program in its second round.
func interruptedLater(t *testing.T, service string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	json := filepath.Join(t.TempDir(), "figures.json")
	o, err := parse([]string{"-binary", service, "-short", "-rounds", "2", "-phases", "idle", "-json", json}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	stderr := &interrupter{on: []byte("round 2 of 2"), then: cancel}
	err = measure(ctx, o, &stdout, stderr)
	if err == nil || !strings.Contains(err.Error(), "round 2") {
		t.Errorf("error: %v", err)
	}
	if !strings.Contains(stdout.String(), "short, 1 round(s)") || !strings.Contains(stdout.String(), "MiB") {
		t.Errorf("no figures of the first round:\n%s%s", &stdout, &stderr.Buffer)
	}
	if _, err := os.Stat(json); err != nil {
		t.Error(err)
	}
}

// interrupter calls then when on is written.
type interrupter struct {
	bytes.Buffer

	on   []byte
	then func()
}

func (i *interrupter) Write(b []byte) (int, error) {
	if bytes.Contains(b, i.on) {
		i.then()
	}
	return i.Buffer.Write(b)
}

// interrupted signals the program during a measurement, and checks that all its children end.
func interrupted(t *testing.T, service string, signal syscall.Signal) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir() // also for files that remain after a kill
	c := exec.CommandContext(ctx, self, "-binary", service, "-phases", "idle", "-json", filepath.Join(folder, "x"))
	c.Env = append(os.Environ(), asMain+"=1", "TMPDIR="+folder)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// The third child prints it, so service and receiver are running.
	seen := make([]byte, 0, 4096)
	for !bytes.Contains(seen, []byte("idle")) {
		part := make([]byte, 256)
		n, err := stderr.Read(part)
		if err != nil {
			t.Fatalf("%v\n%s", err, seen)
		}
		seen = append(seen, part[:n]...)
	}
	children := childrenOf(t, c.Process.Pid)
	if len(children) != 3 {
		t.Errorf("%d children, want service, receiver and generator", len(children))
	}
	if err := c.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stderr) // ends when no process is left that could write
	if err := c.Wait(); err == nil {
		t.Error("it ended as if all was well")
	}
	if signal == syscall.SIGINT && c.ProcessState.ExitCode() != 1 {
		t.Errorf("exit code %d\n%s%s", c.ProcessState.ExitCode(), seen, rest)
	}
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for _, pid := range children {
		for alive(pid) {
			select {
			case <-again.C:
			case <-ctx.Done():
				t.Fatalf("process %d is still running", pid)
			}
		}
	}
	if left, _ := os.ReadDir(folder); signal == syscall.SIGINT && len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var children []int
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			t.Fatal(err)
		}
		for field := range strings.FieldsSeq(string(text)) {
			child, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			children = append(children, child)
		}
	}
	return children
}

// alive reports whether a process runs; a zombie does not count.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
