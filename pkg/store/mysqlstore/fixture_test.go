package mysqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/internal/testserver"
)

//testenv:need mysql mariadb

// eachServer runs a subtest on every server.
func eachServer(t *testing.T, run func(t *testing.T, address string)) {
	t.Helper()
	for _, name := range []string{"mysql", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, testserver.Address(t, name))
		})
	}
}

// newDatabase creates a database without a schema, which is dropped at the end of the test, and returns its URL.
func newDatabase(tb testing.TB, address string) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d", rand.Uint64())
	at, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	at.Path = "/mysql"
	server := at.String()
	at.Path = "/" + name
	execute(tb, server, "CREATE DATABASE "+name)
	tb.Cleanup(func() { execute(tb, server, "DROP DATABASE "+name) })
	return at.String()
}

// migrated creates a database with the schema.
func migrated(tb testing.TB, address string) string {
	tb.Helper()
	inside := newDatabase(tb, address)
	if _, _, err := Migrate(tb.Context(), Options{URL: inside}); err != nil {
		tb.Fatal(err)
	}
	return inside
}

// connection opens a pool of one connection.
func connection(tb testing.TB, address string) *sql.DB {
	tb.Helper()
	c, err := Options{URL: address}.config()
	if err != nil {
		tb.Fatal(err)
	}
	db, err := c.pool(1)
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

// execute runs statements on a new connection.
func execute(tb testing.TB, address string, statements ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), time.Minute) // cleanups call it, too
	defer cancel()
	db := connection(tb, address)
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

// empty deletes all rows. It is faster than a new database for each subtest.
func empty(tb testing.TB, address string) {
	tb.Helper()
	execute(tb, address, "DELETE FROM timers", "DELETE FROM history", "DELETE FROM shards", "DELETE FROM namespaces",
		"DELETE FROM positions", "DELETE FROM api_keys", "DELETE FROM flows", "DELETE FROM cluster")
}

// fill makes inserts of timers, and those of findRoom, fail as on a full disk, or ends that.
func fill(tb testing.TB, address string, full bool) {
	tb.Helper()
	for _, table := range []string{"timers", "room"} {
		statement := "DROP TRIGGER no_room_for_" + table
		if full {
			statement = "CREATE TRIGGER no_room_for_" + table + " BEFORE INSERT ON " + table +
				" FOR EACH ROW SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'"
		}
		execute(tb, address, statement)
	}
}

func openStore(tb testing.TB, address string) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), Options{URL: address, MaxConns: 6})
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

// setListLimits changes the limits of lists.
func setListLimits(s *Store, looked, sorted, chunk int) {
	relational.LimitLists(s.core, relational.ListLimits{Looked: looked, Sorted: sorted, Chunk: chunk})
}

// occupy takes all connections for which calls wait.
func occupy(tb testing.TB, s *Store) (release func()) {
	tb.Helper()
	var taken []*sql.Conn
	for _, pool := range []*sql.DB{s.main, s.long} {
		for range pool.Stats().MaxOpenConnections {
			c, err := pool.Conn(tb.Context())
			if err != nil {
				tb.Fatal(err)
			}
			taken = append(taken, c)
		}
	}
	return func() {
		for _, c := range taken {
			_ = c.Close()
		}
	}
}
