package engine

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

func TestCloseWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls Calls
		if err := calls.Enter(t.Context(), "get"); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, calls.Leave)
		start, released := time.Now(), 0
		failed := errors.New("disk full")
		if err := calls.Close(func() error { released++; return failed }); !errors.Is(err, failed) || time.Since(start) != time.Minute {
			t.Errorf("Close returned %v after %v", err, time.Since(start))
		}
		if err := calls.Close(func() error { released++; return nil }); err != nil || released != 1 {
			t.Errorf("the second Close returned %v; released %d times", err, released)
		}
		if err := calls.Enter(t.Context(), "get"); !errors.Is(err, store.ErrClosed) || err.Error() != "get: "+store.ErrClosed.Error() {
			t.Errorf("Enter after Close returned %v", err)
		}
	})
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
