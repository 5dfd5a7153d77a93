package mysqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Store is the engine: one handle on a database. It is safe for concurrent use.
type Store struct {
	*core

	main *sql.DB
	// long is for lists and counts, which read many rows. They wait for each other and never use a connection of the calls
	// on which timers wait.
	long *sql.DB
	// clock is one connection for reading the server's clock, so that Time does not wait for other calls.
	clock *sql.DB
	log   *slog.Logger
	// credentials are those of the three pools.
	credentials *credentials
	// maxPacket bounds the text of one statement, in bytes.
	maxPacket int

	// full is set if a write has failed because the disk is full, and findRoom has not succeeded since.
	full atomic.Bool

	calls engine.Calls
}

var (
	_ store.Store           = (*Store)(nil)
	_ store.Positions       = (*Store)(nil)
	_ store.Census          = (*Store)(nil)
	_ store.DeclaredFilters = (*Store)(nil)
	_ store.Credentials     = (*Store)(nil)
)

// maxLong bounds the concurrent lists and counts of this process.
const maxLong = 2

// errBadConn makes the pool close a connection.
var errBadConn = driver.ErrBadConn

// Open connects to a database whose schema this program supports, and checks that timers are safe there. Its errors are one
// line for operators: they name the server and the problem. Migrate creates the schema.
func Open(ctx context.Context, o Options) (*Store, error) {
	c, err := o.config()
	if err != nil {
		return nil, err
	}
	s, err := c.open()
	if err != nil {
		return nil, err
	}
	if err := s.check(ctx); err != nil {
		return nil, errors.Join(refused(c, err), s.closePools())
	}
	return s, nil
}

// open returns a store without connections.
func (c *config) open() (_ *Store, err error) {
	s := &Store{log: c.Logger, credentials: &c.credentials}
	s.core = relational.New(database{s}, statements, cursors)
	for pool, most := range map[**sql.DB]int{&s.main: c.MaxConns, &s.long: maxLong, &s.clock: 1} {
		if *pool, err = c.pool(most); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Store) closePools() error {
	return errors.Join(s.main.Close(), s.long.Close(), s.clock.Close())
}

// SetCredentials implements store.Credentials.
func (s *Store) SetCredentials(user *url.Userinfo) {
	s.credentials.set(user)
	for _, pool := range []*sql.DB{s.main, s.long, s.clock} {
		pool.SetMaxIdleConns(0) // closes the idle connections
		pool.SetMaxIdleConns(pool.Stats().MaxOpenConnections)
	}
}

// Close implements store.Cluster. Closing again does nothing.
func (s *Store) Close() error { return s.calls.Close(s.closePools) }

// Ping implements store.Cluster.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.findRoom(ctx); err != nil {
		return err
	}
	return s.read(ctx, "ping", func(c *conn) error {
		_, err := c.exec(ctx, "DO 1")
		return err
	})
}

// Time implements store.Cluster.
func (s *Store) Time(ctx context.Context) (store.Instant, error) {
	now := store.Instant{Within: time.Millisecond}
	err := s.readFrom(ctx, s.clock, "time", func(c *conn) error {
		return c.each(ctx, func(rows *sql.Rows) error { return rows.Scan((*int64)(&now.At)) },
			"SELECT CAST(UNIX_TIMESTAMP(SYSDATE(3)) * 1000 AS SIGNED)")
	})
	return now, err
}

// roomBytes is about the size of a large timer.
const roomBytes = timer.MaxPayload

// findRoom checks whether the server has disk space again after a write has failed because the disk was full. It writes a
// large row and deletes it again.
func (s *Store) findRoom(ctx context.Context) error {
	if !s.full.Load() {
		return nil
	}
	err := s.write(ctx, "check disk space", func(c *conn) error {
		if _, err := c.exec(ctx, "REPLACE INTO room VALUES (1, ?)", make([]byte, roomBytes)); err != nil {
			return err
		}
		_, err := c.exec(ctx, "DELETE FROM room")
		return err
	})
	if err == nil {
		s.full.Store(false)
	}
	return err
}

// refused returns an error of Open or Migrate: one line, with the server.
func refused(c *config, err error) error {
	if errors.Is(err, context.DeadlineExceeded) { // it accepts connections, or loses packets, and may answer later
		err = fmt.Errorf("the server does not answer: %w: %w", store.ErrUnavailable, err)
	}
	switch number(err) {
	case accessDenied, noRightsDatabase:
		err = fmt.Errorf("the server refuses user %q or its password, or its access to the database: %w", c.driver.User, err)
	case noDatabase:
		err = fmt.Errorf("the database does not exist: create it, then run `%s`: %w", store.MigrateCommand, err)
	case noTable:
		err = fmt.Errorf("the schema is not complete: run `%s`: %w", store.MigrateCommand, err)
	}
	return fmt.Errorf("open store %s: %w", c.where(), err)
}
