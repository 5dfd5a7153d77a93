package process

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/mattn/go-isatty"

	"github.com/timerbus/timerbus/pkg/timer"
)

// NewLogger writes to w: readable lines if the format is text, or if it is auto and w is a terminal; otherwise JSON,
// one object per line. Durations are written as "1m30s" in both.
func NewLogger(w io.Writer, format string, level slog.Level) *slog.Logger {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: readableDuration}
	if format == "text" || format == "auto" && IsTerminal(w) {
		return slog.New(newReadable(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

// readableDuration writes durations as "1m30s"; slog's JSON has nanoseconds.
func readableDuration(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(timer.FormatDuration(a.Value.Duration()))
	}
	return a
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// readable writes "15:04:05.000 INFO  message key=value …". slog.TextHandler formats the attributes, so quoting and
// groups are standard.
type readable struct {
	attributes slog.Handler
	*shared
}

// shared is the state that a handler shares with those made from it by WithAttrs and WithGroup.
type shared struct {
	mu   sync.Mutex
	line bytes.Buffer // output of attributes
	to   io.Writer
}

func newReadable(w io.Writer, options *slog.HandlerOptions) *readable {
	s := &shared{to: w}
	return &readable{shared: s, attributes: slog.NewTextHandler(&s.line, &slog.HandlerOptions{
		Level: options.Level, ReplaceAttr: withoutBuiltins,
	})}
}

// withoutBuiltins omits time, level and message, which Handle writes.
func withoutBuiltins(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
		return slog.Attr{}
	}
	return readableDuration(groups, a)
}

func (h *readable) Enabled(ctx context.Context, level slog.Level) bool {
	return h.attributes.Enabled(ctx, level)
}

func (h *readable) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.line.Reset()
	h.line.WriteString(r.Time.Format("15:04:05.000 "))
	h.line.WriteString((r.Level.String() + "     ")[:6])
	h.line.WriteString(r.Message)
	h.line.WriteByte(' ')
	if err := h.attributes.Handle(ctx, r); err != nil {
		return err
	}
	line := bytes.TrimRight(h.line.Bytes(), " \n")
	_, err := h.to.Write(append(line, '\n'))
	return err
}

func (h *readable) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &readable{shared: h.shared, attributes: h.attributes.WithAttrs(attrs)}
}

func (h *readable) WithGroup(name string) slog.Handler {
	return &readable{shared: h.shared, attributes: h.attributes.WithGroup(name)}
}
