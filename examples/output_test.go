package examples_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

//testenv:need postgres redis kafka

// TestOutput runs every example like a user, and compares its output with its expected.txt, in which * matches any text
// within a line.
func TestOutput(t *testing.T) {
	t.Parallel()
	folder := build(t)
	ran := map[string]bool{}
	for _, c := range []struct {
		name string
		args []string
		// The server that it needs: its name in testenv, and the flag for its address.
		server, flag string
	}{
		{name: "ordertimeout"},
		{name: "reminder"},
		{name: "backoff"},
		{name: "delivery"},
		{name: "maintenance"},
		{name: "flow"},
		{name: "schedule"},
		{name: "delayed"},
		{name: "delayed", server: "kafka", flag: "-kafka"},
		{name: "sqltransaction", server: "postgres", flag: "-postgres"},
		{name: "outbox", server: "postgres", flag: "-postgres", args: []string{"-timerbus", filepath.Join(folder, "timerbus")}},
		{name: "redisstreams", server: "redis", flag: "-redis"},
	} {
		ran[c.name] = true
		t.Run(path.Join(c.name, c.server), func(t *testing.T) {
			t.Parallel()
			args := c.args
			if c.server != "" {
				args = append(slices.Clone(args), c.flag, address(t, c.server))
			}
			got := run(t, filepath.Join(folder, c.name), args...)
			t.Logf("%s %s\n%s", c.name, strings.Join(args, " "), got)
			want, err := os.ReadFile(filepath.Join(c.name, "expected.txt"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, got, string(want))
		})
	}
	files, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !ran[filepath.Dir(file)] {
			t.Errorf("%s is not run", file)
		}
	}
}

// build builds all examples, and the program timerbus, without debug information, because linking takes most of the time.
func build(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, cmd := range []*exec.Cmd{
		exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", folder, "./..."),
		exec.CommandContext(t.Context(), "go", "build", "-C", "..", "-tags", "grpcnotrace", "-ldflags=-s -w", "-o", folder, "./cmd/timerbus"),
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	return folder
}

func run(t *testing.T, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, failure bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = &out, &failure
	// The variables of the test are not settings of a service that an example starts.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TIMERBUS_") })
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s", filepath.Base(program), err, &failure)
	}
	if failure.Len() > 0 {
		t.Logf("standard error:\n%s", &failure)
	}
	return out.String()
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	gotLines, wantLines := slices.Collect(strings.Lines(got)), slices.Collect(strings.Lines(want))
	for i, line := range gotLines {
		// Lines contain no other special character of path.Match, and no slash in the text that * matches.
		if i >= len(wantLines) {
			t.Errorf("line %d is too many: %s", i+1, line)
			continue
		}
		if ok, err := path.Match(wantLines[i], line); err != nil || !ok && line != wantLines[i] {
			t.Errorf("line %d is %q, want %q", i+1, line, wantLines[i])
		}
	}
	for _, line := range wantLines[min(len(gotLines), len(wantLines)):] {
		t.Errorf("missing: %s", line)
	}
}

// address returns the address of a server. If there is none the test is skipped, unless TIMERBUS_REQUIRE names the server.
func address(t *testing.T, server string) string {
	t.Helper()
	variable := "TIMERBUS_TEST_" + strings.ToUpper(server)
	address := os.Getenv(variable)
	if address == "" && slices.Contains(strings.Split(os.Getenv("TIMERBUS_REQUIRE"), ","), server) {
		t.Fatalf("TIMERBUS_REQUIRE names %s, and %s is not set", server, variable)
	}
	if address == "" {
		t.Skipf("no %s: `make examples` starts one", server)
	}
	return address
}

// TestComparisonCatches checks that compare reports differences.
func TestComparisonCatches(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{"a\nb\n", "a\n"}, {"a\n", "a\nb\n"}, {"a\n", "b\n"}, {"after 1 s: x\n", "after * s: y\n"}, {"", "a\n"},
	} {
		probe := &testing.T{}
		compare(probe, c.got, c.want)
		if !probe.Failed() {
			t.Errorf("%q passed for %q", c.got, c.want)
		}
	}
	compare(t, "after 1 s: x\n", "after * s: x\n")
}
