package natsbus_test

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/bustest"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// testLog is silent unless asked: a failing check is easier to read without it.
func testLog() *slog.Logger {
	if os.Getenv("TIMERBUS_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func startServer(tb testing.TB, opts embedded.Options) *embedded.Server {
	tb.Helper()
	opts.Logger = testLog()
	if opts.Dir == "" {
		opts.Dir = tb.TempDir()
	}
	s, err := embedded.Start(tb.Context(), opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// TestSuite runs all checks on one real server, each under a prefix of its own.
func TestSuite(t *testing.T) {
	server := startServer(t, embedded.Options{Listen: "127.0.0.1:0"})
	var prefixes atomic.Int64
	t.Run("checks", func(t *testing.T) {
		bustest.Run(t, bustest.Options{}, func(_ bustest.T, partitions int) bustest.System {
			prefix := fmt.Sprintf("t%d", prefixes.Add(1))
			return bustest.System{
				Join:     func(t bustest.T) bustest.Member { return join(t, server.URL(), prefix, partitions) },
				Stranger: func(t bustest.T) bustest.Member { return join(t, server.URL(), prefix+"x", partitions) },
				LeaseTTL: time.Second,
				Settle:   300 * time.Millisecond,
				Patience: 10 * time.Second,
				Early:    500 * time.Millisecond,
			}
		})
	})
}

func join(t bustest.T, url, prefix string, partitions int) bustest.Member {
	p, err := newProxy(strings.TrimPrefix(url, "nats://"))
	if err != nil {
		t.Fatalf("proxy: %v", err)
	}
	t.Cleanup(p.close)
	b, err := natsbus.Connect(t.Context(), natsbus.Options{
		URL: p.url(), Prefix: prefix, Partitions: partitions, Logger: testLog(),
	})
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	return bustest.Member{Bus: bus.Bus(b), Crash: p.kill, Isolate: p.isolate, Heal: p.heal, Break: p.cut}
}
