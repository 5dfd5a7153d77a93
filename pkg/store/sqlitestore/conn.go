package sqlitestore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
)

// pageSize is SQLite's default, in bytes.
const pageSize = 4096

// checkpointPages is the length of the write-ahead log, in pages, from which a commit also copies the log into the
// database file. At SQLite's default of 1,000, a busy writer does that all the time.
const checkpointPages = 4000

// busyTimeout is how long a statement waits for a lock of another program, such as the sqlite3 shell, in milliseconds.
const busyTimeout = "busy_timeout(5000)"

// conn is one connection with its prepared statements. Only one goroutine uses it at a time.
//
// Writes do not run under the caller's context, because interrupting a commit would make its outcome unknown. A read
// checks ctx before every statement and every row. Only an interruptible read also passes ctx to the driver, which then
// interrupts a statement before its first row, at the cost of a goroutine for each statement.
type conn struct {
	sql           *sql.Conn
	prepared      map[string]*sql.Stmt
	policies      engine.Policies
	ctx           context.Context //nolint:containedctx // that of the read that uses the connection.
	interruptible bool
}

// openDB returns a database handle with the settings of its connections. It opens no connection.
func openDB(path string, cacheMiB int, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	name := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs)}
	settings := url.Values{"_pragma": append([]string{
		busyTimeout,
		"journal_mode(wal)",
		"synchronous(full)", // every commit is on disk before it is answered
		"fullfsync(1)",      // on macOS, fsync alone does not reach the disk
		fmt.Sprintf("wal_autocheckpoint(%d)", checkpointPages),
		fmt.Sprintf("cache_size(%d)", -cacheMiB<<10),
		"mmap_size(0)", // with mmap, row checks take twice as long
		"temp_store(memory)",
		"trusted_schema(0)",
	}, pragmas...)}
	db, err := sql.Open("sqlite", name.String()+"?"+settings.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(0) // connections are kept by their owners, or closed
	return db, nil
}

func connect(ctx context.Context, db *sql.DB) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{sql: c, prepared: map[string]*sql.Stmt{}, ctx: context.Background()}, nil
}

// close closes the connection. An open transaction is rolled back.
func (c *conn) close() error {
	var errs []error
	for _, stmt := range c.prepared {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.sql.Close())...)
}

// discard closes a connection that has failed. Errors of the close are not reported, because the failure is already
// reported.
func (c *conn) discard() {
	if c != nil {
		_ = c.close()
	}
}

func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := c.prepared[query]; ok {
		return stmt, nil
	}
	stmt, err := c.sql.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", query, err)
	}
	c.prepared[query] = stmt
	return stmt, nil
}

// exec returns the number of rows changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	stmt, err := c.prepare(query) //nolint:sqlclosecheck // kept for later calls; conn.close closes it
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (c *conn) query(query string, args ...any) (*sql.Rows, error) {
	stmt, err := c.prepare(query) //nolint:sqlclosecheck // kept for later calls; conn.close closes it
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	if c.interruptible {
		ctx = c.ctx
	}
	return stmt.QueryContext(ctx, args...)
}

// each calls read for every row. read may return errStop to end early.
func (c *conn) each(read func(*sql.Rows) error, query string, args ...any) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	rows, err := c.query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if err := read(rows); err != nil {
			if errors.Is(err, errStop) {
				return nil
			}
			return err
		}
	}
	return rows.Err()
}

// one scans the first row, if there is one.
func (c *conn) one(query string, args []any, dest ...any) error {
	return c.each(func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		return errStop
	}, query, args...)
}

// errStop ends each early without an error.
var errStop = relational.ErrStop

// snapshot runs several statements on the same state of the database.
func (c *conn) snapshot(read func() error) error {
	if _, err := c.exec("BEGIN"); err != nil {
		return err
	}
	err := read()
	if _, end := c.exec("COMMIT"); end != nil {
		return errors.Join(err, end)
	}
	return err
}

// valuesSizes are the lengths of VALUES lists for which statements are prepared. Shorter lists are padded with NULLs,
// which match no row.
var valuesSizes = [...]int{1, 2, 4, 8, 16, 32, 64, 128, 256}

// valuesSize returns the length of the list for n items, and how many of the items it takes.
func valuesSize(n int) (size, take int) {
	for _, size := range valuesSizes {
		if n <= size {
			return size, n
		}
	}
	largest := valuesSizes[len(valuesSizes)-1]
	return largest, largest
}

// values returns "(?,?),(?,?)…" with the given numbers of rows and columns.
func values(rows, columns int) string {
	row := "(" + strings.TrimSuffix(strings.Repeat("?,", columns), ",") + ")"
	return strings.TrimSuffix(strings.Repeat(row+",", rows), ",")
}

// Columns that database/sql scans with less work than their Go types.
type (
	uuidColumn = relational.UUIDColumn
	intColumn  = relational.IntColumn
)

// orNull stores an empty text as NULL.
func orNull(text string) driver.Value {
	if text == "" {
		return nil
	}
	return text
}
