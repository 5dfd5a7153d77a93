package node

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/timerbus/timerbus/internal/access"
	"github.com/timerbus/timerbus/internal/process"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/timer"
)

// gone is a store that does not answer.
type gone struct{ store.Store }

func (gone) Ping(context.Context) error { return store.ErrUnavailable }

// consuming is a bus on which every Consume makes progress.
type consuming struct{ bus.Bus }

func (consuming) Ready(bus.Topic, string) error { return nil }

func TestReadyzSaysThatWorkIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &dependencies{bus: consuming{}, reach: store.NewReach(gone{}, slog.New(slog.DiscardHandler))}
		ready := process.NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler),
			w.consumeCheck(Dispatcher), w.consumeCheck(Scheduler))
		if status, health := process.HealthOf(ready.Check()); status != http.StatusOK {
			t.Fatalf("%d %v before the store is lost", status, health.Reasons)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.reach.Run(ctx) }()
		_ = w.reach.Ping(t.Context())
		<-w.reach.Lost()
		status, health := process.HealthOf(ready.Check())
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

// TestReadyzSaysThatTheClockIsNotTrusted also checks that /readyz reports by how much the clock may be wrong, and that
// the process leaves its work to other processes.
func TestReadyzSaysThatTheClockIsNotTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jump atomic.Int64
		machine := store.ThisMachine()
		clock := store.NewClock(store.ClockConfig{Bound: clockBound, Shared: true, Machine: func() (time.Time, time.Duration) {
			wall, elapsed := machine()
			return wall, elapsed + time.Duration(jump.Load())
		}})
		s := &watched{}
		if _, _, err := clock.Read(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		w := &dependencies{bus: consuming{}, clock: clock}
		ready := process.NewReadiness(timer.SystemClock, time.Second, slog.New(slog.DiscardHandler), w.clockCheck(), w.consumeCheck(Dispatcher))
		if status, health := process.HealthOf(ready.Check()); status != http.StatusOK || len(health.Degraded) > 0 {
			t.Fatalf("%d %v %v", status, health.Reasons, health.Degraded)
		}
		jump.Store(int64(time.Minute))
		clock.Trusted() // a delivery checks the clock
		<-clock.Lost()
		time.Sleep(2 * time.Second) // answers are cached for a second
		status, health := process.HealthOf(ready.Check())
		const why = "the clock may differ by 1m0s from the store's, more than 125ms, so deliveries wait: " +
			"this machine's wall clock and monotonic clock diverged, and the store's clock was not read since"
		want := []string{why, "due events are left to other processes until the clock is trusted"}
		if !slices.Equal(health.Reasons, want) || status != http.StatusServiceUnavailable {
			t.Errorf("%d %q, want 503 %q", status, health.Reasons, want)
		}
	})
}

func TestMetricsRequireTheToken(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	s := memstore.NewDatabaseAt(timer.SystemClock).Open()
	w := &dependencies{
		options: &Options{Role: Scheduler, Store: s, Listener: listener, Drain: time.Second, Logger: logger},
		access:  access.New(access.Options{Token: access.NewToken("secret")}),
		bus:     consuming{}, clock: store.NewClock(store.ClockConfig{Bound: clockBound, Logger: logger}), registry: process.NewRegistry("test"),
	}
	served := w.probes()
	ended := make(chan error, 1)
	go func() { ended <- served.Run(t.Context()) }()
	for _, c := range []struct {
		path, token string
		want        int
	}{
		{"/metrics", "", http.StatusUnauthorized},
		{"/metrics", "wrong", http.StatusUnauthorized},
		{"/metrics", "secret", http.StatusOK},
		{"/healthz", "", http.StatusOK}, // a prober has no token
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+listener.Addr().String()+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.want {
			t.Errorf("GET %s with the token %q: %d, want %d", c.path, c.token, answer.StatusCode, c.want)
		}
	}
	if err := errors.Join(served.Stop(t.Context()), <-ended, s.Close()); err != nil {
		t.Error(err)
	}
}
