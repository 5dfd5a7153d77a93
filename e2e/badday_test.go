package e2e_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/e2e/internal/harness"
)

// refusesToStart launches a service that cannot work, and checks that it prints the reason in one line and ends with
// exit code 1.
func refusesToStart(t *testing.T, s *harness.Service, says ...string) {
	t.Helper()
	endsWith(t, s, 1, says...)
}

// endsWith is refusesToStart with an exit code.
func endsWith(t *testing.T, s *harness.Service, want int, says ...string) {
	t.Helper()
	if err := s.Launch(); err != nil {
		t.Fatal(err)
	}
	code, err := s.Exit(within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(s.Log()), "\n")
	last := lines[len(lines)-1]
	if code != want || !strings.HasPrefix(last, "timerbus: ") {
		t.Errorf("exit code %d, last line %q; want %d and a line for people", code, last, want)
	}
	for _, want := range says {
		if !strings.Contains(last, want) {
			t.Errorf("the last line is %q, want it to contain %q", last, want)
		}
	}
	if strings.Contains(s.Log(), "panic") || strings.Contains(s.Log(), "goroutine ") {
		t.Errorf("it shows a stack:\n%s", s.Log())
	}
}

// TestPortTaken: the line names the flag and the address.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	taken := l.Addr().String()
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		refusesToStart(t, newService(t, t.TempDir(), harness.WithAddresses(taken, "")), "--listen", taken, "in use")
	})
	t.Run("nats", func(t *testing.T) {
		t.Parallel()
		refusesToStart(t, newService(t, t.TempDir(), harness.WithAddresses("", taken)), "--nats-listen", taken, "in use")
	})
}

// TestDataFolderInUse: a second process does not touch the folder, and the first one is not affected.
func TestDataFolderInUse(t *testing.T) {
	t.Parallel()
	w := startOwn(t)
	refusesToStart(t, newService(t, w.Data), w.Data, "in use")
	w.create(t, "still", 0)
	w.calls(t, "still", 1)
}

// TestUnusableDataFolder: paths at which no user can write, because tests may run as root, to which permissions do not
// apply.
func TestUnusableDataFolder(t *testing.T) {
	t.Parallel()
	needSQLite(t, "what is wrong with its folder is told")
	t.Run("below a file", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, newService(t, filepath.Join(file, "data")), filepath.Join(file, "data"))
	})
	t.Run("a file", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, newService(t, file), file)
	})
	t.Run("a folder in the database's place", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		if err := os.Mkdir(filepath.Join(data, "timerbus.db"), 0o700); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, newService(t, data), data)
	})
	t.Run("another file in the database's place", func(t *testing.T) {
		t.Parallel()
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, "timerbus.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, newService(t, data), data)
	})
}
