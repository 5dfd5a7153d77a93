package postgresstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// statement is a prepared statement. Each connection prepares it when it first uses it.
type statement struct{ name, sql string }

// call is one statement of an exchange, and the handling of its answer.
type call struct {
	statement statement
	// args are the parameters in binary format.
	args [][]byte
	// row is called for each row of the answer. It is nil if there are none.
	row func(r *record)
	// changed, if not nil, is set to the number of rows that the statement wrote.
	changed *int64
}

// settings returns the settings of every connection. All statements of this engine must be nested loops over indexes,
// whatever the tables contain, so the other plan types are disabled: the planner does not know the length of an array,
// and tables that grow from nothing to millions of rows within a minute are not analysed in time. A generic plan avoids
// planning all partitions for each batch; the partitions are selected when the plan runs. Among the plans that remain, those
// that visit the fewest rows are best, regardless of the statistics of pages (docs/decisions/0045).
func settings() map[string]string {
	return map[string]string{
		"application_name":                "timerbus",
		"default_transaction_isolation":   "read committed",
		"plan_cache_mode":                 "force_generic_plan",
		"enable_hashjoin":                 "off",
		"enable_mergejoin":                "off",
		"enable_seqscan":                  "off",
		"enable_incremental_sort":         "off",
		"enable_material":                 "off",
		"enable_bitmapscan":               "off",
		"max_parallel_workers_per_gather": "0",
		"cpu_tuple_cost":                  "10",
		"jit":                             "off",
		"timezone":                        "UTC",
		// A transaction that a frozen process has left open must not block others without limit.
		"idle_in_transaction_session_timeout": "10s",
		// Nor may another session's lock block a call without limit: the statement fails, and the transaction runs
		// again.
		"lock_timeout": "3s",
	}
}

// conn is a connection of the pool that a call uses.
type conn struct{ pooled *pgxpool.Conn }

// binaryFormat is the format of all columns and parameters.
func binaryFormat() []int16 { return []int16{pgx.BinaryFormatCode} }

// exchange sends all calls in one message and reads their answers. Outside a transaction, they are one transaction.
// After an error that the server reported (pgconn.PgError) the connection can be used again; after any other error it
// is closed.
func (c *conn) exchange(ctx context.Context, calls ...call) error {
	for i := range calls {
		if err := c.prepare(ctx, calls[i].statement); err != nil {
			return &notSentError{err}
		}
	}
	wire := c.pooled.Conn().PgConn()
	p := wire.StartPipeline(ctx)
	format := binaryFormat()
	for i := range calls {
		described, err := c.pooled.Conn().Prepare(ctx, calls[i].statement.name, calls[i].statement.sql)
		if err != nil {
			return errors.Join(err, p.Close())
		}
		p.SendQueryStatement(described, calls[i].args, format, format)
	}
	err := p.Sync()
	for i := range calls {
		if err != nil {
			break
		}
		err = calls[i].read(p)
	}
	// Close reads the remaining answers, up to the end of the transaction.
	if end := p.Close(); err == nil {
		err = end
	}
	return err
}

func (c *conn) prepare(ctx context.Context, s statement) error {
	_, err := c.pooled.Conn().Prepare(ctx, s.name, s.sql)
	if err != nil {
		return fmt.Errorf("prepare %s: %w", s.name, err)
	}
	return nil
}

func (c *call) read(p *pgconn.Pipeline) error {
	results, err := p.GetResults()
	if err != nil {
		return fmt.Errorf("%s: %w", c.statement.name, err)
	}
	answer, ok := results.(*pgconn.ResultReader)
	if !ok {
		return fmt.Errorf("%s: the answer is a %T", c.statement.name, results)
	}
	var broken error
	for answer.NextRow() {
		if c.row == nil || broken != nil {
			continue
		}
		r := record{values: answer.Values()}
		c.row(&r)
		broken = r.err
	}
	tag, err := answer.Close()
	if c.changed != nil {
		*c.changed = tag.RowsAffected()
	}
	if err = errors.Join(err, broken); err != nil {
		return fmt.Errorf("%s: %w", c.statement.name, err)
	}
	return nil
}

// notSentError is a failure before a writing statement was sent.
type notSentError struct{ cause error }

func (e *notSentError) Error() string { return e.cause.Error() }
func (e *notSentError) Unwrap() error { return e.cause }
