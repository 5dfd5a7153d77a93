package natsbus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/timerbus/timerbus/internal/outage/outagetest"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
)

// TestAnOutageIsAFewLines makes the server unreachable for longer than the lease, for a process that runs every
// service and publishes during the outage. Errors must state the cause in plain words.
func TestAnOutageIsAFewLines(t *testing.T) {
	t.Parallel()
	l := testserver.NewLine()
	t.Cleanup(l.Close)
	url := through(t, l, ownServer(t, func(*server.Options) {}))
	var log outagetest.Log
	b := connectTo(t, natsbus.Options{URL: url, Logger: log.Logger(), LeaseTTL: 2 * time.Second})
	modes := map[bus.Topic]bus.Mode{bus.Commands: bus.Ordered, bus.Shards: bus.Live, bus.Due: bus.Queue}
	awaitReady := func() {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for topic := range modes {
			for b.Ready(topic, "g") != nil {
				if time.Now().After(deadline) {
					t.Fatalf("not ready: %v", b.Ready(topic, "g"))
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	for topic, mode := range modes {
		consume(t, b, topic, mode)
	}
	awaitReady()
	if lines := log.Take(); lines != nil {
		t.Fatalf("logged before the outage: %q", lines)
	}

	l.Kill()
	for end := time.Now().Add(6 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, topic := range []bus.Topic{bus.Due, bus.Shards} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := b.Publish(ctx, topic, bus.Message{Body: []byte("x")})
			cancel()
			if err == nil {
				continue // the client has not noticed the outage yet
			}
			if !errors.Is(err, bus.ErrUnavailable) && !errors.Is(err, bus.ErrOutcomeUnknown) || strings.Contains(err.Error(), "buffer") {
				t.Fatalf("publish to %s: %v", topic, err)
			}
		}
		if _, err := b.Floor(t.Context(), bus.Due, "g"); err == nil || !errors.Is(err, bus.ErrUnavailable) || strings.Contains(err.Error(), "buffer") {
			t.Fatalf("floor: %v, want ErrUnavailable in plain words", err)
		}
	}
	l.Revive()
	awaitReady()

	var lines []string
	for deadline := time.Now().Add(time.Minute); !strings.Contains(strings.Join(lines, "\n"), "nats recovered"); {
		if time.Now().After(deadline) {
			t.Fatalf("the recovery is not logged:\n%s", strings.Join(lines, "\n"))
		}
		time.Sleep(10 * time.Millisecond)
		lines = append(lines, log.Take()...)
	}
	text := strings.Join(lines, "\n")
	if n := strings.Count(text, `msg="nats failing, retrying"`); n != 1 || strings.Contains(text, "buffer") || len(lines) > 8 {
		t.Errorf("%d lines, %d of them the beginning:\n%s", len(lines), n, text)
	}
}
