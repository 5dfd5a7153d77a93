package postgresstore_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/timerbus/timerbus/pkg/store/postgresstore"
)

//testenv:need postgres postgres15

// server is a PostgreSQL server on which tests create databases.
type server struct{ name, url string }

// servers returns the servers of the environment variables. tools/testenv starts servers and sets the variables, and
// `make test` runs it. If TIMERBUS_REQUIRE lists a server that is not available, the test fails.
func servers(tb testing.TB) []server {
	tb.Helper()
	var out []server
	for name, url := range map[string]string{
		"postgres":   os.Getenv("TIMERBUS_TEST_POSTGRES"),
		"postgres15": os.Getenv("TIMERBUS_TEST_POSTGRES15"),
	} {
		switch {
		case url != "":
			out = append(out, server{name, url})
		case slices.Contains(strings.Split(os.Getenv("TIMERBUS_REQUIRE"), ","), name):
			tb.Fatalf("TIMERBUS_REQUIRE lists %s, but its address is not in the environment", name)
		}
	}
	if len(out) == 0 {
		tb.Skip("no PostgreSQL: run `make test PKG=./pkg/store/postgresstore`, which starts some")
	}
	slices.SortFunc(out, func(a, b server) int { return strings.Compare(a.name, b.name) })
	return out
}

// database is a database on a server. It is dropped at the end of the test.
type database struct{ url string }

func (s server) database(tb testing.TB) *database {
	tb.Helper()
	return &database{postgresstore.MigratedDatabase(tb, s.url)}
}

// emptyDatabase creates a database without a schema.
func (s server) emptyDatabase(tb testing.TB) *database {
	tb.Helper()
	return &database{postgresstore.NewDatabase(tb, s.url)}
}

// execute runs statements on a new connection, for at most 30 s.
func (db *database) execute(tb testing.TB, statements ...string) {
	tb.Helper()
	db.executeWithin(tb, 30*time.Second, statements...)
}

func (db *database) executeWithin(tb testing.TB, most time.Duration, statements ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), most) // cleanups call it, too
	defer cancel()
	c, err := pgx.Connect(ctx, db.url)
	if err != nil {
		tb.Fatal(err)
	}
	defer c.Close(ctx)
	for _, statement := range statements {
		if _, err := c.Exec(ctx, statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

// fill makes inserts of timers, and those of findRoom, fail as on a full disk, or ends that.
func (db *database) fill(tb testing.TB, full bool) {
	tb.Helper()
	statements := []string{`CREATE OR REPLACE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION USING ERRCODE = 'disk_full', MESSAGE = 'could not extend file'; END $$`}
	for _, table := range []string{"timers", "room"} {
		statement := "DROP TRIGGER no_room ON " + table
		if full {
			statement = "CREATE TRIGGER no_room BEFORE INSERT ON " + table + " FOR EACH STATEMENT EXECUTE FUNCTION no_room()"
		}
		statements = append(statements, statement)
	}
	db.execute(tb, statements...)
}

// empty deletes all rows. It is faster than a new database for each subtest.
func (db *database) empty(tb testing.TB) {
	tb.Helper()
	db.execute(tb, "SET synchronous_commit = off",
		"DELETE FROM timers", "DELETE FROM timer_history", "DELETE FROM claims", "DELETE FROM watermarks", "DELETE FROM namespaces",
		"DELETE FROM positions", "DELETE FROM api_keys", "DELETE FROM flows", "DELETE FROM cluster")
}

func (db *database) open(tb testing.TB) *postgresstore.Store {
	tb.Helper()
	s, err := postgresstore.Open(tb.Context(), postgresstore.Options{URL: db.url, MaxConns: 6, MinConns: 1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}
