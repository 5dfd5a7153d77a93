package engine

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

func TestCloseWaitsForCalls(t *testing.T) {
	var calls Calls
	if err := calls.Enter(t.Context(), "get"); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("disk full")
	var left atomic.Bool
	released := 0
	closed := make(chan error, 1)
	go func() {
		closed <- calls.Close(func() error {
			if released++; !left.Load() {
				t.Error("Close released while a call was running")
			}
			return failed
		})
	}()
	for len(closed) == 0 && calls.mu.TryRLock() { // until Close waits
		calls.mu.RUnlock()
		runtime.Gosched()
	}
	left.Store(true)
	calls.Leave()
	if err := <-closed; !errors.Is(err, failed) {
		t.Errorf("Close returned %v", err)
	}
	if err := calls.Close(func() error { released++; return nil }); err != nil || released != 1 {
		t.Errorf("the second Close returned %v; released %d times", err, released)
	}
	if err := calls.Enter(t.Context(), "get"); !errors.Is(err, store.ErrClosed) || err.Error() != "get: "+store.ErrClosed.Error() {
		t.Errorf("Enter after Close returned %v", err)
	}
}

func TestEnterWithEndedContext(t *testing.T) {
	var calls Calls
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := calls.Enter(ctx, "get"); !errors.Is(err, context.Canceled) {
		t.Errorf("Enter returned %v", err)
	}
	if err := calls.Close(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
