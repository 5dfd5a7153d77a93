package kafkabus

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
)

// clientLog takes the client library's log. Its errors are our warnings: what really ended is told by
// whoever called.
type clientLog struct{ log *slog.Logger }

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
	to := slog.LevelDebug
	if level == kgo.LogLevelError || level == kgo.LogLevelWarn {
		to = slog.LevelWarn
	}
	l.log.Log(context.Background(), to, "kafka client", append([]any{"message", msg}, keyvals...)...)
}
