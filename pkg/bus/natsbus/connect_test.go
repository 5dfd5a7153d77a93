package natsbus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

// ownServer starts a server that an operator has configured.
func ownServer(t *testing.T, change func(*server.Options)) string {
	t.Helper()
	o := serverOptions(t.TempDir())
	change(o)
	return runServer(t, o).ClientURL()
}

func serverOptions(folder string) *server.Options {
	return &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, StoreDir: folder, JetStream: true}
}

func runServer(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	return s
}

// TestConnectSaysWhatIsWrong requires a one-line error that names the server and contains no secret.
func TestConnectSaysWhatIsWrong(t *testing.T) {
	token := startServer(t, embedded.Options{Listen: "127.0.0.1:0", NoSync: true, Token: "right"}).URL()
	users := ownServer(t, func(o *server.Options) { o.Username, o.Password = "me", "right" })
	plain := ownServer(t, func(o *server.Options) { o.JetStream = false })
	made := startServer(t, embedded.Options{Listen: "127.0.0.1:0", NoSync: true}).URL()
	connectTo(t, natsbus.Options{URL: made})
	for name, c := range map[string]struct {
		opts natsbus.Options
		want []string
	}{
		"nobody there":       {natsbus.Options{URL: "nats://127.0.0.1:1"}, []string{"connect to NATS at nats://127.0.0.1:1", "no servers available"}},
		"wrong token":        {natsbus.Options{URL: token, Token: "wrong"}, []string{token, "Authorization Violation"}},
		"no token":           {natsbus.Options{URL: token}, []string{token, "Authorization Violation"}},
		"wrong password":     {natsbus.Options{URL: users, User: "me", Password: "wrong"}, []string{users, "Authorization Violation"}},
		"password not given": {natsbus.Options{URL: users}, []string{users, "Authorization Violation"}},
		"no JetStream":       {natsbus.Options{URL: plain}, []string{plain, "is it enabled"}},
		"another count":      {natsbus.Options{URL: made, Partitions: 8}, []string{made, `made for "16" partitions`, "set to 8"}},
		"too many replicas":  {natsbus.Options{URL: made, Prefix: "other", Replicas: 3}, []string{made, "create stream ", "replicas > 1 not supported"}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		b, err := natsbus.Connect(ctx, c.opts)
		cancel()
		if err == nil {
			t.Errorf("%s: connected", name)
			_ = b.Close()
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want an error that names %s", name, err, want)
			}
		}
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: %q is not one line, or contains the secret", name, err)
		}
	}
	connectTo(t, natsbus.Options{URL: token, Token: "right"})
	connectTo(t, natsbus.Options{URL: users, User: "me", Password: "right"})
}

// TestServerTakesLessThanWeMay verifies that Publish distinguishes a message that exceeds the limit of an operator's
// server or stream from an outage, and that smaller messages succeed.
func TestServerTakesLessThanWeMay(t *testing.T) {
	url := ownServer(t, func(o *server.Options) { o.MaxPayload = 20_000 })
	b := connectTo(t, natsbus.Options{URL: url, AckTimeout: time.Minute})
	for size, want := range map[int]error{10_000: nil, 30_000: bus.ErrTooLarge} {
		_, err := b.Publish(t.Context(), bus.Fired, bus.Message{Key: "default/a", Body: make([]byte, size)})
		if !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
		if err != nil && (!strings.Contains(err.Error(), `"default/a"`) || !strings.Contains(err.Error(), "max_payload is 20000")) {
			t.Errorf("%q does not name the message and the limit", err)
		}
	}
}
