package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// proc writes a folder like /proc.
type proc string

func (p proc) add(t *testing.T, pid, parent int, name string, own, file, shared int) {
	t.Helper()
	folder := filepath.Join(string(p), fmt.Sprint(pid))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"stat":   fmt.Sprintf("%d (a (b) c) S %d 1 1", pid, parent),
		"status": fmt.Sprintf("Name:\t%s\nVmRSS:\t 1 kB\nRssAnon:\t%d kB\nRssFile:\t %d kB\nRssShmem:\t%d kB\n", name, own, file, shared),
	} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResident(t *testing.T) {
	p := proc(t.TempDir())
	p.add(t, 10, 1, "testenv", 9999, 9999, 0) // it only starts the servers
	p.add(t, 11, 10, "postgres", 100, 50, 300)
	p.add(t, 12, 11, "postgres", 10, 60, 200)
	p.add(t, 13, 10, "nats-server", 1000, 7, 0)
	p.add(t, 20, 1, "worker", 5, 3, 0)
	p.add(t, 30, 1, "other", 8888, 8888, 8888)
	got := resident(string(p), []root{{pid: 10, childrenOnly: true}, {pid: 20}, {pid: 99}})
	const postgres, nats, worker = 100 + 10 + 60 + 300, 1000 + 7, 5 + 3
	if want := int64(postgres+nats+worker) << 10; got != want {
		t.Errorf("%d KiB, want %d", got>>10, want>>10)
	}
}

func TestWatchKeepsThePeak(t *testing.T) {
	w := watchMemory([]root{{pid: os.Getpid()}})
	w.stop()
	if got := w.peak(); got < 1<<20 {
		t.Errorf("this process uses %d bytes", got)
	}
	if got := w.peak(); got != 0 {
		t.Errorf("%d bytes since the last call", got)
	}
}
