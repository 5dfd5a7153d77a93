package backend_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
)

// silentServer accepts connections and never answers. It returns its address.
func silentServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		var accepted []net.Conn
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			accepted = append(accepted, c)
		}
		for _, c := range accepted {
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return l.Addr().String()
}

// TestASilentServerIsNotWaitedForForever: each attempt to open a store or a bus ends, with an error for which a start is
// retried, and the log names what is waited for.
func TestASilentServerIsNotWaitedForForever(t *testing.T) {
	for name, c := range map[string]struct {
		component, url string
		want           error
	}{
		"postgres": {"store", "postgres://me:hush@HOST/x?sslmode=disable", store.ErrUnavailable},
		"mysql":    {"store", "mysql://me:hush@HOST/x", store.ErrUnavailable},
		"dynamodb": {"store", "dynamodb://table?region=x&endpoint=http%3A%2F%2FHOST", store.ErrUnavailable},
		"nats":     {"bus", "nats://me:hush@HOST", bus.ErrUnavailable},
		"kafka":    {"bus", "kafka://HOST", bus.ErrUnavailable},
		"sasl":     {"bus", "kafka://me:hush@HOST", bus.ErrUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "dynamodb" {
				t.Setenv("AWS_ACCESS_KEY_ID", "any")
				t.Setenv("AWS_SECRET_ACCESS_KEY", "hush")
			} else {
				t.Parallel()
			}
			var log syncBuffer
			o := options("memory:", "memory:")
			o.Timeout, o.Logger = 300*time.Millisecond, slog.New(slog.NewTextHandler(&log, nil))
			at := strings.ReplaceAll(c.url, "HOST", silentServer(t))
			if c.component == "store" {
				o.StoreURL = at
			} else {
				o.BusURL = at
			}
			began := time.Now()
			b, err := backend.Open(t.Context(), o)
			if err == nil {
				_ = b.Close()
			}
			// The clients have additional limits: 2 s (NATS), 5 s (PostgreSQL) and 6 s (Kafka).
			if took := time.Since(began); took > 20*time.Second || !errors.Is(err, c.want) {
				t.Errorf("after %v: %v, want %v", took, err, c.want)
			}
			for _, want := range []string{"still waiting for an answer", "component=" + c.component} {
				if text := log.String(); !strings.Contains(text, want) {
					t.Errorf("the log lacks %q: %s", want, text)
				}
			}
			if err != nil && strings.Contains(log.String()+err.Error(), "hush") {
				t.Errorf("the password is shown: %s%v", log.String(), err)
			}
		})
	}
}

// syncBuffer is a log that goroutines may write.
type syncBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
