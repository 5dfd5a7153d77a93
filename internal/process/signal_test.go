package process

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestFirstSignalDrainsSecondIsToExit(t *testing.T) {
	signals, exited := make(chan os.Signal), make(chan struct{}, 1)
	ctx, release := interruptible(t.Context(), signals, func() { exited <- struct{}{} })
	defer release()

	signals <- os.Interrupt
	<-ctx.Done()
	if cause := context.Cause(ctx); !strings.Contains(cause.Error(), "interrupt") {
		t.Errorf("cause %v does not name the signal", cause)
	}
	if len(exited) != 0 {
		t.Error("the first signal exits at once")
	}
	signals <- syscall.SIGTERM
	<-exited
}

func TestReleaseEndsTheContext(t *testing.T) {
	ctx, release := Interruptible(t.Context(), func() {})
	if ctx.Err() != nil {
		t.Error("ended before any signal")
	}
	release()
	<-ctx.Done()
}
