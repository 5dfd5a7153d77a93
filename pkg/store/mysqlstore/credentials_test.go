package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

// newUser creates a user with all rights on the database at inside, and returns its name.
func newUser(t *testing.T, inside, password string) string {
	t.Helper()
	at, err := url.Parse(inside)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("u%d", rand.Uint64())
	execute(t, inside, "CREATE USER "+name+" IDENTIFIED BY '"+password+"'", "GRANT ALL ON "+at.Path[1:]+".* TO "+name)
	t.Cleanup(func() { execute(t, inside, "DROP USER "+name) })
	return name
}

// waitForConnections waits until a user has the given number of connections.
func waitForConnections(t *testing.T, db *sql.DB, user string, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var n int
	for {
		const query = "SELECT count(*) FROM information_schema.processlist WHERE user = ?"
		// MySQL refuses the query while another connection has a statement with bytes that are not UTF-8.
		err := db.QueryRowContext(ctx, query, user).Scan(&n)
		switch {
		case ctx.Err() != nil:
			t.Fatalf("%s has %d connections, want %d: %v", user, n, want, err)
		case err == nil && n == want:
			return
		}
	}
}

// SetCredentials closes idle connections of the earlier user immediately, and busy ones when they are returned. All new connections
// are those of the new user.
func TestNewCredentialsReplaceConnections(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		watch := connection(t, inside)
		defer watch.Close()
		first, second := newUser(t, inside, "one"), newUser(t, inside, "two")
		s, err := Open(t.Context(), Options{URL: with(t, inside, func(u *url.URL) { u.User = url.UserPassword(first, "one") }), MaxConns: 6})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		use := func() (held []*sql.Conn) {
			t.Helper()
			for _, pool := range []*sql.DB{s.main, s.long, s.clock} {
				for range pool.Stats().MaxOpenConnections {
					c, err := pool.Conn(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					held = append(held, c)
				}
			}
			return held
		}
		release := func(held []*sql.Conn) {
			t.Helper()
			for _, c := range held {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		held := use()
		release(held[1:])
		waitForConnections(t, watch, first, len(held))

		s.SetCredentials(url.UserPassword(second, "two"))
		waitForConnections(t, watch, first, 1)
		if _, err := held[0].ExecContext(t.Context(), "DO 1"); err != nil {
			t.Errorf("a busy connection: %v", err)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		release(held[:1])
		waitForConnections(t, watch, first, 0)
		release(use())
		waitForConnections(t, watch, second, len(held)) // they stay open

		s.SetCredentials(url.UserPassword(second, "wrong"))
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("with a wrong password: %v, want ErrUnavailable", err)
		}
		s.SetCredentials(url.UserPassword(first, "one"))
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("with the correct password again: %v", err)
		}
	})
}

// An attempt to connect to a server that accepts connections and does not answer ends after ConnectTimeout.
func TestConnectingToASilentServerIsBounded(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := Options{URL: "mysql://me:hush@" + silent.Addr().String() + "/x", ConnectTimeout: 50 * time.Millisecond}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := Open(ctx, o); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("open: %v, want ErrUnavailable", err)
	}
	if _, _, err := Migrate(ctx, o); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("migrate: %v, want ErrUnavailable", err)
	}
	if ctx.Err() != nil {
		t.Error("only the test's own deadline has ended the attempts")
	}
}
