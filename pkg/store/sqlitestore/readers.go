package sqlitestore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// readers are the connections that read. Each place of the pool holds a connection, or nil where one is
// to be opened. In WAL mode a reader sees every transaction that was committed before it began, and
// never waits for the writer.
type readers struct {
	db   *sql.DB
	pool chan *conn
}

func newReaders(db *sql.DB, n int) *readers {
	r := &readers{db: db, pool: make(chan *conn, n)}
	for range n {
		r.pool <- nil
	}
	return r
}

// read runs a read on a connection of the pool.
func (s *Store) read(ctx context.Context, op string, run func(*conn) error) error {
	if err := s.enter(ctx, op); err != nil {
		return err
	}
	defer s.leave()
	var c *conn
	select {
	case c = <-s.readers.pool:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, ctx.Err())
	}
	err := error(nil)
	if c == nil {
		c, err = connect(context.Background(), s.readers.db)
	}
	if err == nil {
		err = run(c)
	}
	if err != nil {
		c.discard()
		c = nil
		err = fmt.Errorf("%s: %w", op, failed(err))
	}
	s.readers.pool <- c
	return err
}

// pause takes all connections out of use and returns how to give them back. Reads are short, so that
// this waits for milliseconds.
func (r *readers) pause() (resume func()) {
	taken := make([]*conn, cap(r.pool))
	for i := range taken {
		taken[i] = <-r.pool
	}
	return func() {
		for _, c := range taken {
			r.pool <- c
		}
	}
}

// close ends all connections. No read runs any more.
func (r *readers) close() error {
	var errs []error
	for range cap(r.pool) {
		if c := <-r.pool; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, r.db.Close())...)
}
