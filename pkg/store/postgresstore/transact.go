package postgresstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/pkg/store"
)

var (
	begin         = statement{"begin", "BEGIN"}
	beginSnapshot = statement{"begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ"}
	// lockPartitions waits for a change of the partitions of timers (MergePartitions) and prevents one until the transaction ends.
	lockPartitions = statement{"lock_partitions", "LOCK TABLE ONLY timers IN ACCESS SHARE MODE"}
	commit         = statement{"commit", "COMMIT"}
	rollback       = statement{"rollback", "ROLLBACK"}
)

// isolation selects which changes of other transactions a transaction sees.
type isolation bool

const (
	// latest: a statement that has waited for a row evaluates the row's newest state. Shards and other single rows are
	// written like this.
	latest isolation = false
	// snapshot: the whole transaction sees one state of the database. If it writes a row that has changed since, it
	// fails and runs again. Timers are written like this: otherwise the newest state of a row would be combined with an
	// older state of history. (Without it, statements that recheck changed rows can crash PostgreSQL 18.0, in plans
	// that select partitions while they run.)
	snapshot isolation = true
)

// transaction is a running write. The calls of exchange run in a transaction that begins with the first of them. If
// there were none, commit is a transaction of only its calls, and one exchange.
type transaction struct {
	store     *Store
	conn      *conn
	isolation isolation
	begun     bool
	// committing is set when the exchange with the commit has begun. If it fails, the outcome may be unknown.
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
	if t.isolation == snapshot {
		// LOCK takes no snapshot. If the first statement with a snapshot had to wait for the copy of a partition, the snapshot would
		// not show the copied rows.
		return append([]call{{statement: beginSnapshot}, {statement: lockPartitions}}, calls...)
	}
	return append([]call{{statement: begin}}, calls...)
}

// commit sends the last calls and commits.
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

// abandon rolls back a transaction that wrote nothing.
func (t *transaction) abandon(ctx context.Context) error {
	t.done = true
	return t.conn.exchange(ctx, call{statement: rollback})
}

// outside reads what other transactions have committed, outside this transaction and its snapshot. It uses a separate
// pool: transactions that each have a connection of the same pool and wait for another would deadlock.
func (t *transaction) outside(ctx context.Context, calls ...call) error {
	pooled, err := t.store.beside.Acquire(ctx)
	if err != nil {
		return err
	}
	defer pooled.Release()
	return (&conn{pooled}).exchange(ctx, calls...)
}

// errStale: the rows have changed since they were read, so the transaction must run again.
var errStale = fmt.Errorf("%w: too many conflicts with concurrent writes of the same timers", store.ErrUnavailable)

// write runs a transaction, again if it conflicts with others. run may be called several times and must reset its
// answers each time. It ends with commit or abandon, or without having sent anything.
func (s *Store) write(ctx context.Context, op string, see isolation, run func(t *transaction) error) error {
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
	var err error
	for try := range engine.MaxTries {
		if err = s.once(ctx, see, run); err == nil {
			return nil
		}
		if !again(err) && !errors.Is(err, errStale) || !engine.Pause(ctx, try) {
			break
		}
	}
	return fmt.Errorf("%s: %w", op, err)
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
		// If the rollback fails too, the pool closes the connection.
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

// maxReads is how often a read is tried: a second time if the connection, which may have been dead for a while, did not
// answer.
const maxReads = 2

// read runs read-only statements that take milliseconds.
func (s *Store) read(ctx context.Context, op string, run func(c *conn) error) error {
	return s.readFrom(ctx, s.pool, op, run)
}

// readLong runs read-only statements that may take longer.
func (s *Store) readLong(ctx context.Context, op string, run func(c *conn) error) error {
	return s.readFrom(ctx, s.long, op, run)
}

func (s *Store) readFrom(ctx context.Context, pool *pgxpool.Pool, op string, run func(c *conn) error) error {
	if err := s.calls.Enter(ctx, op); err != nil {
		return err
	}
	defer s.calls.Leave()
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
