package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/timerbus/timerbus/pkg/store"
)

const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "

// TestALongReadIsInterrupted: its statement would not end, and returns no row between which ctx could be checked.
func TestALongReadIsInterrupted(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := s.readLong(ctx, "count without end", func(c *conn) error {
		var n int
		return c.one(endless+"max(i) FROM n", nil, &n)
	})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want that the time was over", err)
	}
	// The connection can be used again.
	if _, err := s.Count(t.Context(), now); err != nil {
		t.Errorf("the next count: %v", err)
	}
}

// TestAReadEndsBetweenRows: a short read is not interrupted, but reads no further row.
func TestAReadEndsBetweenRows(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	read := 0
	err := s.read(ctx, "read without end", func(c *conn) error {
		return c.each(func(*sql.Rows) error {
			if read++; read == 3 {
				cancel()
			}
			return nil
		}, endless+"i FROM n")
	})
	if !errors.Is(err, context.Canceled) || read != 3 {
		t.Errorf("got %v after %d rows, want context.Canceled after 3", err, read)
	}
}

// TestListsDoNotTakeThePollsConnections: polls and row checks continue while lists use all connections for long reads.
func TestListsDoNotTakeThePollsConnections(t *testing.T) {
	s := openFolder(t, Options{Folder: NewFolder(t), Readers: 1, LongReaders: 2})
	p := putOf("a", now)
	mustWrite(t, s, p)
	reading, finish := make(chan struct{}), make(chan struct{})
	done := make(chan error, 2)
	for range cap(done) {
		go func() {
			done <- s.readLong(t.Context(), "list", func(*conn) error {
				reading <- struct{}{}
				<-finish
				return nil
			})
		}()
		<-reading
	}
	if !exists(t, s, p) {
		t.Error("the timer is not there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Count(ctx, now); !errors.Is(err, context.Canceled) {
		t.Errorf("a count that waits for the lists: %v, want context.Canceled", err)
	}
	close(finish)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
