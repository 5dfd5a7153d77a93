// Package outagetest checks what a component logs during an outage.
package outagetest

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// Log collects log lines. The zero value is ready to use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// Logger returns a logger that writes to the log, from level info on.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Lines returns the lines that contain all of the given texts.
func (l *Log) Lines(texts ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
next:
	for line := range strings.Lines(l.text.String()) {
		for _, text := range texts {
			if !strings.Contains(line, text) {
				continue next
			}
		}
		found = append(found, line)
	}
	return found
}

// Await waits for a line that contains all of the given texts.
func (l *Log) Await(tb testing.TB, texts ...string) string {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if found := l.Lines(texts...); len(found) > 0 {
			return found[0]
		}
		if time.Now().After(deadline) {
			tb.Fatalf("no line has %q:\n%s", texts, strings.Join(l.Lines(), ""))
		}
	}
}

// Take returns the lines and removes them.
func (l *Log) Take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimRight(l.text.String(), "\n")
	l.text.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Want checks that all lines are those of one outage of a component: the begin with an error that contains cause, a
// line per minute, and the end with the number of failures and a duration. It removes the lines.
func (l *Log) Want(tb testing.TB, component, cause string, lasted time.Duration) {
	tb.Helper()
	lines := l.Take()
	minutes := int(lasted / time.Minute)
	if n := len(lines); n < minutes+1 || n > minutes+2 {
		tb.Fatalf("%d lines in an outage of %v, want %d or %d:\n%s", n, lasted, minutes+1, minutes+2, strings.Join(first(lines, 30), "\n"))
	}
	for i, line := range lines {
		want := []string{"level=WARN", `msg="` + component + ` still failing"`, "error=", "failures=", "failing=", "since="}
		switch i {
		case 0:
			want = []string{"level=WARN", `msg="` + component + ` failing, retrying"`, "error=", cause}
		case len(lines) - 1:
			want = []string{"level=INFO", `msg="` + component + ` recovered"`, "failures=", "after="}
		}
		for _, w := range want {
			if !strings.Contains(line, w) {
				tb.Errorf("line %d of %d has no %s:\n%s", i+1, len(lines), w, line)
			}
		}
	}
	_, after, _ := strings.Cut(lines[len(lines)-1], "after=")
	if d, err := time.ParseDuration(after); err != nil || d < lasted-time.Minute || d > lasted+time.Minute {
		tb.Errorf("it lasted %s, %v; want %v", after, err, lasted)
	}
}

func first(lines []string, n int) []string { return lines[:min(n, len(lines))] }
