package postgresstore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestTheServerStopsWorkingOnALongRead: when the read's context ends, pgx sends a cancel request. Without it, the
// server notices a closed connection only when it writes to the client.
func TestTheServerStopsWorkingOnALongRead(t *testing.T) {
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		s := openStore(t, inside)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan error, 1)
		go func() {
			done <- s.readLong(ctx, "sleep", func(c *conn) error {
				return c.exchange(ctx, call{statement: statement{"sleep", "SELECT pg_sleep(300)::text"}})
			})
		}()
		other, err := pgx.Connect(t.Context(), inside)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		waitForSleepers(t, other, 1)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
		waitForSleepers(t, other, 0)
		if _, err := s.Count(t.Context(), now); err != nil {
			t.Errorf("the next count: %v", err)
		}
	})
}

// waitForSleepers waits until want sessions of the database run pg_sleep.
func waitForSleepers(t *testing.T, c *pgx.Conn, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for n := -1; n != want; {
		err := c.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`).Scan(&n)
		if err != nil {
			t.Fatalf("%d sessions sleep, want %d: %v", n, want, err)
		}
	}
}
