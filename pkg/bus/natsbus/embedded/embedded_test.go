package embedded_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/timerbus/timerbus/pkg/bus/natsbus/embedded"
)

func TestErrorsNameWhatIsWrong(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := t.TempDir()
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: used})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for want, opts := range map[string]embedded.Options{
		taken.Addr().String():                  {Dir: t.TempDir(), Listen: taken.Addr().String()},
		`"nonsense"`:                           {Dir: t.TempDir(), Listen: "nonsense"},
		`"http"`:                               {Dir: t.TempDir(), Listen: "127.0.0.1:http"},
		"data folder":                          {},
		file:                                   {Dir: file},
		used + " is in use by another process": {Dir: used},
	} {
		s, err := embedded.Start(t.Context(), opts)
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error that names %s", err, want)
		}
	}
}

func TestStreamsSurviveARestart(t *testing.T) {
	opts := embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"}
	for round := range 2 {
		server, err := embedded.Start(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(server.URL(), nats.Timeout(5*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.CreateOrUpdateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}})
		if err != nil {
			t.Fatal(err)
		}
		if n := stream.CachedInfo().State.Msgs; n != uint64(round) {
			t.Errorf("round %d finds %d messages", round, n)
		}
		if _, err := js.Publish(t.Context(), "s", nil); err != nil {
			t.Fatal(err)
		}
		nc.Close()
		server.Close()
	}
}

func TestWithoutListeningOnlyThisProcessConnects(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if url := server.URL(); url != "" {
		t.Errorf("the server listens on %s", url)
	}
	nc, err := nats.Connect("", nats.InProcessServer(server))
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}

func TestTokenIsAskedOfEveryClient(t *testing.T) {
	s, err := embedded.Start(t.Context(), embedded.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0", Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, options := range map[string][]nats.Option{
		"no token":      nil,
		"another token": {nats.Token("guess")},
		"in process":    {nats.InProcessServer(s)},
	} {
		if nc, err := nats.Connect(s.URL(), options...); err == nil {
			nc.Close()
			t.Errorf("%s: let in", name)
		}
	}
	nc, err := nats.Connect(s.URL(), nats.Token("secret"))
	if err != nil {
		t.Fatalf("with the token: %v", err)
	}
	nc.Close()
}
