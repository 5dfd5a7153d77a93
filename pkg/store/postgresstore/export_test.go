package postgresstore

import (
	"testing"

	"github.com/timerbus/timerbus/pkg/store/internal/relational"
)

// NewDatabase makes a database on a server, which is removed at the end of the test; it has no schema.
func NewDatabase(tb testing.TB, address string) (inside string) {
	tb.Helper()
	return newDatabase(tb, address)
}

// MigratedDatabase makes one with the schema.
func MigratedDatabase(tb testing.TB, address string) (inside string) {
	tb.Helper()
	return migrated(tb, address)
}

// SetListLimits makes every page of a list meet limits that otherwise need thousands of timers.
func (s *Store) SetListLimits(looked, sorted, chunk int) {
	s.listLimits = relational.ListLimits{Looked: looked, Sorted: sorted, Chunk: chunk}
}
