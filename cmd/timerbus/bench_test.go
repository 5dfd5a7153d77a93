package main

import (
	"encoding/json"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/internal/bench"
)

// few are flags that keep a benchmark short.
var few = []string{
	"--short", "--connections", "2", "--creates", "20", "--pending", "100", "--commands", "20", "--backlog", "50", "--watch", "10ms",
}

func TestBench(t *testing.T) {
	hermetic(t)
	service := start(t, "dev", "--listen", "127.0.0.1:0", "--nats-listen", "127.0.0.1:0", "--data", t.TempDir())
	address := service.see(t, service.stdout, `HTTP API +(http://\S+)\n +NATS +(nats://\S+)`)
	t.Setenv("TIMERBUS_URL", address[1])

	got := command(t, append([]string{"bench", "--phases", "create,batch"}, few...)...)
	if got.code != exitOK || !strings.Contains(got.stdout, "creates over HTTP, 2 connections") || !strings.Contains(got.stderr, "create") {
		t.Errorf("exit code %d:\n%s%s", got.code, got.stdout, got.stderr)
	}

	elsewhere := start(t, "bench", "receive", "--listen", "127.0.0.1:0")
	receiver := elsewhere.see(t, elsewhere.stdout, `(http://\S+)\n`)[1]
	args := []string{
		"bench", "--json", "--nats", address[2], "--receiver", receiver, "--pid", strconv.Itoa(os.Getpid()), "--phases", "backlog,topic",
	}
	got = command(t, append(args, few...)...)
	var answer struct{ Figures []bench.Figure }
	if err := json.Unmarshal([]byte(got.stdout), &answer); err != nil || got.code != exitOK {
		t.Fatalf("exit code %d, %v:\n%s%s", got.code, err, got.stdout, got.stderr)
	}
	found := map[string]bool{}
	for _, f := range answer.Figures {
		found[f.Key] = f.Value > 0
	}
	if !found["backlog.rate"] || !found["topic.rate"] {
		t.Errorf("figures %+v", answer.Figures)
	}
	if code := elsewhere.stop(t); code != exitOK {
		t.Errorf("the receiver ends with %d: %s", code, elsewhere.stderr)
	}
}

func TestBenchRefuses(t *testing.T) {
	hermetic(t)
	for line, want := range map[string]string{
		"--phases naps":  `phase "naps" is not accepted: want some of create`,
		"--phases topic": "phase topic needs the bus's address",
		"--creates 0":    "creates: 0 is not accepted",
		"--for 0s":       "timers of rate and for together: 0 is not accepted",
		"--url x":        `service "x" is not accepted`,
		"--listen 127.0.0.1:0 --receiver http://127.0.0.1:1": "exclude each other",
		"more": `"more" is not accepted`,
	} {
		got := command(t, append([]string{"bench"}, strings.Fields(line)...)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("bench %s: exit code %d: %s, want %s", line, got.code, got.stderr, want)
		}
	}
}

func TestBenchWithoutAService(t *testing.T) {
	hermetic(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	got := command(t, "bench", "--url", "http://"+address)
	if got.code != exitUnreachable || !strings.Contains(got.stderr, address) || !strings.Contains(got.stderr, "No service listens there") {
		t.Errorf("exit code %d: %s", got.code, got.stderr)
	}
}

func TestReachable(t *testing.T) {
	for listening, want := range map[string]string{
		"127.0.0.1:9100": "127.0.0.1:9100", "0.0.0.0:9100": "127.0.0.1:9100", "[::]:9100": "127.0.0.1:9100", ":9100": "127.0.0.1:9100", "10.0.0.1:9100": "10.0.0.1:9100",
	} {
		if got := reachable(listening); got != want {
			t.Errorf("reachable(%s) = %s, want %s", listening, got, want)
		}
	}
}
