package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/store"
)

// newRole creates a superuser that must give a password, and returns its name.
func newRole(t *testing.T, inside, password string) string {
	t.Helper()
	name := fmt.Sprintf("role_%d", rand.Uint64())
	execute(t, inside,
		"DO $$ BEGIN CREATE ROLE with_password; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
		"CREATE ROLE "+name+" LOGIN SUPERUSER PASSWORD '"+password+"' IN ROLE with_password")
	t.Cleanup(func() { execute(t, inside, "DROP OWNED BY "+name, "DROP ROLE "+name) })
	return name
}

// waitForConnections waits until a role has the given number of connections.
func waitForConnections(t *testing.T, inside, role string, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var n int
	for ctx.Err() == nil {
		if n = count(t, inside, "SELECT count(*) FROM pg_stat_activity WHERE usename = '"+role+"'"); n == want {
			return
		}
	}
	t.Fatalf("%s has %d connections, want %d", role, n, want)
}

// SetCredentials closes idle connections of the earlier role immediately, and busy ones when they are returned. All new connections
// are those of the new role.
func TestNewCredentialsReplaceConnections(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		first, second := newRole(t, inside, "one"), newRole(t, inside, "two")
		s, err := Open(t.Context(), Options{URL: with(t, inside, func(u *url.URL) { u.User = url.UserPassword(first, "one") }), MaxConns: 6, MinConns: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		use := func() (held []*pgxpool.Conn) {
			t.Helper()
			for _, pool := range s.pools() {
				for range pool.Config().MaxConns {
					c, err := pool.Acquire(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					held = append(held, c)
				}
			}
			return held
		}
		held := use()
		defer held[0].Release() // Close waits for it; releasing it twice does no harm
		for _, c := range held[1:] {
			c.Release()
		}
		waitForConnections(t, inside, first, len(held))

		s.SetCredentials(url.UserPassword(second, "two"))
		waitForConnections(t, inside, first, 1)
		if _, err := held[0].Exec(t.Context(), "SELECT 1"); err != nil {
			t.Errorf("a busy connection: %v", err)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		held[0].Release()
		waitForConnections(t, inside, first, 0)
		for _, c := range use() {
			c.Release()
		}
		waitForConnections(t, inside, second, len(held))

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
