package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBackupBesideTheService backs up the data folder of a running service and restores it into another folder.
func TestBackupBesideTheService(t *testing.T) {
	hermetic(t)
	folder := t.TempDir()
	dev := start(t, "dev", "--data", folder, "--listen", "127.0.0.1:0", "--nats-listen", "")
	url := dev.see(t, dev.stdout, `http://127\.0\.0\.1:\d+`)[0]
	if got := command(t, "timer", "create", "kept", "--in", "1h", "--callback-url", "http://127.0.0.1:1/", "--url", url); got.code != exitOK {
		t.Fatal(got.stderr)
	}
	restored := t.TempDir()
	file := filepath.Join(restored, "timerbus.db")
	began := time.Now().Add(-time.Second)
	got := command(t, "backup", file, "--data", folder, "--json")
	var b backed
	if err := json.Unmarshal([]byte(got.stdout), &b); got.code != exitOK || err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", got.code, err, got.stdout, got.stderr)
	}
	if b.File != file || b.Bytes < 4096 || b.TakenAt.Time().Before(began) || b.Seconds <= 0 {
		t.Errorf("the backup is told as %+v", b)
	}
	if again := command(t, "backup", file, "--data", folder); again.code != exitFailure || !strings.Contains(again.stderr, "exists already") {
		t.Errorf("onto a file that is there: exit code %d, %s", again.code, again.stderr)
	}
	if code := dev.stop(t); code != exitOK {
		t.Errorf("the service ended with %d:\n%s", code, dev.stderr)
	}

	heir := start(t, "dev", "--data", restored, "--listen", "127.0.0.1:0", "--nats-listen", "")
	url = heir.see(t, heir.stdout, `http://127\.0\.0\.1:\d+`)[0]
	if got := command(t, "timer", "get", "kept", "--url", url); got.code != exitOK || !strings.Contains(got.stdout, "kept") {
		t.Errorf("the restored service does not have the timer: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestBackupRefusesWhatItCannotCopy(t *testing.T) {
	hermetic(t)
	at := filepath.Join(t.TempDir(), "copy.db")
	t.Setenv("TIMERBUS_DATA", t.TempDir())
	if got := command(t, "backup", at); got.code != exitFailure || !strings.Contains(got.stderr, "holds no database") {
		t.Errorf("of a folder that is none: exit code %d, %s", got.code, got.stderr)
	}
	if got := command(t, "backup"); got.code != exitUsage || !strings.Contains(got.stderr, "needs FILE") {
		t.Errorf("to no file: exit code %d, %s", got.code, got.stderr)
	}
	t.Setenv("TIMERBUS_STORE", "postgres://u:secret@h/db")
	got := command(t, "backup", at)
	if got.code != exitUsage || !strings.Contains(got.stderr, "the backup tools of that database") || strings.Contains(got.stderr, "secret") {
		t.Errorf("of a database elsewhere: exit code %d, %s", got.code, got.stderr)
	}
}
