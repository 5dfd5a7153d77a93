package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/benchmark/host"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "drive" { // the processes of a system
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
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	return path
}

// tiny runs all code on a few timers.
func tiny() workload {
	w := shortWorkload()
	w.Creates, w.Backlog, w.Pending, w.Rates, w.Seconds = 20, 30, []int{150, 300}, []int{100}, .2
	w.margin, w.settle, w.patience = 500*time.Millisecond, 20*time.Millisecond, 20*time.Second
	return w
}

// TestSmoke measures the systems that need no server, and one whose server cannot be had.
func TestSmoke(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	o := options{
		binary: binary(t), json: filepath.Join(folder, "f.json"), svg: filepath.Join(folder, "f.svg"), testenv: filepath.Join(folder, "nothing"),
		rounds: 2, workload: tiny(),
	}
	for _, name := range []string{"timerbus-embedded", "river-sqlite", "asynq"} {
		p, err := peerNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		o.peers = append(o.peers, p)
	}
	var stdout, stderr bytes.Buffer
	if err := measure(t.Context(), &o, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	text, err := os.ReadFile(o.json)
	if err != nil {
		t.Fatal(err)
	}
	var read report
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	keys := []string{
		"create.single", "create.batch", "backlog.rate", "backlog.cpu", "steady.100.150.p99", "steady.100.300.p50", "memory.150", "memory.300",
		"early", "duplicates",
	}
	for _, r := range read.Peers[:2] {
		for _, key := range keys {
			row := r.find(key)
			if row == nil || len(row.Values) != 2 {
				t.Errorf("%s: %s is not there twice", r.Peer, key)
			} else if few := slices.Contains([]string{"early", "duplicates", "backlog.cpu"}, key); few == (row.Median > 0) && key != "backlog.cpu" {
				t.Errorf("%s: %s is %v", r.Peer, key, row.Values)
			}
		}
		if r.Rounds != 2 || r.Failed != "" || r.Versions == "" {
			t.Errorf("%s: %d rounds, failed %q, versions %q", r.Peer, r.Rounds, r.Failed, r.Versions)
		}
	}
	if r := read.Peers[2]; r.Rounds != 0 || r.NotRun != "no redis on this machine" {
		t.Errorf("asynq: %d rounds, not run: %q", r.Rounds, r.NotRun)
	}
	if !strings.Contains(stdout.String(), "not run: no redis") {
		t.Errorf("the table does not say that asynq was not run:\n%s", &stdout)
	}
	if strings.Count(stderr.String(), "round 1 of 2: asynq") != 1 || strings.Contains(stderr.String(), "round 2 of 2: asynq") {
		t.Errorf("asynq is not left out after it could not start:\n%s", &stderr)
	}
	drawing, err := os.ReadFile(o.svg)
	if err != nil || elementsOf(t, drawing)["svg"] != 1 {
		t.Errorf("%v, %s", err, drawing)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "timerbus-peers-*")); err != nil || len(left) > 0 {
		t.Errorf("%s is left, %v", left, err)
	}
}

// TestAFailureIsReported measures two systems. The process of the first cannot start.
func TestAFailureIsReported(t *testing.T) {
	folder := t.TempDir()
	o := options{binary: binary(t), json: filepath.Join(folder, "f.json"), svg: filepath.Join(folder, "f.svg"), rounds: 1, workload: tiny()}
	works, err := peerNamed("timerbus-embedded")
	if err != nil {
		t.Fatal(err)
	}
	o.peers = []peer{{name: "unknown", library: riverTuned}, works}
	var stdout, stderr bytes.Buffer
	err = measure(t.Context(), &o, &stdout, &stderr)
	if err == nil || !strings.Contains(err.Error(), "unknown, round 1: the worker of unknown ended") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(stdout.String(), "failed: unknown, round 1") || !strings.Contains(stdout.String(), "creates/s") {
		t.Errorf("the table does not have the failure and the other system:\n%s", &stdout)
	}
}

func TestParse(t *testing.T) {
	timerbus := filepath.Join(t.TempDir(), "timerbus")
	if err := os.WriteFile(timerbus, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := parse([]string{"-binary", timerbus, "-peers", "river-tuned,bullmq", "-short", "-bullmq", "elsewhere"}, io.Discard)
	if err != nil || len(o.peers) != 2 || o.peers[1].name != "bullmq" || o.rounds != 1 || o.workload.Backlog != shortWorkload().Backlog {
		t.Errorf("options %+v, %v", o, err)
	}
	if got := o.peers[1].missing(&o); !strings.HasPrefix(got, "no ") {
		t.Errorf("BullMQ can run without its packages: %q", got)
	}
	if o, err := parse([]string{"-binary", timerbus}, io.Discard); err != nil || len(o.peers) != len(peers()) || o.rounds != 3 {
		t.Errorf("options %+v, %v", o, err)
	}
	for arguments, want := range map[string]string{
		"-peers celery": `system "celery" is not accepted: want one or more of timerbus-embedded`,
		"-rounds 101":   "-rounds 101 is not accepted: want 1 to 100",
		"more":          `"more" is not accepted`,
		"-binary none":  "no timerbus binary",
	} {
		_, err := parse(append([]string{"-binary", timerbus}, strings.Fields(arguments)...), io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", arguments, err, want)
		}
	}
}

func TestPeers(t *testing.T) {
	names := map[string]bool{}
	for _, p := range peers() {
		if names[p.name] || p.about == "" || p.durability == "" || (p.library == nil) != p.script {
			t.Errorf("%+v: want a unique name, a description, the durability, and a library or a script", p)
		}
		names[p.name] = true
		if _, err := host.SetupsNamed(p.setup); (err == nil) != (p.setup != "") {
			t.Errorf("%s: setup %q: %v", p.name, p.setup, err)
		}
	}
	if !names[reference] {
		t.Errorf("no %s", reference)
	}
}

// TestAppendOnly reads what a server of Redis receives.
func TestAppendOnly(t *testing.T) {
	for answer, want := range map[string]string{"+OK\r\n": "", "-ERR no\r\n": "CONFIG SET appendfsync everysec: -ERR no"} {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		received := make(chan string, 2)
		go func() {
			defer close(received)
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			defer connection.Close()
			for lines := bufio.NewScanner(connection); lines.Scan(); {
				received <- lines.Text()
				_, _ = io.WriteString(connection, answer)
			}
		}()
		err = appendOnly(t.Context(), map[string]string{"redis": "redis://" + listener.Addr().String()})
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
		listener.Close()
		var all []string
		for line := range received {
			all = append(all, line)
		}
		if want == "" && !slices.Equal(all, []string{"CONFIG SET appendfsync everysec", "CONFIG SET appendonly yes"}) {
			t.Errorf("the server received %q", all)
		}
	}
}

func TestInCalls(t *testing.T) {
	c := creation{Count: 250, Connections: 3, Batch: 100}
	calls := make(chan [2]int, 10)
	err := inCalls(t.Context(), &c, func(_ context.Context, from, upto int) error {
		calls <- [2]int{from, upto}
		return nil
	})
	close(calls)
	var got [][2]int
	for call := range calls {
		got = append(got, call)
	}
	slices.SortFunc(got, func(a, b [2]int) int { return a[0] - b[0] })
	if err != nil || !slices.Equal(got, [][2]int{{0, 100}, {100, 200}, {200, 250}}) {
		t.Errorf("calls %v, %v", got, err)
	}
	refused := errors.New("refused")
	if err := inCalls(t.Context(), &c, func(context.Context, int, int) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
}
