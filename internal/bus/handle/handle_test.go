package handle_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/timerbus/timerbus/internal/bus/handle"
	"github.com/timerbus/timerbus/internal/bus/health"
	"github.com/timerbus/timerbus/pkg/bus"
)

var spec = bus.Spec{Topic: bus.Commands, Group: "g", Mode: bus.Ordered}

func untilEnd(ctx context.Context, _ *health.Consumer) error {
	<-ctx.Done()
	return nil
}

func TestCloseEndsCallsAndWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := handle.New(slog.New(slog.DiscardHandler))
		goOn := make(chan struct{})
		consumed, done, closed := make(chan error, 1), make(chan error, 1), make(chan bool, 1)
		go func() { consumed <- h.Consume(t.Context(), spec, untilEnd) }()
		go func() {
			done <- h.Do(func() error {
				h.Go(func() { <-goOn })
				return nil
			})
		}()
		synctest.Wait()
		if err := h.Consume(t.Context(), spec, untilEnd); err == nil {
			t.Error("a second Consume of the group was accepted")
		}
		if err := <-done; err != nil {
			t.Errorf("Do: %v", err)
		}
		go func() { closed <- h.Close() }()
		synctest.Wait()
		if len(closed) > 0 {
			t.Error("Close did not wait for the goroutine of Do")
		}
		if err := h.Begin(t.Context(), bus.Due); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Begin: %v, want ErrClosed", err)
		}
		close(goOn)
		if err := <-consumed; err != nil {
			t.Errorf("Consume: %v, want nil after Close", err)
		}
		if !<-closed || h.Close() {
			t.Error("want the first Close to be the first")
		}
		if err := h.Do(func() error { return nil }); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Do after Close: %v, want ErrClosed", err)
		}
		if err := h.Consume(t.Context(), spec, untilEnd); !errors.Is(err, bus.ErrClosed) {
			t.Errorf("Consume after Close: %v, want ErrClosed", err)
		}
	})
}

func TestFailIsTheErrorOfConsume(t *testing.T) {
	h := handle.New(slog.New(slog.DiscardHandler))
	defer h.Close()
	broken := errors.New("broken")
	err := h.Consume(t.Context(), spec, func(ctx context.Context, c *health.Consumer) error {
		h.Fail(broken)
		return untilEnd(ctx, c)
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v, want the cause", err)
	}
}
