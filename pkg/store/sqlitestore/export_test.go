package sqlitestore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/store/relational"
)

// SetListLimits sets the limits of lists, so that pages reach them with a few timers. The defaults need thousands.
func (s *Store) SetListLimits(looked, sorted, chunk int) {
	relational.LimitLists(s.core, relational.ListLimits{Looked: looked, Sorted: sorted, Chunk: chunk})
}

// Occupy takes all connections that calls share, until release is called.
func (s *Store) Occupy(tb testing.TB) (release func()) {
	tb.Helper()
	resume, ok := s.readers.pause(time.Minute)
	if !ok {
		tb.Fatal("the readers are busy")
	}
	return resume
}

// Fill bounds the growth of the database to 20 pages, or removes the bound.
func (s *Store) Fill(tb testing.TB, full bool) {
	tb.Helper()
	most := int64(1 << 30)
	err := s.write(tb.Context(), "fill", 1, 0, func(c *conn) error {
		if full {
			if err := c.one("PRAGMA page_count", nil, &most); err != nil {
				return err
			}
			most += 20
		}
		bound := fmt.Sprintf("max_page_count(%d)", most)
		// The writer replaces its connection after some failures.
		db, err := openDB(strings.TrimSuffix(s.lock.Name(), lockName)+databaseName, 1, bound)
		if err != nil {
			return err
		}
		s.writer.db, db = db, s.writer.db
		err = c.one("PRAGMA "+bound, nil, &most)
		return errors.Join(err, db.Close())
	})
	if err != nil {
		tb.Fatal(err)
	}
}
