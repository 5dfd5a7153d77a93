package kafkabus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// clientQuiet is how long the client library must log no warning until an outage counts as over. While brokers are
	// away its retries are a few seconds apart.
	clientQuiet = 30 * time.Second
	// clientRemind is how often a lasting outage is logged.
	clientRemind = time.Minute
)

// clientLog is the logger of all clients of one handle. In an outage every client of the library logs every retry. Of
// these lines it logs the first, one a minute, and a summary at the end; all of them at level debug.
type clientLog struct {
	log *slog.Logger

	mu     sync.Mutex
	silent bool // until Connect succeeds: the error that it returns says more
	lines  int  // of this outage; 0: none
	began  time.Time
	last   time.Time
	logged time.Time
	end    *time.Timer
}

func newClientLog(log *slog.Logger) *clientLog { return &clientLog{log: log, silent: true} }

// Level implements kgo.Logger.
func (l *clientLog) Level() kgo.LogLevel {
	switch {
	case l.log.Enabled(context.Background(), slog.LevelDebug):
		return kgo.LogLevelInfo
	case l.log.Enabled(context.Background(), slog.LevelWarn):
		return kgo.LogLevelWarn
	default:
		return kgo.LogLevelNone
	}
}

// Log implements kgo.Logger.
func (l *clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	attrs := append([]any{"message", msg}, keyvals...)
	l.log.Debug("kafka client", attrs...)
	if level != kgo.LogLevelError && level != kgo.LogLevelWarn {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent {
		return
	}
	now := time.Now()
	l.lines++
	l.last = now
	switch {
	case l.lines == 1:
		l.began, l.logged = now, now
		l.end = time.AfterFunc(clientQuiet, l.over)
		l.log.Warn("kafka client failing, retrying", attrs...)
	case now.Sub(l.logged) >= clientRemind:
		l.logged = now
		l.log.Warn("kafka client still failing", append(attrs, "warnings", l.lines, "since", l.began)...)
	}
}

// over ends the outage if it has been quiet for long enough.
func (l *clientLog) over() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent {
		return
	}
	if left := clientQuiet - time.Since(l.last); left > 0 {
		l.end.Reset(left)
		return
	}
	if l.lines > 1 { // nothing was left out otherwise
		l.log.Info("kafka client recovered", "warnings", l.lines, "after", l.last.Sub(l.began).Round(time.Millisecond))
	}
	l.lines = 0
}

// start begins to log warnings, stop ends it.
func (l *clientLog) start() { l.set(false) }
func (l *clientLog) stop()  { l.set(true) }

func (l *clientLog) set(silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent, l.lines = silent, 0
	if l.end != nil {
		l.end.Stop()
	}
}
