package postgresstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/store"
)

// maxTries bounds how often a transaction runs that others get in the way of. Each time, one of those has
// got on.
const (
	maxTries = 100
	maxPause = 20 * time.Millisecond
)

var (
	begin         = statement{"begin", "BEGIN"}
	beginSnapshot = statement{"begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ"}
	commit        = statement{"commit", "COMMIT"}
	rollback      = statement{"rollback", "ROLLBACK"}
)

// isolation is what a transaction sees of others.
type isolation bool

const (
	// latest: a statement that has waited for a row judges the row as it is now. Shards and other single
	// rows are fenced like this.
	latest isolation = false
	// snapshot: the whole transaction sees one state of the database, and fails if it is to write a row
	// that somebody has changed since; then it runs again. Timers are written like this: judged by
	// themselves, changed rows would stand beside a state of history that is older. (That part of the
	// server is also where PostgreSQL 18.0 crashes, in plans that choose partitions while they run.)
	snapshot isolation = true
)

// transaction is a write under way. What its function sends before commit is sent in a transaction;
// without anything sent before, commit is one by itself, and one exchange.
type transaction struct {
	store     *Store
	conn      *conn
	isolation isolation
	begun     bool
	// committing: the exchange with the commit has begun, so that its fate decides.
	committing bool
	done       bool
}

func (t *transaction) exchange(ctx context.Context, calls ...call) error {
	return t.conn.exchange(ctx, t.begin(calls)...)
}

func (t *transaction) begin(calls []call) []call {
	if t.begun {
		return calls
	}
	t.begun = true
	first := begin
	if t.isolation == snapshot {
		first = beginSnapshot
	}
	return append([]call{{statement: first}}, calls...)
}

// commit sends the last calls and ends the transaction.
func (t *transaction) commit(ctx context.Context, calls ...call) error {
	t.done = true
	if len(calls) == 0 && !t.begun {
		return nil
	}
	if t.isolation == snapshot {
		calls = t.begin(calls)
	}
	if t.begun {
		calls = append(calls, call{statement: commit})
	}
	t.committing = true
	return t.conn.exchange(ctx, calls...)
}

// abandon ends a transaction that wrote nothing.
func (t *transaction) abandon(ctx context.Context) error {
	t.done = true
	return t.conn.exchange(ctx, call{statement: rollback})
}

// outside reads what others have committed by now, beside the transaction and its snapshot. Connections for
// that are a pool of their own: transactions that each hold one and wait for another would wait for ever.
func (t *transaction) outside(ctx context.Context, calls ...call) error {
	pooled, err := t.store.beside.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	return (&conn{pooled}).exchange(ctx, calls...)
}

// errStale says that the rows changed since they were looked at, so that the transaction must run again.
var errStale = fmt.Errorf("%w: others write the same timers all the time", store.ErrUnavailable)

// write runs a transaction, again if others got in its way. run may run several times and must set its
// answers anew each time; it ends with commit, or without having sent anything.
func (s *Store) write(ctx context.Context, op string, see isolation, run func(t *transaction) error) error {
	if err := s.enter(ctx, op); err != nil {
		return err
	}
	defer s.leave()
	var err error
	for try := range maxTries {
		if err = s.once(ctx, see, run); err == nil {
			return nil
		}
		if !again(err) && !errors.Is(err, errStale) || !pause(ctx, try) {
			break
		}
	}
	return fmt.Errorf("%s: %w", op, err)
}

// pause lets others get on, for longer the more often they were in the way; it is false if ctx ended.
func pause(ctx context.Context, try int) bool {
	if try < 2 {
		return ctx.Err() == nil
	}
	longest := min(maxPause, time.Millisecond<<min(try, 10))
	return pauseFor(ctx, rand.N(longest))
}

func pauseFor(ctx context.Context, length time.Duration) bool {
	wait := time.NewTimer(length)
	defer wait.Stop()
	select {
	case <-wait.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Store) once(ctx context.Context, see isolation, run func(t *transaction) error) error {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return failed(ctx, err, false)
	}
	defer pooled.Release()
	t := &transaction{store: s, conn: &conn{pooled}, isolation: see}
	err = run(t)
	if err == nil && t.begun && !t.done {
		err = fmt.Errorf("a transaction was left open")
	}
	if err == nil {
		return nil
	}
	if t.begun && !pooled.Conn().IsClosed() && ctx.Err() == nil {
		// A connection that does not even roll back is thrown away by the pool.
		_ = t.conn.exchange(ctx, call{statement: rollback})
	}
	if errors.Is(err, errStale) {
		return err
	}
	err = failed(ctx, err, t.committing)
	if errors.Is(err, store.ErrFull) {
		s.full.Store(true)
	}
	return err
}

// maxReads is how often a read is tried: once more if the connection, which may have been dead for long,
// did not answer.
const maxReads = 2

// read runs statements that change nothing and take milliseconds.
func (s *Store) read(ctx context.Context, op string, run func(c *conn) error) error {
	return s.readFrom(ctx, s.pool, op, run)
}

// readLong runs statements that change nothing and may take longer.
func (s *Store) readLong(ctx context.Context, op string, run func(c *conn) error) error {
	return s.readFrom(ctx, s.long, op, run)
}

func (s *Store) readFrom(ctx context.Context, pool *pgxpool.Pool, op string, run func(c *conn) error) error {
	if err := s.enter(ctx, op); err != nil {
		return err
	}
	defer s.leave()
	var err error
	for range maxReads {
		if err = readOnce(ctx, pool, run); err == nil {
			return nil
		}
		if aborted(err) && !again(err) || ctx.Err() != nil {
			break
		}
	}
	return fmt.Errorf("%s: %w", op, failed(ctx, err, false))
}

func readOnce(ctx context.Context, pool *pgxpool.Pool, run func(c *conn) error) error {
	pooled, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	return run(&conn{pooled})
}
