package postgresstore

import (
	"errors"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/store"
)

// TestLocksAreNotWaitedForForever: if another transaction locks rows for long, calls fail with ErrUnavailable, and
// succeed after it has ended.
func TestLocksAreNotWaitedForForever(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		if config, err := (&Options{URL: inside}).pool(); err != nil || config.ConnConfig.RuntimeParams["lock_timeout"] != "3s" {
			t.Errorf("%v, %v; want a lock_timeout of 3s", config.ConnConfig.RuntimeParams, err)
		}
		s := openStore(t, with(t, inside, func(u *url.URL) { u.RawQuery += "&lock_timeout=50ms" }))
		p := putOf("a", now)
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		if _, err := other.Exec(t.Context(), "BEGIN; LOCK TABLE timers IN ACCESS EXCLUSIVE MODE"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(t.Context(), now, p.Ref); !errors.Is(err, store.ErrUnavailable) || code(err) != lockNotAvailable {
			t.Errorf("get beside the lock: %v", err)
		}
		done := make(chan error, 1)
		ctx := t.Context()
		go func() {
			_, err := s.Write(ctx, now, []store.Op{p})
			done <- err
		}()
		waitForLock(t, other)
		if _, err := other.Exec(t.Context(), "COMMIT"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Errorf("the write that waited: %v", err)
		}
	})
}

// TestMigrateLetsOthersPass: a migration that waits for a lock fails after lock_timeout and tries again.
func TestMigrateLetsOthersPass(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := newDatabase(t, address)
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		// The migration creates a table with the same name.
		if _, err := other.Exec(t.Context(), "BEGIN; CREATE TABLE cluster (one integer)"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		ctx := t.Context()
		go func() {
			_, _, err := Migrate(ctx, Options{URL: with(t, inside, func(u *url.URL) { u.RawQuery += "&lock_timeout=50ms" })})
			done <- err
		}()
		for waits := range 2 {
			waitForLock(t, other)
			if waits == 0 {
				waitForNoLock(t, other)
			}
		}
		if _, err := other.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// waitForLock waits until a session waits for a lock, waitForNoLock until no session does.
func waitForLock(t *testing.T, c *pgx.Conn)   { waitForWaiting(t, c, true) }
func waitForNoLock(t *testing.T, c *pgx.Conn) { waitForWaiting(t, c, false) }

func waitForWaiting(t *testing.T, c *pgx.Conn, want bool) {
	t.Helper()
	for waiting := !want; waiting != want; {
		err := c.QueryRow(t.Context(), `SELECT count(*) > 0 FROM pg_locks
			WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_get_activity(NULL) WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
}
