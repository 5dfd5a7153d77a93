package mysqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
)

// write runs a transaction, again if it conflicts with others. run may be called several times and must reset its answers
// each time.
func (s *Store) write(ctx context.Context, op string, run func(c *conn) error) error {
	return s.retry(ctx, op, func(c *conn) (committing bool, err error) {
		if _, err := c.exec(ctx, "START TRANSACTION"); err != nil {
			return false, err
		}
		if err := run(c); err != nil {
			c.rollback(ctx)
			return false, err
		}
		_, err = c.exec(ctx, "COMMIT")
		return true, err
	})
}

// writeOne runs one statement that is a transaction.
func (s *Store) writeOne(ctx context.Context, op string, run func(c *conn) error) error {
	return s.retry(ctx, op, func(c *conn) (bool, error) {
		err := run(c)
		return number(err) == 0, err // if the server refused the statement, it has undone it
	})
}

func (s *Store) retry(ctx context.Context, op string, run func(c *conn) (committing bool, err error)) error {
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	var committing bool
	err := s.with(ctx, s.main, func(c *conn) error {
		var err error
		for try := range engine.MaxTries {
			committing, err = run(c)
			if err == nil || !again(err) || errors.Is(err, errTaken) || !engine.Pause(ctx, try) {
				return err
			}
		}
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTaken):
		return err
	}
	err = failed(ctx, err, committing && !refusedCommit(err))
	if errors.Is(err, store.ErrFull) {
		s.full.Store(true)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// rollback ends a transaction that has failed. If that fails too, the connection is closed, which has the same effect.
func (c *conn) rollback(ctx context.Context) {
	if _, err := c.exec(ctx, "ROLLBACK"); err != nil {
		c.discard()
	}
}

// discard closes the connection instead of returning it to the pool.
func (c *conn) discard() {
	_ = c.sql.Raw(func(any) error { return errBadConn })
}

// maxReads is how often a read is tried: a second time if the connection, which may have been dead for a while, did not
// answer.
const maxReads = 2

// read runs read-only statements that take milliseconds.
func (s *Store) read(ctx context.Context, op string, run func(c *conn) error) error {
	return s.readFrom(ctx, s.main, op, run)
}

// readLong runs read-only statements that may take longer.
func (s *Store) readLong(ctx context.Context, op string, run func(c *conn) error) error {
	return s.readFrom(ctx, s.long, op, run)
}

func (s *Store) readFrom(ctx context.Context, pool *sql.DB, op string, run func(c *conn) error) error {
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	var err error
	for range maxReads {
		if err = s.with(ctx, pool, run); err == nil {
			return nil
		}
		if number(err) != 0 && !again(err) || ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("%s: %w", op, failed(ctx, err, false))
}

var beginSnapshot = []string{"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", "START TRANSACTION WITH CONSISTENT SNAPSHOT"}

// snapshot runs several reads on the same state of the database.
func (s *Store) snapshot(ctx context.Context, op string, run func(c *conn) error) error {
	return s.read(ctx, op, func(c *conn) error {
		for _, statement := range beginSnapshot {
			if _, err := c.exec(ctx, statement); err != nil {
				c.discard()
				return err
			}
		}
		err := run(c)
		c.rollback(ctx)
		return err
	})
}

// with runs a function on a connection of a pool.
func (s *Store) with(ctx context.Context, pool *sql.DB, run func(c *conn) error) error {
	pooled, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = pooled.Close() }() // it is returned to the pool
	return run(&conn{sql: pooled})
}
