package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/e2e/internal/harness"
	"github.com/timerbus/timerbus/internal/testserver"
)

// TestTheDatabasesPasswordChanges replaces the role in the file of the store's URL while the process runs. All connections of the
// earlier role must end, and timers must fire on time during the change. The process must refuse a different host in the file.
func TestTheDatabasesPasswordChanges(t *testing.T) {
	t.Parallel()
	if onDatabase() {
		t.Skip("it has a PostgreSQL database of its own, so the run without TIMERBUS_E2E_STORE tests it")
	}
	server := testserver.Address(t, "postgres")
	first, second := newRole(t, server, "one"), newRole(t, server, "two")
	at, err := url.Parse(chosen().fresh(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "store")
	set := func(user, password, host string) {
		t.Helper()
		u := *at
		u.User = url.UserPassword(user, password)
		if host != "" {
			u.Host = host
		}
		next := file + ".next"
		if err := os.WriteFile(next, []byte(u.String()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, file); err != nil {
			t.Fatal(err)
		}
	}
	set(first, "one", "")
	w := startOwn(t, harness.WithEnv("TIMERBUS_STORE_FILE="+file))

	const timers, every = 72, 250 * time.Millisecond
	for i := range timers {
		w.create(t, fmt.Sprintf("t%d", i), time.Duration(i+1)*every)
	}
	if n := connectionsOf(t, server, first); n == 0 {
		t.Fatal("the first role has no connections")
	}

	set(second, "two", "")
	ctx := within(t, patience)
	for connectionsOf(t, server, first) > 0 {
		if !wait(ctx) {
			t.Fatalf("the first role still has %d connections", connectionsOf(t, server, first))
		}
	}
	changed := time.Now()
	if err := onServer(server, "ALTER ROLE "+first+" NOLOGIN"); err != nil {
		t.Fatal(err)
	}
	after, latest := 0, time.Duration(0)
	for i := range timers {
		call := w.calls(t, fmt.Sprintf("t%d", i), 1)[0]
		latest = max(latest, call.Lateness())
		if call.ScheduledFor.Time().After(changed) {
			after++
		}
	}
	for i := range timers {
		if n := len(w.receiver.Calls(w.namespace, fmt.Sprintf("t%d", i))); n != 1 {
			t.Errorf("timer %d was called %d times", i, n)
		}
	}
	t.Logf("%d timers, %d of them due after the change; the latest callback %v late", timers, after, latest)
	if after == 0 || after == timers || latest > 3*time.Second {
		t.Errorf("%d of %d timers were due after the change, and the latest callback was %v late", after, timers, latest)
	}
	if connectionsOf(t, server, second) == 0 {
		t.Error("the second role has no connections")
	}

	set(second, "hush", "127.0.0.1:1")
	ctx = within(t, patience)
	for !strings.Contains(w.Log(), "not used until a restart") {
		if !wait(ctx) {
			t.Fatal("the log does not tell that another host is refused")
		}
	}
	if strings.Contains(w.Log(), "hush") {
		t.Error("the log contains the password")
	}
	w.create(t, "last", 0)
	w.calls(t, "last", 1)
}

// wait pauses between two looks at something that has no event. It returns false if ctx has ended.
func wait(ctx context.Context) bool {
	pause(ctx, 50*time.Millisecond)
	return ctx.Err() == nil
}

// newRole creates a superuser that must give a password, and returns its name.
func newRole(t *testing.T, server, password string) string {
	t.Helper()
	name := fmt.Sprintf("e2e_%d_%d", os.Getpid(), databases.Add(1))
	for _, statement := range []string{
		"DO $$ BEGIN CREATE ROLE with_password; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
		"CREATE ROLE " + name + " LOGIN SUPERUSER PASSWORD '" + password + "' IN ROLE with_password",
	} {
		if err := onServer(server, statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := onServer(server, "DROP ROLE "+name); err != nil {
			t.Error(err)
		}
	})
	return name
}

func connectionsOf(t *testing.T, server, role string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	if err := c.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE usename = $1", role).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
