package node

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/pkg/backend"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/runtime"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// gone is a store that nothing reaches.
type gone struct{ store.Store }

func (gone) Ping(context.Context) (timer.Millis, error) { return 0, store.ErrUnavailable }

// consuming is a bus whose Consumes all make progress.
type consuming struct{ bus.Bus }

func (consuming) Ready(bus.Topic, string) error { return nil }

func TestReadyzSaysThatWorkIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &works{backend: &backend.Backend{Bus: consuming{}}, reach: store.NewReach(gone{}, slog.New(slog.DiscardHandler))}
		ready := runtime.NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler),
			w.consumption(Dispatcher), w.consumption(Scheduler))
		if status, health := runtime.HealthOf(ready.Ask()); status != http.StatusOK {
			t.Fatalf("%d %v before the store is lost", status, health.Reasons)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.reach.Run(ctx) }()
		_, _ = w.reach.Ping(t.Context())
		<-w.reach.Lost()
		status, health := runtime.HealthOf(ready.Ask())
		want := []string{
			"due events are left to other processes until the store answers",
			"hints are left to other processes until the store answers",
		}
		if status != http.StatusServiceUnavailable || !slices.Equal(health.Reasons, want) {
			t.Errorf("%d %q, want 503 %q", status, health.Reasons, want)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
