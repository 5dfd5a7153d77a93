package sqlitestore

import (
	"encoding/hex"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestWhatTheFirstSchemaHeldIsKept opens a database of the first release, with a namespace, a live timer and a dead
// one.
func TestWhatTheFirstSchemaHeldIsKept(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, databaseName)
	makeFirst(t, path)
	live, dead := timer.UUIDOf("n", "live"), timer.UUIDOf("n", "dead")
	for _, statement := range []string{
		"INSERT INTO namespaces VALUES ('n', 0, 1, '4 0s 30s 2 1h0m0s', 30000000000, 86400000000000, 5, 6)",
		"INSERT INTO timers VALUES (1, 0, x'" + hexOf(live) + `', 'n', 'live', 100, '', 'http://h/', 1000000000, '4 0s 30s 2 1h0m0s',
			x'31', NULL, 'scheduled', 100, 7, 7, 0, 0, 5, 6, 0, 0, '', NULL)`,
		"INSERT INTO history VALUES (1, 0, x'" + hexOf(dead) + `', 8, 4, 'dead', 0, 50, 60, 500, 'no', 9999, NULL, 'n', 'dead', 40, '',
			'http://h/', 1000000000, '4 0s 30s 2 1h0m0s', x'32', 'c', 50, 9, 5, 60)`,
	} {
		change(t, path, statement)
	}

	s := openFolder(t, Options{Folder: folder})
	ns, err := s.GetNamespace(t.Context(), "n")
	if want := (store.Settings{
		Retry:           timer.RetryPolicy{MaxAttempts: 4, InitialInterval: 30 * time.Second, BackoffMultiplier: 2, MaxInterval: time.Hour},
		CallbackTimeout: timer.DefaultCallbackTimeout, HistoryRetention: store.DefaultHistoryRetention, DeadRetention: store.DefaultDeadRetention,
		HostConcurrency: store.DefaultHostConcurrency, Results: store.ResultsAll,
	}); err != nil || ns.Settings != want {
		t.Errorf("the namespace has %+v, %v", ns.Settings, err)
	}
	ref := store.Ref{UUID: live}
	if got, err := s.Get(t.Context(), 70, ref); err != nil || string(got.Payload) != "1" || got.Headers != "" || got.Topic != "" || got.Revision != 7 {
		t.Errorf("the live timer is %+v, %v", got, err)
	}
	headers := timer.Headers("X-A: 1\n")
	patch := timer.Patch{Headers: &headers, Deliver: new(timer.DeliverBoth), Topic: new("orders"), EventKey: new("k")}
	out, err := s.Write(t.Context(), 70, []store.Op{store.Update{Ref: ref, Revision: 10, Patch: patch}})
	if err != nil || out[0].Err != nil || out[0].Timer.Headers != headers || out[0].Timer.CallbackURL != "http://h/" {
		t.Errorf("updated it is %+v, %v", out, err)
	}
	if got, err := s.Get(t.Context(), 70, ref); err != nil || got.Topic != "orders" || got.EventKey != "k" {
		t.Errorf("then it is %+v, %v", got, err)
	}
	rearmed, err := s.Rearm(t.Context(), 70, []store.Rearm{{Ref: store.Ref{UUID: dead}, Revision: 11, ExecuteAt: 200}})
	if err != nil || rearmed[0].Err != nil || string(rearmed[0].Timer.Payload) != "2" || rearmed[0].Timer.Headers != "" {
		t.Errorf("the dead timer is %+v, %v", rearmed, err)
	}
}

// makeFirst creates a database with schema 1.
func makeFirst(t *testing.T, path string) {
	t.Helper()
	db, err := openDB(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	migrations, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrations.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func hexOf(u timer.UUID) string { return hex.EncodeToString(u[:]) }
