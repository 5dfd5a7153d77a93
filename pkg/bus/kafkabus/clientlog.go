package kafkabus

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/timerbus/timerbus/internal/outage"
)

// clientQuiet is how long the client library must log no warning until an outage counts as over. While brokers are
// unreachable, its retries are a few seconds apart.
const clientQuiet = 30 * time.Second

// clientLog is the logger of all clients of one handle. In an outage every client of the library logs every retry.
// clientLog logs these warnings as one outage, and each of them at level debug.
type clientLog struct {
	log    *slog.Logger
	outage *outage.Log

	mu     sync.Mutex
	silent bool      // until Connect succeeds: the error that it returns is more specific
	last   time.Time // time of the last warning
	end    *time.Timer
}

func newClientLog(log *slog.Logger) *clientLog {
	return &clientLog{log: log, silent: true, outage: outage.New(log, "kafka client", "message")}
}

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
	l.log.Debug("kafka client", append([]any{"message", msg}, keyvals...)...)
	if level != kgo.LogLevelError && level != kgo.LogLevelWarn {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent {
		return
	}
	l.last = time.Now()
	l.outage.Failed(msg, nil, keyvals...)
	if l.end == nil {
		l.end = time.AfterFunc(clientQuiet, l.over)
	}
}

// over ends the outage if no warning was logged for clientQuiet.
func (l *clientLog) over() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent || l.end == nil {
		return
	}
	if left := clientQuiet - time.Since(l.last); left > 0 {
		l.end.Reset(left)
		return
	}
	l.end = nil
	l.outage.Recovered(l.last)
}

// start begins to log warnings, stop ends it.
func (l *clientLog) start() { l.set(false) }
func (l *clientLog) stop()  { l.set(true) }

func (l *clientLog) set(silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = silent
	l.outage.Stop()
	if l.end != nil {
		l.end.Stop()
		l.end = nil
	}
}
