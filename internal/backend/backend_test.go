package backend_test

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/backend"
	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

func options(storeURL, busURL string) backend.Options {
	return backend.Options{
		StoreURL: storeURL, BusURL: busURL, Partitions: 4, Clock: timer.SystemClock, Random: rand.Uint64,
	}
}

func open(t *testing.T, o backend.Options) *backend.Backend {
	t.Helper()
	b, err := backend.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func TestOpenGivesAStoreAndABus(t *testing.T) {
	dir := t.TempDir()
	for name, o := range map[string]backend.Options{
		"memory":   options("memory:", "memory:"),
		"embedded": options("sqlite:"+dir, "embedded:"+filepath.Join(dir, "nats")+"?listen=127.0.0.1:0&sync=interval&commands-size=100MiB"),
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, o)
			if want := (bus.Properties{Prefix: "timerbus"}); b.Bus.Partitions() != 4 || b.Bus.Properties() != want {
				t.Errorf("opened a bus with %d partitions and %+v, want %+v", b.Bus.Partitions(), b.Bus.Properties(), want)
			}
			if (b.BusAddress != "") != (name == "embedded") {
				t.Errorf("bus address %q", b.BusAddress)
			}
			if err := b.Store.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := b.Bus.Publish(t.Context(), bus.Fired, bus.Message{Key: "k", Body: []byte("x")}); err != nil {
				t.Error(err)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
			if err := b.Store.Ping(t.Context()); !errors.Is(err, store.ErrClosed) {
				t.Errorf("store after Close: %v", err)
			}
		})
	}
}

// A second process reaches the first process's bus at BusAddress.
func TestOpenANATSServerByItsAddress(t *testing.T) {
	first := open(t, options("memory:", "embedded:"+t.TempDir()+"?listen=127.0.0.1:0"))
	second := open(t, options("memory:", first.BusAddress))
	if _, err := second.Bus.Publish(t.Context(), bus.Fired, bus.Message{Key: "k", Body: []byte("x")}); err != nil {
		t.Error(err)
	}
}

func TestAClusterKeepsItsIdentityAndPartitions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a ?%#b")
	o := options(backend.FolderURL("sqlite", dir, nil), "memory:")
	identity := func(b *backend.Backend) store.Identity {
		stored, err := b.Store.Init(t.Context(), store.Identity{})
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	first := open(t, o)
	before := identity(first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "timerbus.db")); err != nil {
		t.Errorf("the database is elsewhere: %v", err)
	}
	other := o
	other.Partitions = 8
	_, err := backend.Open(t.Context(), other)
	if !errors.Is(err, store.ErrPartitions) || !strings.Contains(err.Error(), "set it to 4") {
		t.Errorf("opened with 8 partitions: %v", err)
	}
	if after := identity(open(t, o)); after != before || after.Partitions != 4 {
		t.Errorf("identity %+v, before %+v", after, before)
	}
}

func TestOpenRefusesURLs(t *testing.T) {
	for _, o := range []backend.Options{
		options("", "memory:"),
		options("oracle://me:secret@db/timerbus", "memory:"),
		options("memory:x", "memory:"),
		options("sqlite:", "memory:"),
		options("sqlite://host/x", "memory:"),
		options("sqlite:/x?cache=1", "memory:"),
		options("sqlite:%zz", "memory:"),
		options("memory:", ""),
		options("memory:", "pulsar://x"),
		options("memory:", "memory:x"),
		options("memory:", "embedded:"),
		options("memory:", "embedded:/x?liste=1"),
		options("memory:", "embedded:/x?sync=never"),
	} {
		_, err := backend.Open(t.Context(), o)
		switch {
		case !errors.Is(err, backend.ErrURL):
			t.Errorf("%s, %s: error %v, want ErrURL", o.StoreURL, o.BusURL, err)
		case strings.Contains(err.Error(), "secret"):
			t.Errorf("the error tells the password: %v", err)
		case !strings.Contains(err.Error(), "memory:"):
			t.Errorf("the error does not tell what is accepted: %v", err)
		}
	}
}

func TestFolderInUse(t *testing.T) {
	o := options("sqlite:"+t.TempDir(), "memory:")
	open(t, o)
	_, err := backend.Open(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), o.StoreURL[len("sqlite:"):]) {
		t.Errorf("error %v, want one that names the folder and says that it is in use", err)
	}
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	taken := url.Values{"listen": {l.Addr().String()}}
	_, err = backend.Open(t.Context(), options("sqlite:"+dir, backend.FolderURL("embedded", filepath.Join(dir, "nats"), taken)))
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("error %v, want EADDRINUSE", err)
	}
	// The store was closed.
	open(t, options("sqlite:"+dir, "memory:"))
}

func TestFollowHearsWhatABackendPublishes(t *testing.T) {
	b := open(t, options("memory:", "embedded:"+t.TempDir()+"?listen=127.0.0.1:0"))
	if _, err := b.Bus.Publish(t.Context(), bus.Results, bus.Message{Key: "k", Body: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	enough := errors.New("enough")
	err := backend.Follow(t.Context(), backend.FollowOptions{
		BusURL: b.BusAddress, Topics: []bus.Topic{bus.Results}, Since: time.Now().Add(-time.Minute),
	}, func(topic bus.Topic, m *bus.Message) error {
		if topic != bus.Results || m.Key != "k" || string(m.Body) != "x" {
			t.Errorf("heard %s: %+v", topic, m)
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Errorf("error %v, want the reader's", err)
	}
	for _, bad := range []string{"", "memory:", "kafka://x", "nats://x/y"} {
		if err := backend.Follow(t.Context(), backend.FollowOptions{BusURL: bad}, nil); !errors.Is(err, backend.ErrURL) {
			t.Errorf("%q: %v, want ErrURL", bad, err)
		}
	}
}
