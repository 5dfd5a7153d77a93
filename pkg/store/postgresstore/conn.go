package postgresstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/store/internal/relational"
)

// statement is prepared on each connection when it first runs there.
type statement struct{ name, sql string }

// call is one statement of an exchange, and what becomes of its answer.
type call struct {
	statement statement
	// args are the parameters in binary format.
	args [][]byte
	// row is called for each row of the answer; nil if there are none.
	row func(r *record)
	// changed, if given, gets the number of rows that the statement wrote.
	changed *int64
}

// named is a statement whose parameters are written @name.
type named struct {
	statement

	numbered relational.Named
}

func name(statementName, sql string) named {
	n := relational.Name(sql, "$")
	return named{statement{statementName, n.SQL}, n}
}

// call picks the values that the statement asks for.
func (n *named) call(values map[string][]byte, row func(r *record)) call {
	return call{statement: n.statement, args: relational.Pick(&n.numbered, values), row: row}
}

// settings are those of every connection. All statements here are nested loops over indexes, whatever the
// tables hold at the moment, so the planner is spared the other ways: it knows nothing of the length of an
// array, and tables that grow from nothing to millions of rows within a minute are not analysed in time. A
// generic plan saves planning 32 partitions for each batch; which of them it needs is found out when it
// runs.
func settings() map[string]string {
	return map[string]string{
		"application_name":              "timerbus",
		"default_transaction_isolation": "read committed",
		"plan_cache_mode":               "force_generic_plan",
		"enable_hashjoin":               "off",
		"enable_mergejoin":              "off",
		"enable_seqscan":                "off",
		"enable_incremental_sort":       "off",
		"enable_material":               "off",
		"enable_bitmapscan":             "off",
		"jit":                           "off",
		"timezone":                      "UTC",
		// What a process that froze has left open must not hold others up for ever.
		"idle_in_transaction_session_timeout": "10s",
		// Nor may a lock that somebody holds for long hold up a call beyond its turn: it fails and is tried anew.
		"lock_timeout": "3s",
	}
}

// conn is a connection of the pool while a call has it.
type conn struct{ pooled *pgxpool.Conn }

// binaryFormat is said once for all columns and parameters.
func binaryFormat() []int16 { return []int16{pgx.BinaryFormatCode} }

// exchange sends all calls at once and reads their answers. Outside a transaction they are one by
// themselves. After an error the connection is good if the server told of it (pgconn.PgError), and is
// closed otherwise.
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
	// Close reads what is left, up to the end of the transaction.
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

// notSentError is a failure before anything that writes was sent.
type notSentError struct{ cause error }

func (e *notSentError) Error() string { return e.cause.Error() }
func (e *notSentError) Unwrap() error { return e.cause }
