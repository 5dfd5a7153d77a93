//go:build unix

package sqlitestore

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

// fillUp writes until the disk is full, and returns the acknowledged writes and the refused one.
func fillUp(t *testing.T, s *Store) (done []store.Put, refused store.Put) {
	t.Helper()
	body := []byte(`"` + strings.Repeat("x", 50<<10) + `"`)
	for i := range 10_000 {
		p := putOf(fmt.Sprint("filler-", i), now)
		p.Spec.Payload = body
		written, err := s.Write(t.Context(), now, []store.Op{p})
		if err != nil {
			if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
				t.Fatalf("got %v, want ErrUnavailable", err)
			}
			return done, p
		}
		if written[0].Err != nil {
			t.Fatal(written[0].Err)
		}
		done = append(done, p)
	}
	t.Fatal("there is room without end")
	return nil, refused
}

func afterFull(t *testing.T, s *Store, done []store.Put, refused store.Put) {
	t.Helper()
	for _, p := range done {
		if !exists(t, s, p) {
			t.Fatalf("acknowledged timer %s is lost", p.ID)
		}
	}
	if exists(t, s, refused) {
		t.Error("a refused timer is there")
	}
}

// TestNoRoomInTheDatabase: the database file cannot grow, as on a full disk.
func TestNoRoomInTheDatabase(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	execute(t, s, "PRAGMA max_page_count = 100")
	done, refused := fillUp(t, s)
	afterFull(t, s, done, refused)

	// A delete needs no space, and frees some.
	if w, err := s.Write(t.Context(), now, []store.Op{store.Delete{Ref: done[0].Ref}}); err != nil || w[0].Err != nil {
		t.Errorf("delete on a full disk: %v, %v", err, w)
	}
	mustWrite(t, s, refused)
	execute(t, s, "PRAGMA max_page_count = 1000000")
	mustWrite(t, s, putOf("more", now))
	afterFull(t, s, append(done[1:], refused), done[0])
}

// TestNoRoomForTheLog: the write-ahead log cannot grow, so COMMIT fails.
func TestNoRoomForTheLog(t *testing.T) {
	folder := t.TempDir()
	s := openFolder(t, Options{Folder: folder})
	mustWrite(t, s, putOf("first", now))

	unbound := boundFiles(t, 1<<20)
	done, refused := fillUp(t, s)
	unbound()
	afterFull(t, s, done, refused)
	mustWrite(t, s, refused)

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openFolder(t, Options{Folder: folder})
	for _, p := range append(done, refused) {
		if !exists(t, s, p) {
			t.Errorf("acknowledged timer %s is lost after opening again", p.ID)
		}
	}
}

// boundFiles limits the size of the files of this process, as a full disk does, until unbound is called.
func boundFiles(t *testing.T, bytes uint64) (unbound func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	tight := was
	tight.Cur = bytes
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &tight); err != nil {
		t.Fatal(err)
	}
	unbound = sync.OnceFunc(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
			t.Error(err)
		}
		signal.Reset(syscall.SIGXFSZ)
	})
	t.Cleanup(unbound)
	return unbound
}

// TestNoRoomForABackup: the partial copy is removed.
func TestNoRoomForABackup(t *testing.T) {
	folder, at := t.TempDir(), t.TempDir()
	s, _ := filled(t, folder)
	if err := s.Close(); err != nil { // so that no other file grows
		t.Fatal(err)
	}
	unbound := boundFiles(t, 6<<20)
	_, err := (&Backup{Folder: folder, File: filepath.Join(at, "copy.db")}).Run(t.Context())
	unbound()
	if err == nil || !strings.Contains(err.Error(), filepath.Join(at, "copy.db")+" cannot be written") {
		t.Errorf("got %v, want that it cannot be written", err)
	}
	if left, err := os.ReadDir(at); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v), want nothing", left, err)
	}
}

// victimFolder is the environment variable with the folder of the child process of TestKilled.
const victimFolder = "SQLITESTORE_VICTIM_FOLDER"

// TestVictim is not a test but the process that TestKilled kills: it writes, and prints the acknowledged writes, until
// it is killed.
func TestVictim(t *testing.T) {
	folder := os.Getenv(victimFolder)
	if folder == "" {
		return
	}
	s := openFolder(t, Options{Folder: folder})
	for i := 0; ; i++ {
		id := fmt.Sprint("victim-", i)
		mustWrite(t, s, putOf(id, now))
		fmt.Fprintln(os.Stdout, "acknowledged", id)
	}
}

// TestKilled: when a process is killed, its folder is unlocked, and no acknowledged write is lost.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestVictim$")
	victim.Env = append(os.Environ(), victimFolder+"="+folder)
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	var acknowledged []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "acknowledged "); ok {
			acknowledged = append(acknowledged, id)
		}
		if len(acknowledged) == 200 {
			if _, err := Open(t.Context(), Options{Folder: folder}); err == nil || !strings.Contains(err.Error(), "in use") {
				t.Errorf("open beside the living process: %v", err)
			}
			if err := victim.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = victim.Wait() // killed
	if len(acknowledged) < 200 {
		t.Fatalf("the process ended by itself after %d writes", len(acknowledged))
	}
	if info, err := os.Stat(filepath.Join(folder, databaseName+"-wal")); err != nil || info.Size() == 0 {
		t.Errorf("no log is left to recover: %v", err)
	}
	s := openFolder(t, Options{Folder: folder})
	for _, id := range acknowledged {
		if !exists(t, s, putOf(id, now)) {
			t.Errorf("acknowledged timer %s is lost", id)
		}
	}
}
