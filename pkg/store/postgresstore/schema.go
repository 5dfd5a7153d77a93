package postgresstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

//go:embed migrations/*.sql
var embedded embed.FS

const (
	// migrationsTable is the table in which goose records migrations.
	migrationsTable = "timerbus_migrations"
	// migrationsLock is the advisory lock that ensures that only one process migrates at a time: "TMBS".
	migrationsLock = 0x544D4253

	// A migration that does not get its locks within lock_timeout fails, so that waiting transactions continue, and
	// runs again after migratePause, migrateTries times.
	migrateTries = 20
	migratePause = time.Second
	// migrateWait is how many seconds a migration waits for one of another process. It checks every second.
	migrateWait = 300
)

// Status reads the state of the schema. It changes nothing.
func Status(ctx context.Context, o Options) (store.Schema, error) {
	config, err := o.pool()
	if err != nil {
		return store.Schema{}, err
	}
	config.MinConns, config.MaxConns = 0, 2
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return store.Schema{}, refused(target(config), err)
	}
	defer pool.Close()
	s := &Store{pool: pool, log: o.logger()}
	schema, err := s.schema(ctx)
	if err != nil {
		return store.Schema{}, refused(target(config), err)
	}
	return schema, nil
}

// Migrate upgrades the schema to the newest version that this program supports, under an advisory lock, and returns its
// state before and after. It never downgrades, and does not change a newer schema.
func Migrate(ctx context.Context, o Options) (before, after store.Schema, err error) {
	before, err = Status(ctx, o)
	if err != nil {
		return before, before, err
	}
	if before.Version > before.Known {
		return before, before, before.Usable()
	}
	config, err := o.migrationPool()
	if err != nil {
		return before, before, err
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	defer func() { err = errors.Join(err, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(migrationsLock), lock.WithLockTimeout(1, migrateWait))
	if err != nil {
		return before, before, err
	}
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return before, before, err
	}
	migrations, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithTableName(migrationsTable), goose.WithSessionLocker(locker))
	if err != nil {
		return before, before, err
	}
	// While a migration waits for a lock, other transactions wait behind it, so several short waits are better than a
	// long one.
	_, err = migrations.Up(ctx)
	for try := 0; code(err) == lockNotAvailable && try < migrateTries && timer.Sleep(ctx, migratePause); try++ {
		_, err = migrations.Up(ctx)
	}
	if err != nil {
		err = refused(target(config), err)
		return before, before, fmt.Errorf("upgrade the schema from version %d to %d: %w", before.Version, before.Known, err)
	}
	after, err = Status(ctx, o)
	if err == nil && after.Version != before.Version {
		o.logger().InfoContext(ctx, "schema upgraded", "from", before.Version, "to", after.Version)
	}
	return before, after, err
}

// migrationPool returns the configuration of connections that change the schema. The engine's planner settings are not for them. They
// have no statement timeout, unless the URL sets one, even if the user's default is set.
func (o *Options) migrationPool() (*pgxpool.Config, error) {
	config, err := o.pool()
	if err != nil {
		return nil, err
	}
	onlyPrimary(config)
	params := config.ConnConfig.RuntimeParams
	if _, given := params["statement_timeout"]; !given {
		params["statement_timeout"] = "0"
	}
	for name, value := range settings() {
		if params[name] == value && name != "application_name" && name != "lock_timeout" {
			delete(params, name)
		}
	}
	return config, nil
}

// The tables are found by the search path, as in all other statements.
var (
	findSchema = statement{
		"find_schema",
		"SELECT current_schema() IS NOT NULL, " +
			"to_regclass('schema_support') IS NOT NULL AND to_regclass('" + migrationsTable + "') IS NOT NULL",
	}
	selectSchema  = statement{"select_schema", "SELECT coalesce(max(version_id), 0)::bigint FROM " + migrationsTable + " WHERE is_applied"}
	selectSupport = statement{"select_support", "SELECT oldest_schema, oldest_program FROM schema_support ORDER BY version DESC LIMIT 1"}
)

func (s *Store) schema(ctx context.Context) (store.Schema, error) {
	var schema store.Schema
	var err error
	if schema.Known, err = relational.NewestSchema(embedded); err != nil {
		return schema, err
	}
	var somewhere, there bool
	err = s.ask(ctx, call{statement: findSchema, row: func(r *record) { somewhere, there = r.bool(), r.bool() }})
	if err == nil && !somewhere {
		err = errNoSchema
	}
	if err != nil || !there {
		return schema, err
	}
	err = s.ask(ctx,
		call{statement: selectSchema, row: func(r *record) { schema.Version = r.int8() }},
		call{statement: selectSupport, row: func(r *record) { schema.Oldest, schema.OldestProgram = r.int8(), r.text() }})
	return schema, err
}
