package mysqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
)

// strictMode makes the server refuse a value that does not fit into its column, instead of cutting it.
const strictMode = "STRICT_ALL_TABLES"

// session are the settings of every connection. A statement that waits for a row lock ends after 5 s, and its transaction
// runs again.
var session = []string{
	"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
	"SET SESSION time_zone = '+00:00', sql_mode = '" + strictMode + ",ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION', " +
		"innodb_lock_wait_timeout = 5, autocommit = 1",
}

// The optimizers stop using ranges for long lists of shards at limits that differ. There are no such limits here.
var (
	sessionMySQL   = "SET SESSION range_optimizer_max_mem_size = 0"
	sessionMariaDB = "SET SESSION in_predicate_conversion_threshold = 0"
)

// connector opens connections with the settings of a session. After a failover an address may lead to a replica for a while. Its
// reads would be old: they could return claims that are no longer the newest, and timers that were deleted.
type connector struct {
	driver.Connector

	timeout     time.Duration
	credentials *credentials
}

// credentials are the user and password of new connections.
type credentials struct {
	user       atomic.Pointer[url.Userinfo] // nil: those of the URL
	generation atomic.Uint64                // grows with each change of user
}

// set makes connections with the earlier credentials invalid.
func (c *credentials) set(user *url.Userinfo) {
	c.user.Store(user)
	c.generation.Add(1)
}

func (c *credentials) apply(_ context.Context, config *mysql.Config) error {
	if user := c.user.Load(); user != nil {
		config.User = user.Username()
		config.Passwd, _ = user.Password()
	}
	return nil
}

// driverConn has the interfaces of the driver's connections that the pool uses. Pings are statements here.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.NamedValueChecker
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// authenticated is a connection that the pool closes, instead of keeping it, after the credentials have changed.
type authenticated struct {
	driverConn

	credentials *credentials
	generation  uint64
}

// IsValid implements driver.Validator. The pool calls it when a connection is returned.
func (c *authenticated) IsValid() bool {
	return c.generation == c.credentials.generation.Load() && c.driverConn.IsValid()
}

var errReplica = errors.New("the server is read-only (a replica, or read_only): connect to the primary")

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	// The driver's timeout is only for the dial: a server may accept the connection and not answer.
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	generation := c.credentials.generation.Load() // before the credentials are read
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, connectError(ctx, err)
	}
	conn, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connection %T lacks an interface", opened), opened.Close())
	}
	if err := prepare(ctx, conn); err != nil {
		return nil, errors.Join(connectError(ctx, err), conn.Close())
	}
	return &authenticated{driverConn: conn, credentials: c.credentials, generation: generation}, nil
}

// connectError names the timeout if it has ended a connection attempt: the driver's error may be that the connection is closed.
func connectError(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w", ended, err)
	}
	return err
}

func prepare(ctx context.Context, conn driverConn) error {
	for _, statement := range session {
		if _, err := conn.ExecContext(ctx, statement, nil); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, sessionMySQL, nil)
	if number(err) == unknownVariable {
		_, err = conn.ExecContext(ctx, sessionMariaDB, nil)
	}
	if err != nil {
		return err
	}
	rows, err := conn.QueryContext(ctx, "SELECT 1 WHERE @@read_only IN ('0', 'OFF')", nil)
	if err != nil {
		return err
	}
	err = rows.Next(make([]driver.Value, 1))
	if errors.Is(err, io.EOF) {
		err = errReplica
	}
	return errors.Join(err, rows.Close())
}

// pool opens no connection before it is used.
func (c *config) pool(most int) (*sql.DB, error) {
	if err := c.driver.Apply(mysql.BeforeConnect(c.credentials.apply)); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	inner, err := mysql.NewConnector(c.driver)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	db := sql.OpenDB(connector{Connector: inner, timeout: c.ConnectTimeout, credentials: &c.credentials})
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db, nil
}

// conn is one connection during a call.
type conn struct {
	sql      *sql.Conn
	policies engine.Policies
}

func (c *conn) exec(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := c.sql.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// each calls read for every row. read may return relational.ErrStop to end early.
func (c *conn) each(ctx context.Context, read func(*sql.Rows) error, query string, args ...any) error {
	rows, err := c.sql.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			if errors.Is(err, relational.ErrStop) {
				return nil
			}
			return err
		}
	}
	return rows.Err()
}

// maxRows bounds the rows of one statement. Longer lists are sent in several statements.
const maxRows = 500

// repeat returns text n times, separated by commas.
func repeat(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }

// list is a table of parameters in a statement: n rows with these columns, which the statement calls k.
func list(n int, columns ...string) string {
	first := make([]string, len(columns))
	for i, column := range columns {
		first[i] = "? AS " + column
	}
	return "(SELECT " + strings.Join(first, ", ") + strings.Repeat(" UNION ALL SELECT "+repeat("?", len(columns)), n-1) + ") k"
}

// union runs a query in parentheses for each of n items, several in one statement. Its first parameter is the place of the item,
// args returns the other parameters of a part.
func (c *conn) union(ctx context.Context, query string, n int, args func(place int) []any, read func(*sql.Rows) error) error {
	for from := 0; from < n; from += unionParts {
		parts := min(unionParts, n-from)
		var values []any
		for place := from; place < from+parts; place++ {
			values = append(append(values, place), args(place)...)
		}
		if err := c.each(ctx, read, query+strings.Repeat(" UNION ALL "+query, parts-1), values...); err != nil {
			return err
		}
	}
	return nil
}

// unionParts is the number of queries in one statement. Planning makes longer statements slower for each part.
const unionParts = 40
