package sqlitestore

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/store"
)

func TestStatusChangesNothing(t *testing.T) {
	folder := t.TempDir()
	if _, _, err := Status(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "holds no database") {
		t.Errorf("of an empty folder: %v", err)
	}
	path := closedDatabase(t, folder)
	read := func(want store.Schema, used bool) {
		t.Helper()
		got, inUse, err := Status(t.Context(), folder)
		if err != nil || got != want || inUse != used {
			t.Errorf("%+v, in use %v, %v; want %+v, %v", got, inUse, err, want, used)
		}
	}
	newest := store.Schema{Version: 17, Known: 17}
	read(newest, false)
	s := openFolder(t, Options{Folder: folder})
	read(newest, true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	change(t, path, "DELETE FROM goose_db_version WHERE version_id > 6")
	read(store.Schema{Version: 6, Known: 17}, false)
	read(store.Schema{Version: 6, Known: 17}, false) // the first call has not upgraded it
}

func TestStatusOfAnotherFile(t *testing.T) {
	folder := t.TempDir()
	change(t, filepath.Join(folder, databaseName), "CREATE TABLE notes (text TEXT)")
	if _, _, err := Status(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("got %v", err)
	}
}
