package postgresstore

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/internal/store/relational"
)

// NewDatabase creates a database without a schema on a server. It is dropped at the end of the test.
func NewDatabase(tb testing.TB, address string) (inside string) {
	tb.Helper()
	return newDatabase(tb, address)
}

// MigratedDatabase creates a database with the schema.
func MigratedDatabase(tb testing.TB, address string) (inside string) {
	tb.Helper()
	return migrated(tb, address)
}

// Occupy takes all connections that calls share, until release is called.
func (s *Store) Occupy(tb testing.TB) (release func()) {
	tb.Helper()
	var all []*pgxpool.Conn
	for _, pool := range []*pgxpool.Pool{s.pool, s.beside, s.long} {
		for range pool.Config().MaxConns {
			conn, err := pool.Acquire(tb.Context())
			if err != nil {
				tb.Fatal(err)
			}
			all = append(all, conn)
		}
	}
	return func() {
		for _, conn := range all {
			conn.Release()
		}
	}
}

// SetListLimits sets the limits of lists, so that pages reach them with a few timers. The defaults need thousands.
func (s *Store) SetListLimits(looked, sorted, chunk int) {
	relational.LimitLists(s.core, relational.ListLimits{Looked: looked, Sorted: sorted, Chunk: chunk})
}
