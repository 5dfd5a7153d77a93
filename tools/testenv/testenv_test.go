//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestSelected(t *testing.T) {
	for need, want := range map[string]string{
		"": "", "postgres": "postgres", "postgres15,postgres": "postgres15 postgres", "kafka, postgres": "kafka postgres",
	} {
		got, err := selected(recipes(), need)
		if err != nil || strings.Join(names(got), " ") != want {
			t.Errorf("%q selects %v, %v", need, names(got), err)
		}
	}
	if _, err := selected(recipes(), "postgres,oracle"); err == nil || !strings.Contains(err.Error(), "oracle: unknown server, want one of postgres") {
		t.Errorf("an unknown server: %v", err)
	}
}

func TestRecipesHaveNamesThatMakeVariables(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range recipes() {
		if r.name == "" || strings.Trim(r.name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || seen[r.name] || r.start == nil {
			t.Errorf("recipe %q: want a unique name of lower-case letters and digits, and a start", r.name)
		}
		seen[r.name] = true
	}
	if r := (recipe{name: "postgres15"}); r.variable() != "TIMERBUS_TEST_POSTGRES15" {
		t.Errorf("the variable is %s", r.variable())
	}
}

func TestWrapperModule(t *testing.T) {
	const theirs = "module k8s.io/kubernetes\ngo 1.24.0\nrequire (\n\tgithub.com/google/uuid v1.6.0\n\tk8s.io/api v0.0.0\n)\nreplace k8s.io/api => ./staging/src/k8s.io/api\n"
	const want = "module build\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v1.34.4\n\nreplace k8s.io/api => k8s.io/api v0.34.4\n"
	if got, err := wrapperModule("k8s.io/kubernetes", "v1.34.4", []byte(theirs)); err != nil || string(got) != want {
		t.Errorf("wrapperModule = %q, %v, want %q", got, err, want)
	}
	if _, err := wrapperModule("a", "v1.0.0", []byte("no go.mod")); err == nil {
		t.Error("a file that is no go.mod is accepted")
	}
}

func TestCoordinates(t *testing.T) {
	const table = "# comment\n\na  g:one:1.0\nb  g:two-{platform}:2\na\tg:three:3\n"
	got, err := coordinates(table, "a")
	if err != nil || !slices.Equal(got, []string{"g:one:1.0", "g:three:3"}) {
		t.Errorf("a: %v, %v", got, err)
	}
	if got, err = coordinates(table, "b"); err != nil || !strings.Contains(got[0], runtime.GOOS+"-") {
		t.Errorf("b: %v, %v", got, err)
	}
	if pom := project([]string{"g:one:1.0"}); !strings.Contains(pom, "<artifactId>one</artifactId><version>1.0</version>") {
		t.Errorf("pom: %s", pom)
	}
	for _, bad := range []string{"a g:one", "a g:one:1 more"} {
		if _, err := coordinates(bad, "a"); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	if _, err := coordinates(table, "c"); err == nil {
		t.Error("an unknown package is found")
	}
	// The real table contains all packages of the recipes, and is well formed.
	for _, name := range []string{"postgres", "postgres15"} {
		if _, err := coordinates(packages, name); err != nil {
			t.Error(err)
		}
	}
}

// signals never sends a signal.
func signals() <-chan os.Signal { return make(chan os.Signal) }

func TestAGivenServerIsHandedOnAndRequired(t *testing.T) {
	t.Setenv("TIMERBUS_TEST_POSTGRES", "postgres://given")
	t.Setenv(requireVariable, "redis")
	var log bytes.Buffer
	e, err := newEnvironment(t.TempDir(), &log)
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := selected(recipes(), "postgres")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.start(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	code, err := command([]string{"sh", "-c", `echo "$TIMERBUS_TEST_POSTGRES $TIMERBUS_REQUIRE $TIMERBUS_TESTENV"; exit 7`},
		e.variables(), signals(), &out, &out)
	if err != nil || code != 7 || strings.TrimSpace(out.String()) != "postgres://given postgres,redis" {
		t.Errorf("exit code %d, %v, output %q", code, err, out.String())
	}
	if err := e.close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(e.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run's folder: %v", err)
	}
}

func TestACommandThatIsNotThere(t *testing.T) {
	if code, err := command([]string{"./nobody"}, nil, signals(), os.Stdout, os.Stderr); code == 0 || err == nil {
		t.Errorf("exit code %d, %v", code, err)
	}
	code, err := command([]string{"sh", "-c", "kill -9 $$"}, nil, signals(), os.Stdout, os.Stderr)
	if code != 128+9 || err != nil {
		t.Errorf("a command that was killed: exit code %d, %v", code, err)
	}
}

func newSite(t *testing.T) *site {
	t.Helper()
	root, err := os.MkdirTemp("", "timerbus-testenv-test-") //nolint:usetesting // another user must be able to access it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &site{name: "x", cache: filepath.Join(root, "cache"), folder: filepath.Join(root, "x"), log: &bytes.Buffer{}}
	if err := s.makeFolder(s.folder); err != nil {
		t.Fatal(err)
	}
	return s
}

// shell is a program with a child, ready when the child has written its process id.
func shell(s *site) program {
	return program{
		name: "x", path: "/bin/sh", args: []string{"-c", "sleep 1000 & trap \"kill $!\" TERM; echo $! > child.$$; wait"},
		ready: func(_ context.Context, pid int) error {
			_, err := os.Stat(filepath.Join(s.folder, fmt.Sprint("child.", pid)))
			return err
		},
	}
}

func TestControl(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("children are found in /proc, which is not there")
	}
	s := newSite(t)
	if err := s.run(t.Context(), shell(s)); err != nil {
		t.Fatal(err)
	}
	c, err := serveControl(t.Context(), []*site{s})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(what string, want int) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.address+what, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %s, want %d", what, answer.Status, want)
		}
	}
	p := s.processes[0]
	family := append(descendants(p.cmd.Process.Pid), p.cmd.Process.Pid)
	if len(family) != 2 {
		t.Fatalf("the family is %v, want a shell and its child", family)
	}
	ask("/kill/nobody", http.StatusNotFound)
	ask("/start/x", http.StatusConflict)
	ask("/freeze/x", http.StatusNoContent)
	for state := ""; state != "T"; { // the test's timeout ends this
		_, _, state, _ = readStat(fmt.Sprintf("/proc/%d/stat", family[0]))
	}
	ask("/thaw/x", http.StatusNoContent)
	ask("/kill/x", http.StatusNoContent)
	if slices.ContainsFunc(family, alive) {
		t.Error("a process survived kill -9")
	}
	ask("/kill/x", http.StatusConflict)
	ask("/start/x", http.StatusNoContent)
	if err := errors.Join(c.close(), s.close()); err != nil {
		t.Error(err)
	}
	if p.running() {
		t.Error("the program runs on")
	}
}

func TestAProgramThatFailsShowsItsLog(t *testing.T) {
	s := newSite(t)
	err := s.run(t.Context(), program{
		name: "bad", path: "/bin/sh", args: []string{"-c", "echo out of luck >&2; exit 3"},
		ready: func(context.Context, int) error { return errors.New("never") },
	})
	if err == nil || !strings.Contains(err.Error(), "out of luck") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
}
