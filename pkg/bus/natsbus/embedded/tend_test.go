package embedded

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const patience = 20 * time.Second

func client(t *testing.T, s *Server) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(s), nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc, jetstream.WithDefaultTimeout(500*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}}); err != nil {
		t.Fatal(err)
	}
	return js
}

// awaitPublish publishes until the server acknowledges a message.
func awaitPublish(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, err := js.Publish(t.Context(), "s", nil)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server takes no message: %v", err)
		}
	}
}

func TestStartsAnewAfterAWriteError(t *testing.T) {
	s, err := Start(t.Context(), Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	url, before := s.URL(), s.current()
	js := client(t, s)
	awaitPublish(t, js)
	before.Errorf("Filestore [s] Critical write error: made up by the test")
	for deadline := time.Now().Add(patience); s.current() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the server did not restart")
		}
	}
	awaitPublish(t, js)
	stream, err := js.Stream(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n < 2 {
		t.Errorf("%d messages after the restart, want at least 2, one of them from before it", n)
	}
	if s.URL() != url {
		t.Errorf("the address changed from %s to %s", url, s.URL())
	}
}

// TestGoesOnWhenThereIsRoomAgain fills a small file system.
func TestGoesOnWhenThereIsRoomAgain(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no small file system to fill (needs root): %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount: %s", out)
		}
	})
	s, err := Start(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	js := client(t, s)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 10<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := uint64(0)
	for {
		if _, err := js.Publish(t.Context(), "s", make([]byte, 10_000)); err != nil {
			break
		}
		if taken++; taken > 1000 {
			t.Fatal("the file system does not fill up")
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	awaitPublish(t, js)
	stream, err := js.Stream(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n < taken+1 {
		t.Errorf("%d messages are there, %d had been acknowledged", n, taken+1)
	}
}
