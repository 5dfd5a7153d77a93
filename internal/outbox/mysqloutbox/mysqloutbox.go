// Package mysqloutbox reads an outbox in MySQL or MariaDB. The elected reader holds a lock of GET_LOCK. MySQL has no
// notifications, so it looks for rows every 200 ms.
//
// It imports the contract, pkg/timer and the driver. It never changes the schema, and writes only to the outbox tables.
//
// Read mysqloutbox.go, then config.go and errors.go.
package mysqloutbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/pkg/timer"
)

// pollEvery is how often Wait returns to look for rows.
const pollEvery = 200 * time.Millisecond

// session are the settings of a connection. The server ends a connection that is not used, so that the lock of a process that is
// away without a word is released: a reader that works uses its connection at least every second, except while it waits for the
// store. READ COMMITTED avoids locks of gaps, which would make the inserts of applications wait.
const session = "SET SESSION wait_timeout = 60, innodb_lock_wait_timeout = 5, time_zone = '+00:00', " +
	"transaction_isolation = 'READ-COMMITTED', autocommit = 1"

// sessionMariaDB is session for MariaDB before 11.1, which has another name for the isolation level.
var sessionMariaDB = strings.Replace(session, "transaction_isolation", "tx_isolation", 1)

// Outbox is the outbox of one database.
type Outbox struct{ db *sql.DB }

// New parses a URL: mysql://USER:PASSWORD@HOST:PORT/DATABASE, with the parameter tls of the store's URL. It does not connect.
func New(url string) (*Outbox, error) {
	db, err := open(url)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(0) // the end of a reader must end its connection, and with it its lock
	return &Outbox{db: db}, nil
}

// Connect implements outbox.Outbox.
func (o *Outbox) Connect(ctx context.Context) (outbox.Reader, error) {
	conn, err := o.db.Conn(ctx)
	if err != nil {
		return nil, describe("connect", err)
	}
	_, err = conn.ExecContext(ctx, session)
	if number(err) == unknownVariable {
		_, err = conn.ExecContext(ctx, sessionMariaDB)
	}
	if err != nil {
		_ = conn.Close()
		return nil, describe("prepare connection", err)
	}
	return &reader{conn: conn}, nil
}

type reader struct{ conn *sql.Conn }

// Elect implements outbox.Reader. The names of locks are of the whole server.
func (r *reader) Elect(ctx context.Context) (bool, error) {
	var elected sql.NullBool
	err := r.conn.QueryRowContext(ctx,
		"SELECT GET_LOCK(CONCAT('timerbus_outbox/', outbox_id), 0) FROM timerbus_outbox_reader").Scan(&elected)
	return elected.Bool, describe("elect a reader", err)
}

// Oldest implements outbox.Reader.
func (r *reader) Oldest(ctx context.Context) (age time.Duration, found bool, err error) {
	var microseconds sql.NullInt64
	err = r.conn.QueryRowContext(ctx, `SELECT TIMESTAMPDIFF(MICROSECOND, created_at, UTC_TIMESTAMP(3))
FROM timerbus_outbox ORDER BY id LIMIT 1`).Scan(&microseconds)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, false, nil
	case err != nil:
		return 0, false, describe("read the oldest row", err)
	}
	return outbox.Age(float64(microseconds.Int64) / 1e6), true, nil
}

// Pending implements outbox.Reader.
func (r *reader) Pending(ctx context.Context) (outbox.Batch, error) {
	b, err := pending(ctx, r.conn, "")
	return b, describe("read the recorded batch", err)
}

// querier is a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func pending(ctx context.Context, q querier, suffix string) (b outbox.Batch, err error) {
	var ids []byte
	err = q.QueryRowContext(ctx, "SELECT outbox_id, batch, row_ids FROM timerbus_outbox_reader"+suffix).Scan(&b.Outbox, &b.Number, &ids)
	if err == nil {
		err = json.Unmarshal(ids, &b.IDs)
	}
	return b, err
}

// Advance implements outbox.Reader.
func (r *reader) Advance(ctx context.Context, done outbox.Batch, next outbox.Next) (outbox.Batch, error) {
	recorded, err := r.advance(ctx, done, next)
	if err != nil {
		return outbox.Batch{}, describe("remove applied rows and record the next batch", err)
	}
	return recorded, nil
}

func (r *reader) advance(ctx context.Context, done outbox.Batch, next outbox.Next) (recorded outbox.Batch, err error) {
	tx, err := r.conn.BeginTx(ctx, nil)
	if err != nil {
		return recorded, err
	}
	defer tx.Rollback()
	if recorded, err = pending(ctx, tx, " FOR UPDATE"); err != nil || recorded.Number != done.Number {
		return recorded, err
	}
	if len(done.IDs) > 0 {
		in, args := list(done.IDs)
		_, err := tx.ExecContext(ctx, "DELETE FROM timerbus_outbox WHERE id IN "+in, args...) //nolint:gosec // a list of placeholders
		if err != nil {
			return recorded, err
		}
	}
	recorded.IDs = nil
	if next.Rows > 0 {
		if recorded.IDs, err = choose(ctx, tx, &next); err != nil {
			return recorded, err
		}
	}
	ids := []byte("[]")
	if len(recorded.IDs) > 0 {
		recorded.Number = next.Number
		if ids, err = json.Marshal(recorded.IDs); err != nil {
			return recorded, err
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE timerbus_outbox_reader SET batch = ?, row_ids = ?", recorded.Number, string(ids)); err != nil {
		return recorded, err
	}
	return recorded, tx.Commit()
}

func choose(ctx context.Context, tx *sql.Tx, next *outbox.Next) ([]int64, error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, OCTET_LENGTH(body) FROM timerbus_outbox ORDER BY id LIMIT ?", next.Rows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []int64
	var sizes []int
	for rows.Next() {
		var id int64
		var size int
		if err := rows.Scan(&id, &size); err != nil {
			return nil, err
		}
		ids, sizes = append(ids, id), append(sizes, size)
	}
	return ids[:next.Choose(sizes)], rows.Err()
}

// list returns a list of parameters in parentheses.
func list(ids []int64) (in string, args []any) {
	for _, id := range ids {
		args = append(args, id)
	}
	return "(?" + strings.Repeat(", ?", len(ids)-1) + ")", args
}

// Rows implements outbox.Reader.
func (r *reader) Rows(ctx context.Context, b outbox.Batch, bodyLimit int) ([]outbox.Row, error) {
	if len(b.IDs) == 0 {
		return nil, nil
	}
	in, args := list(b.IDs)
	// A date that MySQL accepts but that does not exist, such as the zero date, has no TIMESTAMPDIFF.
	//nolint:gosec // a list of placeholders
	query := `SELECT id, verb, LEFT(body, ?), COALESCE(traceparent, ''),
	TIMESTAMPDIFF(MICROSECOND, '1970-01-01', created_at) DIV 1000
FROM timerbus_outbox WHERE id IN ` + in + " ORDER BY id"
	rows, err := r.conn.QueryContext(ctx, query, append([]any{bodyLimit + 1}, args...)...)
	if err != nil {
		return nil, describe("read rows", err)
	}
	defer rows.Close()
	var found []outbox.Row
	for rows.Next() {
		var row outbox.Row
		var at sql.NullInt64
		if err := rows.Scan(&row.ID, &row.Verb, &row.Body, &row.Traceparent, &at); err != nil {
			return nil, describe("read rows", err)
		}
		if at.Valid {
			row.CreatedAt = time.UnixMilli(at.Int64)
		}
		found = append(found, row)
	}
	return found, describe("read rows", rows.Err())
}

// Wait implements outbox.Reader.
func (r *reader) Wait(ctx context.Context, most time.Duration) error {
	timer.Sleep(ctx, min(most, pollEvery))
	return nil
}

// Close implements outbox.Reader. The pool keeps no connections, so the connection ends.
func (r *reader) Close() { _ = r.conn.Close() }
