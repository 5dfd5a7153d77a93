package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// outcome is the result of a finished command.
type outcome struct {
	code           int
	stdout, stderr string
}

// command runs the program to its end.
func command(t *testing.T, args ...string) outcome {
	t.Helper()
	return commandWith(t, "", args...)
}

func commandWith(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return outcome{code: code, stdout: stdout.String(), stderr: stderr.String()}
}

// refuses runs commands that end with a usage error that contains the text, and does not show the password "hush".
func refuses(t *testing.T, wants map[string]string) {
	t.Helper()
	for args, want := range wants {
		got := command(t, strings.Fields(args)...)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) || strings.Contains(got.stdout+got.stderr, "hush") {
			t.Errorf("%s: exit code %d\n%s%s\nwant %d and %s", args, got.code, got.stdout, got.stderr, exitUsage, want)
		}
	}
}

// background is a command that runs until stop is called.
type background struct {
	stdout, stderr *screen
	cancel         context.CancelFunc
	done           chan struct{}
	code           int
}

func start(t *testing.T, args ...string) *background {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	b := &background{stdout: newScreen(), stderr: newScreen(), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.code = run(ctx, args, strings.NewReader(""), b.stdout, b.stderr)
	}()
	t.Cleanup(func() { b.stop(t) })
	return b
}

// stop ends the command as Ctrl-C does.
func (b *background) stop(t *testing.T) int {
	t.Helper()
	b.cancel()
	select {
	case <-b.done:
	case <-time.After(30 * time.Second):
		t.Fatal("the command does not stop")
	}
	return b.code
}

// see waits until the screen shows the pattern and returns the text that its groups matched.
func (b *background) see(t *testing.T, s *screen, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	deadline := time.After(30 * time.Second)
	for {
		text, changed := s.text()
		if found := re.FindStringSubmatch(text); found != nil {
			return found
		}
		select {
		case <-changed:
		case <-b.done:
			if text, _ := s.text(); !re.MatchString(text) {
				t.Fatalf("the command ended with %d before it showed %s; it showed:\n%s\n%s", b.code, pattern, text, b.stderr.String())
			}
		case <-deadline:
			t.Fatalf("nothing like %s appeared in:\n%s\n%s", pattern, text, b.stderr.String())
		}
	}
}

// screen collects the output of a command.
type screen struct {
	mu      sync.Mutex
	written bytes.Buffer
	changed chan struct{}
}

func newScreen() *screen { return &screen{changed: make(chan struct{})} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.written.Write(p)
}

func (s *screen) text() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written.String(), s.changed
}

func (s *screen) String() string {
	text, _ := s.text()
	return text
}
