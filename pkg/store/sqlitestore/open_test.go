package sqlitestore

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/timerbus/timerbus/pkg/timer"
)

// TestOpenRefuses: each error names the folder or file and the problem.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, folder string) (open string)
		want    []string
	}{
		{"a folder in use", func(t *testing.T, folder string) string {
			openFolder(t, Options{Folder: folder})
			return folder
		}, []string{"is in use by another process"}},
		{"a folder that is a file", func(t *testing.T, folder string) string {
			path := filepath.Join(folder, "file")
			writeFile(t, path, []byte("text"))
			return path
		}, []string{"cannot be created", "not a directory"}},
		{"a folder that cannot be written to", func(t *testing.T, folder string) string {
			if os.Getuid() == 0 {
				return "/proc/self/task" // root may write to every folder where writing is possible
			}
			if err := os.Chmod(folder, 0o500); err != nil {
				t.Fatal(err)
			}
			return folder
		}, []string{"cannot be written to"}},
		{"a file that is no database", func(t *testing.T, folder string) string {
			writeFile(t, filepath.Join(folder, databaseName), []byte(strings.Repeat("not a database. ", 1000)))
			return folder
		}, []string{databaseName, "not a SQLite database"}},
		{"a damaged database", func(t *testing.T, folder string) string {
			path := closedDatabase(t, folder)
			bytes, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clear(bytes[100:4096]) // the schema, after the header
			writeFile(t, path, bytes)
			return folder
		}, []string{databaseName, "damaged"}},
		{"another program's database", func(t *testing.T, folder string) string {
			change(t, filepath.Join(folder, databaseName), "CREATE TABLE notes (text TEXT)")
			return folder
		}, []string{databaseName, "another program"}},
		{"a newer schema", func(t *testing.T, folder string) string {
			change(t, closedDatabase(t, folder), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (18, 1)")
			return folder
		}, []string{databaseName, "version 18", "up to 17", "newer timerbus"}},
		{"no folder", func(*testing.T, string) string { return "" }, []string{"folder"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := c.prepare(t, t.TempDir())
			s, err := Open(t.Context(), Options{Folder: folder})
			if err == nil {
				s.Close()
				t.Fatal("it opens")
			}
			for _, want := range append(c.want, folder) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a line: %q", err)
			}
		})
	}
}

func TestARefusedFolderIsGivenBack(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, databaseName)
	writeFile(t, path, []byte(strings.Repeat("not a database. ", 1000)))
	if s, err := Open(t.Context(), Options{Folder: folder}); err == nil {
		s.Close()
		t.Fatal("it opens")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	openFolder(t, Options{Folder: folder})
}

func TestOptionsOutsideTheirBounds(t *testing.T) {
	_, err := Open(t.Context(), Options{Folder: t.TempDir(), Readers: 65})
	if err == nil || !strings.Contains(err.Error(), "readers: 65 is not accepted: want 1 to 64") {
		t.Errorf("got %v", err)
	}
}

func TestTimeIsTheMachines(t *testing.T) {
	s := openFolder(t, Options{Folder: t.TempDir()})
	before := timer.SystemClock()
	got, err := s.Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if after := timer.SystemClock(); got.At < before || got.At > after {
		t.Errorf("Time returns %v between %v and %v", got, before, after)
	}
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// closedDatabase creates a valid database and returns its path.
func closedDatabase(t *testing.T, folder string) string {
	t.Helper()
	s, err := Open(t.Context(), Options{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, databaseName)
}

// change runs a statement on a database that is not open.
func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
