package embedded

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
)

// logger passes the server's log to slog. The server formats its lines, so each line is an attribute of a constant
// message.
type logger struct {
	log *slog.Logger
	// broken gets a token when a stream could not be written. The server reports that only in its log.
	broken chan struct{}

	mu   sync.Mutex
	last string
}

func newLogger(log *slog.Logger) *logger {
	return &logger{log: log.With("component", "nats"), broken: make(chan struct{}, 1)}
}

func (l *logger) write(level slog.Level, format string, args []any) {
	if l.log.Enabled(context.Background(), level) {
		l.log.Log(context.Background(), level, "nats server", "line", fmt.Sprintf(format, args...))
	}
}

// writeError is part of the line that the server logs when it cannot write a stream's files: because of a full disk,
// a failed fsync, or a read-only folder.
const writeError = "ritical write error"

// fail also stores the line, because a server that does not start reports the cause only in its log.
func (l *logger) fail(format string, args []any) {
	line := fmt.Sprintf(format, args...)
	l.mu.Lock()
	l.last = line
	l.mu.Unlock()
	if strings.Contains(line, writeError) {
		select {
		case l.broken <- struct{}{}:
		default:
		}
	}
	l.write(slog.LevelError, format, args)
}

func (l *logger) lastError() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Noticef logs messages about the server's start and stop at debug level.
func (l *logger) Noticef(format string, args ...any) { l.write(slog.LevelDebug, format, args) }
func (l *logger) Debugf(format string, args ...any)  { l.write(slog.LevelDebug, format, args) }
func (l *logger) Tracef(format string, args ...any)  { l.write(slog.LevelDebug, format, args) }

// outdated is part of the line that a server logs when it starts after it was killed: it then reads a stream again to
// find expired messages.
const outdated = "TTL state is outdated"

func (l *logger) Warnf(format string, args ...any) {
	level := slog.LevelWarn
	if strings.Contains(fmt.Sprintf(format, args...), outdated) {
		level = slog.LevelDebug
	}
	l.write(level, format, args)
}

func (l *logger) Errorf(format string, args ...any) { l.fail(format, args) }
func (l *logger) Fatalf(format string, args ...any) { l.fail(format, args) }
