package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// runner runs tests on changed code.
type runner struct {
	out        io.Writer
	root, work string
	timeout    time.Duration
	within     time.Duration // after which no further mutant begins; 0: no limit
	testenv    string
	passed     map[testLine]bool // the tests that passed on the unchanged code
}

// result is the result of one mutant.
type result struct {
	by string // the test that failed; empty if none did
}

// test runs the tests of a mutant until one fails.
func (r *runner) test(ctx context.Context, m *mutant) (result, error) {
	overlay, err := r.overlay(ctx, m)
	if err != nil {
		return result{}, err
	}
	for _, test := range m.tests {
		by, err := r.goTest(ctx, test, m.needs, overlay)
		if err == nil && by != "" {
			err = r.passUnchanged(ctx, test, m.needs)
		}
		if err != nil || by != "" {
			return result{by}, err
		}
	}
	return result{}, nil
}

// passUnchanged fails unless the tests pass on the unchanged code. It runs them once.
func (r *runner) passUnchanged(ctx context.Context, test testLine, needs string) error {
	if r.passed[test] {
		return nil
	}
	by, err := r.goTest(ctx, test, needs, "")
	switch {
	case err != nil:
		return err
	case by != "":
		return fmt.Errorf("%s fails on the unchanged code", by)
	}
	r.passed[test] = true
	return nil
}

// overlay applies a patch to copies of its files, and returns the file for `go test -overlay`.
func (r *runner) overlay(ctx context.Context, m *mutant) (string, error) {
	folder := filepath.Join(r.work, m.name)
	replace := map[string]string{}
	for _, file := range m.files {
		text, err := os.ReadFile(filepath.Join(r.root, file))
		if err != nil {
			return "", err
		}
		copied := filepath.Join(folder, file)
		if err := os.MkdirAll(filepath.Dir(copied), 0o750); err != nil {
			return "", err
		}
		if err := os.WriteFile(copied, text, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(r.root, file)] = copied
	}
	apply := exec.CommandContext(ctx, "git", "apply", "--recount", "-")
	apply.Dir, apply.Stdin = folder, strings.NewReader(m.diff)
	apply.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+r.work)
	if output, err := apply.CombinedOutput(); err != nil {
		return "", fmt.Errorf("git apply: %w: %s", err, bytes.TrimSpace(output))
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "overlay.json")
	return path, os.WriteFile(path, text, 0o600)
}

var (
	failedTest = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	timedOut   = regexp.MustCompile(`(?m)^panic: test timed out after .*\n\trunning tests:\n\t\t(\S+)`)
	panicked   = regexp.MustCompile(`(?m)^(panic|fatal error): .*$`)
	notBuilt   = regexp.MustCompile(`\[(build|setup) failed\]`)
	noTests    = regexp.MustCompile(`\[no tests to run\]`)
)

// stopAfter is how long after its deadline a test process is killed.
const stopAfter = 30 * time.Second

// goTest runs tests, and returns the one that failed; "" if all passed. overlay may be empty. err means that the tests did
// not run.
func (r *runner) goTest(ctx context.Context, t testLine, needs, overlay string) (by string, err error) {
	module := filepath.Join(r.root, t.folder)
	for {
		if _, err := os.Stat(filepath.Join(module, "go.mod")); err == nil {
			break
		}
		if module == filepath.Dir(module) {
			return "", fmt.Errorf("no go.mod above %s", t.folder)
		}
		module = filepath.Dir(module)
	}
	folder, err := filepath.Rel(module, filepath.Join(r.root, t.folder))
	if err != nil {
		return "", err
	}
	args := []string{"go", "test", "-count=1", "-failfast", "-timeout", r.timeout.String(), "-run", t.pattern}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	args = append(args, "./"+folder)
	if needs != "" {
		if r.testenv == "" {
			return "", errors.New("its tests need servers: set -testenv")
		}
		args = append([]string{r.testenv, "--need", needs, "--"}, args...)
	}
	bounded, cancel := context.WithTimeout(ctx, 2*r.timeout+stopAfter)
	defer cancel()
	command := exec.CommandContext(bounded, args[0], args[1:]...) //nolint:gosec // it runs the tests that the patch names.
	command.Dir = module
	command.Env = append(append(os.Environ(), "GOWORK=off"), strings.Fields(t.environment)...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopAfter
	output, err := command.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case notBuilt.Match(output):
		return "", fmt.Errorf("it does not compile:\n%s", output)
	case err == nil && noTests.Match(output):
		return "", fmt.Errorf("no test matches %q", t)
	case err == nil:
		return "", nil
	case !errors.As(err, &exit):
		return "", err
	}
	if found := timedOut.FindSubmatch(output); found != nil {
		return string(found[1]) + " (timeout)", nil
	}
	if failed := failedTest.FindAllSubmatch(output, -1); failed != nil {
		return string(failed[len(failed)-1][1]), nil
	}
	if found := panicked.Find(output); found != nil {
		return string(found), nil
	}
	return "", fmt.Errorf("go test failed without a failed test: %w\n%s", err, output)
}
