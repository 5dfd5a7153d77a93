package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// openTimeout is the default of Options.Timeout. Creating the topics of a busy cluster takes seconds.
	openTimeout = 30 * time.Second
	// logWaitAfter is the part of the timeout after which a wait is logged: 5 s of 30 s.
	logWaitAfter = 6
)

// attempt runs a step of opening the store or the bus at a URL. It logs a step that takes long, and ends it after the timeout
// with unavailable: a server may accept a connection and never answer.
func attempt(
	ctx context.Context, o *Options, component, address string, unavailable error, step func(context.Context) error,
) (err error) {
	timeout := cmp.Or(o.Timeout, openTimeout)
	defer logWait(ctx, o.Logger, timeout/logWaitAfter, component, address)()
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer func() {
		if err != nil { // otherwise the engine may still be opening further connections in the background
			cancel()
		}
	}()
	err = step(limited)
	if err == nil || limited.Err() == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, unavailable) {
		return fmt.Errorf("no answer within %v: %w", timeout, err)
	}
	return fmt.Errorf("%w: no answer within %v: %w", unavailable, timeout, err)
}

// logWait logs, once, that a component at a URL has not answered yet. stop ends the wait.
func logWait(ctx context.Context, logger *slog.Logger, after time.Duration, component, address string) (stop func()) {
	if logger == nil {
		return func() {}
	}
	timer := time.AfterFunc(after, func() {
		logger.WarnContext(ctx, "still waiting for an answer", "component", component, "url", Redacted(address), "after", after.String())
	})
	return func() { timer.Stop() }
}
