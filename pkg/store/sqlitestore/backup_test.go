package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

// filled opens a store, writes about 16 MiB of timers, which takes a backup several steps, and returns the timers.
func filled(t *testing.T, folder string) (*Store, []store.Put) {
	t.Helper()
	s := openFolder(t, Options{Folder: folder})
	var all []store.Put
	for i := range 160 {
		p := putOf(fmt.Sprint("before-", i), now)
		p.Spec.Payload = []byte(`"` + strings.Repeat("x", 100<<10-2) + `"`)
		mustWrite(t, s, p)
		all = append(all, p)
	}
	return s, all
}

// TestABackupEndsWhileTheServiceWrites: the store writes after every step of the backup, which would make SQLite's own
// backup start again. The copy is the database at the beginning of the backup.
func TestABackupEndsWhileTheServiceWrites(t *testing.T) {
	folder, restored := t.TempDir(), t.TempDir()
	s, before := filled(t, folder)
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	var during []store.Put
	var last, all int64
	backup := Backup{Folder: folder, File: filepath.Join(restored, databaseName), Progress: func(done, total int64) {
		if done <= last || done > total {
			t.Errorf("%d of %d bytes copied after %d of %d: the backup began again", done, total, last, all)
			giveUp()
			return
		}
		last, all = done, total
		p := putOf(fmt.Sprint("during-", len(during)), now)
		mustWrite(t, s, p, store.Delete{Ref: before[len(during)].Ref})
		during = append(during, p)
	}}
	began, err := s.Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	backed, err := backup.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(during) < 3 || last != all || backed.Bytes != all {
		t.Errorf("%d steps, the last at %d of %d bytes, %d in the file; want several, and all", len(during), last, all, backed.Bytes)
	}
	if backed.TakenAt < began.At {
		t.Errorf("taken at %s, before it began at %s", backed.TakenAt, began)
	}
	if left, err := filepath.Glob(filepath.Join(restored, "*")); err != nil || len(left) != 1 {
		t.Errorf("the backup is %q (%v), want one file", left, err)
	}
	for _, p := range during {
		if !exists(t, s, p) {
			t.Errorf("timer %s, written during the backup, is lost", p.ID)
		}
	}

	c := openFolder(t, Options{Folder: restored})
	for _, p := range before {
		if !exists(t, c, p) {
			t.Errorf("the copy lacks timer %s", p.ID)
		}
	}
	for _, p := range during {
		if exists(t, c, p) {
			t.Errorf("the copy has timer %s, which was written later", p.ID)
		}
	}
	var verdict string
	err = c.read(t.Context(), "check", func(c *conn) error {
		return c.one("PRAGMA integrity_check", nil, &verdict)
	})
	if err != nil || verdict != "ok" {
		t.Errorf("the copy's integrity: %s, %v", verdict, err)
	}
	mustWrite(t, c, putOf("after", now)) // the copy accepts writes
}

// TestABackupOfAFolderThatNobodyUses: the service is stopped.
func TestABackupOfAFolderThatNobodyUses(t *testing.T) {
	folder, restored := t.TempDir(), t.TempDir()
	s := openFolder(t, Options{Folder: folder})
	p := putOf("a", now)
	mustWrite(t, s, p)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Backup{Folder: folder, File: filepath.Join(restored, databaseName)}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{folder, restored} {
		if !exists(t, openFolder(t, Options{Folder: in}), p) {
			t.Errorf("the timer is not in %s", in)
		}
	}
}

func TestABackupThatFailsLeavesNothing(t *testing.T) {
	used := t.TempDir()
	filled(t, used)
	foreign := t.TempDir()
	change(t, filepath.Join(foreign, databaseName), "CREATE TABLE theirs (x INTEGER)")
	for name, c := range map[string]struct {
		folder, file string
		want         string
		cancel       bool
	}{
		"no such folder":            {folder: filepath.Join(used, "missing"), want: "holds no database"},
		"not a data folder":         {folder: t.TempDir(), want: "there is no timerbus.db in it"},
		"another program's":         {folder: foreign, want: "of another program"},
		"no folder for the copy":    {folder: used, file: filepath.Join("missing", "copy.db"), want: "cannot be created"},
		"the copy exists":           {folder: used, file: "there.db", want: "exists already"},
		"interrupted":               {folder: used, want: context.Canceled.Error(), cancel: true},
		"the folder is a file":      {folder: filepath.Join(used, lockName), want: "cannot be read"},
		"the database is no SQLite": {folder: garbage(t), want: "not a SQLite database"},
	} {
		t.Run(name, func(t *testing.T) {
			at := t.TempDir()
			there := filepath.Join(at, "there.db")
			if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(at, "copy.db")
			if c.file != "" {
				file = filepath.Join(at, c.file)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := (&Backup{Folder: c.folder, File: file, Progress: func(int64, int64) {
				if c.cancel {
					cancel()
				}
			}}).Run(ctx)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
			if c.cancel && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want context.Canceled", err)
			}
			left, err := os.ReadDir(at)
			if err != nil || len(left) != 1 {
				t.Errorf("%v is left (%v), want what was there before", left, err)
			}
			if text, err := os.ReadFile(there); err != nil || string(text) != "mine" {
				t.Errorf("the file that was there has %q, %v", text, err)
			}
		})
	}
}

// garbage returns a folder whose database file is not a database.
func garbage(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, databaseName), []byte(strings.Repeat("garbage ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
