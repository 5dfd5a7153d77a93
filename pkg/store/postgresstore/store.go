package postgresstore

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/internal/store/engine"
	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Store is the engine: one handle on a database. It is safe for concurrent use.
type Store struct {
	*core

	pool *pgxpool.Pool
	// beside is for reads outside a transaction's snapshot; see transaction.outside.
	beside *pgxpool.Pool
	// long is for lists and counts, which read many rows. They wait for each other and never use a connection of the
	// calls on which timers wait.
	long *pgxpool.Pool
	// clock is one connection for reading the server's clock, so that Time does not wait for other calls.
	clock *pgxpool.Pool
	log   *slog.Logger
	// credentials replace those of the URL for new connections; nil until SetCredentials.
	credentials atomic.Pointer[url.Userinfo]
	// maxCounted is the default. Tests change it.
	maxCounted int

	housekeeping housekeeping

	// full is set if a write has failed because the disk is full, and findRoom has not succeeded since.
	full atomic.Bool
	// borrowed: the user cannot create and drop partitions of history.
	borrowed bool

	calls engine.Calls
}

var (
	_ store.Store           = (*Store)(nil)
	_ store.Positions       = (*Store)(nil)
	_ store.Census          = (*Store)(nil)
	_ store.DeclaredFilters = (*Store)(nil)
	_ store.Credentials     = (*Store)(nil)
)

// Open connects to a database whose schema this program supports, and checks that timers are safe there. Its errors are
// one line for operators: they name the server and the problem. Migrate creates the schema.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := checkRole(o.Role); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	config, err := o.pool()
	if err != nil {
		return nil, err
	}
	onlyPrimary(config)
	where := target(config)
	s := &Store{log: o.logger(), maxCounted: maxCounted}
	config.BeforeConnect = s.authenticate
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open store %s: %w", where, err)
	}
	s.core = relational.New(database{s}, statements, cursors)
	if s.beside, err = pgxpool.NewWithConfig(ctx, laterOf(config, max(1, config.MaxConns/4))); err == nil {
		s.long, err = pgxpool.NewWithConfig(ctx, laterOf(config, maxLong))
	}
	if err == nil {
		s.clock, err = pgxpool.NewWithConfig(ctx, laterOf(config, 1))
	}
	if err != nil {
		s.closePools()
		return nil, fmt.Errorf("open store %s: %w", where, err)
	}
	if err := s.check(ctx, o.AllowUnsafe, o.Role); err != nil {
		s.closePools()
		return nil, refused(where, err)
	}
	s.makeDays(ctx)
	return s, nil
}

// maxLong bounds the concurrent lists and counts of this process.
const maxLong = 2

// laterOf returns the configuration of a pool that opens its connections when they are first needed.
func laterOf(config *pgxpool.Config, most int32) *pgxpool.Config {
	later := config.Copy()
	later.MinConns, later.MinIdleConns, later.MaxConns = 0, 0, most
	return later
}

func (s *Store) pools() []*pgxpool.Pool { return []*pgxpool.Pool{s.pool, s.beside, s.long, s.clock} }

func (s *Store) closePools() {
	for _, pool := range s.pools() {
		if pool != nil {
			pool.Close()
		}
	}
}

// SetCredentials implements store.Credentials.
func (s *Store) SetCredentials(user *url.Userinfo) {
	s.credentials.Store(user)
	for _, pool := range s.pools() {
		pool.Reset() // also ends connections that are being opened with the earlier credentials
	}
}

func (s *Store) authenticate(_ context.Context, config *pgx.ConnConfig) error {
	if user := s.credentials.Load(); user != nil {
		config.User = user.Username()
		config.Password, _ = user.Password()
	}
	return nil
}

// pool returns the pool's configuration. It also sets the options that the URL has for this engine.
func (o *Options) pool() (*pgxpool.Config, error) {
	given := *o
	all, err := o.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	config, err := pgxpool.ParseConfig(o.URL)
	if err != nil {
		return nil, badURL(err)
	}
	if text, said := config.ConnConfig.RuntimeParams[unsafeParameter]; said {
		delete(config.ConnConfig.RuntimeParams, unsafeParameter)
		allowed, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("open store: %w", timer.Invalid(unsafeParameter, text, "true or false"))
		}
		o.AllowUnsafe = o.AllowUnsafe || allowed
	}
	// ParseConfig has applied the URL's settings of the pool. Options override them.
	if given.MaxConns != 0 || !strings.Contains(o.URL, "pool_max_conns") {
		config.MaxConns = int32(all.MaxConns)
	}
	if given.MinConns != 0 || !strings.Contains(o.URL, "pool_min_conns") {
		config.MinConns = min(int32(all.MinConns), config.MaxConns)
	}
	if given.ConnectTimeout != 0 || !strings.Contains(o.URL, "connect_timeout") {
		config.ConnConfig.ConnectTimeout = all.ConnectTimeout
	}
	for name, value := range settings() {
		// Settings from the URL override those of the engine.
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	if _, given := config.ConnConfig.RuntimeParams[deadClientParameter]; !given {
		config.AfterConnect = endWithClient(config.ConnConfig.ConnectTimeout)
	}
	// The pool replaces lost connections at this interval, up to MinConns.
	config.HealthCheckPeriod = 10 * time.Second
	return config, nil
}

const deadClientParameter = "client_connection_check_interval"

// endWithClient makes the server cancel a statement within a second after its client process has died. Without it, the
// create of a killed process may wait for a lock, and be applied after a later delete by another process. If the client's
// machine is lost, lock_timeout ends the wait. Servers on platforms that cannot check their clients refuse the setting;
// they keep the default.
func endWithClient(timeout time.Duration) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, c *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		_, err := c.Exec(ctx, "SET "+deadClientParameter+" = '1s'")
		if code(err) == invalidParameter {
			return nil
		}
		return err
	}
}

func (o *Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger.With("component", "postgresstore")
}

// Close implements store.Cluster. Closing again does nothing.
func (s *Store) Close() error {
	return s.calls.Close(func() error {
		s.closePools()
		return nil
	})
}

var (
	selectOne = statement{"one", "SELECT 1"}
	selectNow = statement{"now", "SELECT date_trunc('milliseconds', clock_timestamp())"}
)

// Ping implements store.Cluster.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.findRoom(ctx); err != nil {
		return err
	}
	return s.read(ctx, "ping", func(c *conn) error {
		return c.exchange(ctx, call{statement: selectOne})
	})
}

// Time implements store.Cluster.
func (s *Store) Time(ctx context.Context) (store.Instant, error) {
	now := store.Instant{Within: time.Millisecond}
	err := s.readFrom(ctx, s.clock, "time", func(c *conn) error {
		return c.exchange(ctx, call{statement: selectNow, row: func(r *record) { now.At, _ = r.instant() }})
	})
	return now, err
}

var (
	// fillRoom writes about as many bytes as a large timer.
	fillRoom  = statement{"fill_room", "INSERT INTO room SELECT string_agg(md5(i::text), '') FROM generate_series(1, 4096) i"}
	emptyRoom = statement{"empty_room", "DELETE FROM room"}
)

// findRoom checks whether the server has disk space again after a write has failed because the disk was full. It writes
// a large row and deletes it again. The commit of a small write does not show that there is space, because it may fit
// where a timer does not.
func (s *Store) findRoom(ctx context.Context) error {
	if !s.full.Load() {
		return nil
	}
	err := s.write(ctx, "check disk space", latest, func(t *transaction) error {
		if err := t.exchange(ctx, call{statement: fillRoom}); err != nil {
			return err
		}
		return t.commit(ctx, call{statement: emptyRoom})
	})
	if err == nil {
		s.full.Store(false)
	}
	return err
}
