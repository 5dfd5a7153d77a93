package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"
)

// readers are the connections for reads. Each element of a pool is a connection, or nil if it is to be opened. In WAL
// mode, a reader sees every transaction that was committed before the read began, and never waits for the writer.
type readers struct {
	db *sql.DB
	// short is for reads on which timers wait: polls, row checks, reads of one timer.
	short chan *conn
	// long is for lists and counts, which read many rows. It is small, so that lists wait for each other and leave the
	// processors to short reads.
	long chan *conn
}

func newReaders(db *sql.DB, short, long int) *readers {
	r := &readers{db: db, short: make(chan *conn, short), long: make(chan *conn, long)}
	for _, pool := range r.pools() {
		for range cap(pool) {
			pool <- nil
		}
	}
	return r
}

// pools returns the pools, long first, because long reads take longer to end.
func (r *readers) pools() []chan *conn { return []chan *conn{r.long, r.short} }

// read runs a read that takes at most milliseconds.
func (s *Store) read(ctx context.Context, op string, run func(*conn) error) error {
	return s.readFrom(ctx, op, s.readers.short, run)
}

// readLong runs a read that may take longer. It is interrupted when ctx ends.
func (s *Store) readLong(ctx context.Context, op string, run func(*conn) error) error {
	return s.readFrom(ctx, op, s.readers.long, func(c *conn) error {
		c.interruptible = true
		return run(c)
	})
}

func (s *Store) readFrom(ctx context.Context, op string, pool chan *conn, run func(*conn) error) error {
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	var c *conn
	select {
	case c = <-pool:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, ctx.Err())
	}
	err := error(nil)
	if c == nil {
		c, err = connect(context.Background(), s.readers.db)
	}
	if err == nil {
		c.ctx = ctx
		err = run(c)
		c.ctx, c.interruptible = context.Background(), false
	}
	if err != nil {
		c.discard()
		c = nil
		if ended := ctx.Err(); ended != nil && (errors.Is(err, ended) || primary(err) == sqlite3.SQLITE_INTERRUPT) {
			err = ended
		} else {
			err = failed(err)
		}
		err = fmt.Errorf("%s: %w", op, err)
	}
	pool <- c
	return err
}

// pause takes all connections out of the pools and returns a function that returns them. If that takes longer than
// most, nothing is paused and ok is false.
func (r *readers) pause(most time.Duration) (resume func(), ok bool) {
	type taken struct {
		pool chan *conn
		conn *conn
	}
	var all []taken
	resume = func() {
		for _, t := range all {
			t.pool <- t.conn
		}
	}
	late := time.NewTimer(most)
	defer late.Stop()
	for _, pool := range r.pools() {
		for range cap(pool) {
			select {
			case c := <-pool:
				all = append(all, taken{pool, c})
			case <-late.C:
				resume()
				return nil, false
			}
		}
	}
	return resume, true
}

// close closes all connections. The caller ensures that no read is running.
func (r *readers) close() error {
	var errs []error
	for _, pool := range r.pools() {
		for range cap(pool) {
			if c := <-pool; c != nil {
				errs = append(errs, c.close())
			}
		}
	}
	return errors.Join(append(errs, r.db.Close())...)
}
