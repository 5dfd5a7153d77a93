package postgresstore

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/internal/relational"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Store is the engine: one handle on a database. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
	// beside is for looks from outside of a transaction's snapshot; see transaction.outside.
	beside *pgxpool.Pool
	// long is for lists and counts, which read many rows: they wait for each other, and never keep a connection from
	// what timers wait for.
	long *pgxpool.Pool
	// clock is one connection for reading the server's clock, so that this waits for no other call.
	clock *pgxpool.Pool
	log   *slog.Logger
	// listLimits and maxCounted are the defaults, except in tests.
	listLimits relational.ListLimits
	maxCounted int

	housekeeping housekeeping

	// full: a write has failed for lack of room, and findRoom has found none since.
	full atomic.Bool

	// calls is held for reading by every running call, and taken for writing by Close.
	calls  sync.RWMutex
	closed bool
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Positions = (*Store)(nil)
	_ store.Census    = (*Store)(nil)
)

// Open connects to a database whose schema this program knows, and checks that timers are safe there. Its
// errors are one line for people: they name the server and what is wrong. Migrate makes the schema.
func Open(ctx context.Context, o Options) (*Store, error) {
	config, err := o.pool()
	if err != nil {
		return nil, err
	}
	onlyPrimary(config)
	where := target(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", where, err)
	}
	s := &Store{pool: pool, log: o.logger(), listLimits: relational.DefaultListLimits(), maxCounted: maxCounted}
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
	if err := s.check(ctx, o.AllowUnsafe); err != nil {
		s.closePools()
		return nil, refused(where, err)
	}
	s.makeDays(ctx)
	return s, nil
}

// maxLong is how many lists and counts of this process the server works on together.
const maxLong = 2

// laterOf makes the configuration of a pool whose connections are made when they are first needed.
func laterOf(config *pgxpool.Config, most int32) *pgxpool.Config {
	later := config.Copy()
	later.MinConns, later.MinIdleConns, later.MaxConns = 0, 0, most
	return later
}

func (s *Store) closePools() {
	for _, pool := range []*pgxpool.Pool{s.pool, s.beside, s.long, s.clock} {
		if pool != nil {
			pool.Close()
		}
	}
}

// pool makes the pool's configuration, and notes what the URL says to this engine.
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
	// ParseConfig has taken what the URL says of the pool; options that were given go before it.
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
		// What the URL sets, somebody meant.
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	// Connections that were lost are made anew within this time, up to MinConns.
	config.HealthCheckPeriod = 10 * time.Second
	return config, nil
}

func (o *Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger.With("component", "postgresstore")
}

// enter begins a call.
func (s *Store) enter(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	s.calls.RLock()
	if s.closed {
		s.calls.RUnlock()
		return fmt.Errorf("%s: %w", op, store.ErrClosed)
	}
	return nil
}

func (s *Store) leave() { s.calls.RUnlock() }

// Close implements store.Cluster. Closing again does nothing.
func (s *Store) Close() error {
	s.calls.Lock()
	defer s.calls.Unlock()
	if !s.closed {
		s.closed = true
		s.closePools()
	}
	return nil
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
	// fillRoom writes about as much as a large timer.
	fillRoom  = statement{"fill_room", "INSERT INTO room SELECT string_agg(md5(i::text), '') FROM generate_series(1, 4096) i"}
	emptyRoom = statement{"empty_room", "DELETE FROM room"}
)

// findRoom reports, after a write has failed for lack of room, whether the server has room again: it tries. The
// commit of a small write proves nothing, because it may fit where a timer does not.
func (s *Store) findRoom(ctx context.Context) error {
	if !s.full.Load() {
		return nil
	}
	err := s.write(ctx, "look for room", latest, func(t *transaction) error {
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
