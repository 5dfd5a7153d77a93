// Package pgoutbox reads an outbox in PostgreSQL. The elected reader holds a session-level advisory lock, and listens for
// notifications of the table's trigger.
//
// It imports the contract and pgx. It never changes the schema, and writes to no row but those of the outbox tables.
//
// Read pgoutbox.go, then errors.go.
package pgoutbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/timerbus/timerbus/internal/outbox"
)

// connectTimeout bounds an attempt to connect, if the URL has no connect_timeout.
const connectTimeout = 5 * time.Second

// session are the settings of a connection. The server ends a connection whose process is away without a word, so that another
// process can become the elected reader: a reader that works uses its connection at least every second, except while it waits
// for the store.
const session = `SET lock_timeout = '5s';
SELECT set_config('idle_session_timeout', '60s', false) WHERE current_setting('server_version_num')::integer >= 140000;
SET idle_in_transaction_session_timeout = '30s';
SET tcp_keepalives_idle = 10;
SET tcp_keepalives_interval = 5;
SET tcp_keepalives_count = 3;
LISTEN timerbus_outbox`

// Outbox is the outbox of one database.
type Outbox struct{ config *pgx.ConnConfig }

// New parses a URL as of pgx. It does not connect.
func New(url string) (*Outbox, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		// pgx's message hides the password.
		return nil, fmt.Errorf("the address cannot be read, want postgres://USER:PASSWORD@HOST:PORT/DATABASE: %s",
			strings.Join(strings.Fields(err.Error()), " "))
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "timerbus outbox"
	}
	return &Outbox{config: config}, nil
}

// Connect implements outbox.Outbox.
func (o *Outbox) Connect(ctx context.Context) (outbox.Reader, error) {
	r := &reader{}
	config := o.config.Copy()
	config.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) { r.notified = true }
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, describe("connect", err)
	}
	r.conn = conn
	if _, err := conn.PgConn().Exec(ctx, session).ReadAll(); err != nil {
		r.Close()
		return nil, describe("prepare connection", err)
	}
	return r, nil
}

type reader struct {
	conn *pgx.Conn
	// notified: rows may have been inserted since the last Wait.
	notified bool
}

// Elect implements outbox.Reader.
func (r *reader) Elect(ctx context.Context) (elected bool, err error) {
	err = r.conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtextextended('timerbus_outbox/' || outbox_id, 0))
FROM timerbus_outbox_reader`).Scan(&elected)
	return elected, describe("elect a reader", err)
}

// Oldest implements outbox.Reader.
func (r *reader) Oldest(ctx context.Context) (age time.Duration, found bool, err error) {
	var seconds *float64
	err = r.conn.QueryRow(ctx, `SELECT CASE WHEN isfinite(created_at)
	THEN extract(epoch FROM clock_timestamp() - created_at)::double precision END
FROM timerbus_outbox ORDER BY id LIMIT 1`).Scan(&seconds)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, false, nil
	case err != nil:
		return 0, false, describe("read the oldest row", err)
	case seconds == nil:
		return 0, true, nil
	}
	return outbox.Age(*seconds), true, nil
}

// Pending implements outbox.Reader.
func (r *reader) Pending(ctx context.Context) (outbox.Batch, error) {
	b, err := pending(ctx, r.conn, "")
	return b, describe("read the recorded batch", err)
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

func pending(ctx context.Context, q querier, suffix string) (b outbox.Batch, err error) {
	var ids string
	err = q.QueryRow(ctx, "SELECT outbox_id::text, batch, row_ids FROM timerbus_outbox_reader"+suffix).Scan(&b.Outbox, &b.Number, &ids)
	if err == nil {
		err = json.Unmarshal([]byte(ids), &b.IDs)
	}
	return b, err
}

// Advance implements outbox.Reader.
func (r *reader) Advance(ctx context.Context, done outbox.Batch, next outbox.Next) (recorded outbox.Batch, err error) {
	err = pgx.BeginTxFunc(ctx, r.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, func(tx pgx.Tx) error {
		if recorded, err = pending(ctx, tx, " FOR UPDATE"); err != nil || recorded.Number != done.Number {
			return err
		}
		if len(done.IDs) > 0 {
			if _, err := tx.Exec(ctx, "DELETE FROM timerbus_outbox WHERE id = ANY($1)", done.IDs); err != nil {
				return err
			}
		}
		recorded.IDs = nil
		if next.Rows > 0 {
			if recorded.IDs, err = choose(ctx, tx, &next); err != nil {
				return err
			}
		}
		if len(recorded.IDs) > 0 {
			recorded.Number = next.Number
		}
		ids, err := json.Marshal(recorded.IDs)
		if err != nil {
			return err
		}
		if recorded.IDs == nil {
			ids = []byte("[]")
		}
		_, err = tx.Exec(ctx, "UPDATE timerbus_outbox_reader SET batch = $1, row_ids = $2", recorded.Number, string(ids))
		return err
	})
	if err != nil {
		return outbox.Batch{}, describe("remove applied rows and record the next batch", err)
	}
	return recorded, nil
}

func choose(ctx context.Context, tx pgx.Tx, next *outbox.Next) ([]int64, error) {
	rows, err := tx.Query(ctx, "SELECT id, octet_length(body::text) FROM timerbus_outbox ORDER BY id LIMIT $1", next.Rows)
	if err != nil {
		return nil, err
	}
	var ids []int64
	var sizes []int
	var id int64
	var size int
	_, err = pgx.ForEachRow(rows, []any{&id, &size}, func() error {
		ids, sizes = append(ids, id), append(sizes, size)
		return nil
	})
	return ids[:next.Choose(sizes)], err
}

// Rows implements outbox.Reader.
func (r *reader) Rows(ctx context.Context, b outbox.Batch, bodyLimit int) ([]outbox.Row, error) {
	// A time that is too far away for a time.Time is as good as none.
	rows, err := r.conn.Query(ctx, `SELECT id, verb, left(body::text, $2), coalesce(left(traceparent, 1000), ''),
	CASE WHEN created_at BETWEEN '0001-01-01Z' AND '9999-12-31Z' THEN floor(extract(epoch FROM created_at) * 1000)::bigint END
FROM timerbus_outbox WHERE id = ANY($1) ORDER BY id`, b.IDs, bodyLimit+1)
	if err != nil {
		return nil, describe("read rows", err)
	}
	var list []outbox.Row
	var row outbox.Row
	var body string
	var at *int64
	_, err = pgx.ForEachRow(rows, []any{&row.ID, &row.Verb, &body, &row.Traceparent, &at}, func() error {
		row.Body, row.CreatedAt = []byte(body), time.Time{}
		if at != nil {
			row.CreatedAt = time.UnixMilli(*at)
		}
		list = append(list, row)
		return nil
	})
	return list, describe("read rows", err)
}

// Wait implements outbox.Reader.
func (r *reader) Wait(ctx context.Context, most time.Duration) error {
	if !r.notified {
		limit, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		// After a timeout the connection is still usable.
		err := r.conn.PgConn().WaitForNotification(limit)
		if err != nil && limit.Err() == nil {
			return describe("wait for rows", err)
		}
	}
	r.notified = false
	return nil
}

// closeTimeout bounds the orderly end of a connection.
const closeTimeout = time.Second

// Close implements outbox.Reader.
func (r *reader) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = r.conn.Close(ctx) // the server notices the end in any case
}
