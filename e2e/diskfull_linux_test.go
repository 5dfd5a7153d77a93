package e2e_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// limitFiles limits the size of all files of the process, in bytes; later writes beyond it fail, as on a full disk.
// Linux can set this limit for a running process.
func limitFiles(t *testing.T, w *world, bytes uint64) {
	t.Helper()
	var now unix.Rlimit
	if err := unix.Prlimit(w.PID(), unix.RLIMIT_FSIZE, nil, &now); err != nil {
		t.Fatal(err)
	}
	limit := unix.Rlimit{Cur: min(bytes, now.Max), Max: now.Max}
	if err := unix.Prlimit(w.PID(), unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		t.Fatal(err)
	}
}

// TestDiskFull removes all disk space under load. No request gets a false success, the log names the cause, and when
// there is space again the service continues without a restart: every acknowledged timer fires.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	needSQLite(t, "its files cannot grow")
	w := startOwn(t)
	l := newLoad(t, w)
	stop := l.start(t.Context(), 4)
	pause(t.Context(), time.Second)
	l.Killed(time.Now()) // for the oracle this is like a kill
	limitFiles(t, w, 1)
	r := w.post(t, "timers/create", `{"id":"no room","executeIn":"1h"}`)
	if r.status != http.StatusServiceUnavailable && r.status != http.StatusGatewayTimeout {
		t.Errorf("without room a create is answered %d %s, want 503 or 504", r.status, r.body)
	}
	pause(t.Context(), 4*time.Second)
	if !w.Running() {
		t.Fatal("the process has ended")
	}
	// The log must help the operator to find the cause.
	if log := w.Log(); !strings.Contains(log, "full") && !strings.Contains(log, "too large") && !strings.Contains(log, "no space") {
		t.Error("the log does not report the full disk")
	}
	limitFiles(t, w, unix.RLIM_INFINITY)
	if err := w.Ready(within(t, patience)); err != nil {
		t.Fatal(err)
	}
	// It accepts writes again soon.
	back := time.Now()
	for w.post(t, "timers/create", `{"id":"room","executeIn":"1h"}`).status != http.StatusOK {
		if time.Since(back) > 10*time.Second {
			t.Fatal("10 s after there was room again, creates are still refused")
		}
		pause(t.Context(), 100*time.Millisecond)
	}
	l.Restarted(time.Now())
	w.connectTap(t)
	pause(t.Context(), time.Second)
	stop()
	l.settle(within(t, time.Minute), t, w.tap, time.Now(), killGrace)
	checkPromises(t, l, "5 s without room")
}
