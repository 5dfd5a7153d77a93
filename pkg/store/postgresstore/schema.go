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
)

//go:embed migrations/*.sql
var embedded embed.FS

const (
	// migrationsTable is where goose notes what has run.
	migrationsTable = "timerbus_migrations"
	// migrationsLock is the advisory lock that lets one process migrate at a time: "TMBS".
	migrationsLock = 0x544D4253

	// A migration that does not get its locks within lock_timeout lets the others pass, and tries again.
	migrateTries = 20
	migratePause = time.Second
	// migrateWait is for how many seconds another process that migrates is waited for; each second it is asked.
	migrateWait = 300

	migrateCommand = "timerbus migrate up --store …"
)

// Schema tells how a database's schema stands to this program.
type Schema struct {
	// Version is the database's; 0 if it has none.
	Version int64
	// Known is the newest one that this program knows.
	Known int64
	// Oldest is the schema that the oldest program knew which can work with Version, and OldestProgram
	// that program's version. Zero if there is no schema.
	Oldest        int64
	OldestProgram string
}

// Usable says why this program cannot work with the schema, and what to do about it; nil if it can.
func (s Schema) Usable() error {
	switch {
	case s.Version == 0:
		return fmt.Errorf("there is no schema yet: run `%s`", migrateCommand)
	case s.Version < s.Known:
		return fmt.Errorf("the schema is version %d and this program needs %d: run `%s` with this program, then start it again",
			s.Version, s.Known, migrateCommand)
	case s.Version > s.Known && s.Known < s.Oldest:
		return fmt.Errorf("the schema is version %d, which this program (it knows up to %d) cannot work with: use timerbus %s or newer",
			s.Version, s.Known, s.OldestProgram)
	default:
		return nil
	}
}

// Status reads how the schema stands. It changes nothing.
func Status(ctx context.Context, o Options) (Schema, error) {
	config, err := o.pool()
	if err != nil {
		return Schema{}, err
	}
	config.MinConns, config.MaxConns = 0, 2
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return Schema{}, refused(target(config), err)
	}
	defer pool.Close()
	s := &Store{pool: pool, log: o.logger()}
	schema, err := s.schema(ctx)
	if err != nil {
		return Schema{}, refused(target(config), err)
	}
	return schema, nil
}

// Migrate brings the schema up to the newest version that this program knows, under an advisory lock, and
// returns how it stood before and stands now. It only goes forward, and leaves a newer schema alone.
func Migrate(ctx context.Context, o Options) (before, after Schema, err error) {
	before, err = Status(ctx, o)
	if err != nil {
		return before, before, err
	}
	if before.Version > before.Known {
		return before, before, before.Usable()
	}
	config, err := o.pool()
	if err != nil {
		return before, before, err
	}
	onlyPrimary(config)
	// What the engine asks of the planner is not meant for schema changes. They take the time they need, whatever is
	// set for the user's other statements.
	params := config.ConnConfig.RuntimeParams
	if _, given := params["statement_timeout"]; !given {
		params["statement_timeout"] = "0"
	}
	for name, value := range settings() {
		if params[name] == value && name != "application_name" && name != "lock_timeout" {
			delete(params, name)
		}
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
	// A change that waits for a lock makes everybody wait behind it: better several short waits than a long one.
	_, err = migrations.Up(ctx)
	for try := 0; code(err) == lockNotAvailable && try < migrateTries && pauseFor(ctx, migratePause); try++ {
		_, err = migrations.Up(ctx)
	}
	if err != nil {
		err = refused(target(config), err)
		return before, before, fmt.Errorf("bring the schema from version %d to %d: %w", before.Version, before.Known, err)
	}
	after, err = Status(ctx, o)
	if err == nil && after.Version != before.Version {
		o.logger().InfoContext(ctx, "schema brought up to date", "from", before.Version, "to", after.Version)
	}
	return before, after, err
}

// known is the newest version among the embedded migrations.
func known() (int64, error) {
	files, err := fs.Glob(embedded, "migrations/*.sql")
	if err != nil {
		return 0, err
	}
	newest := int64(0)
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}

// The tables are looked up along the search path, as all statements find them.
var (
	findSchema = statement{
		"find_schema",
		"SELECT current_schema() IS NOT NULL, " +
			"to_regclass('schema_support') IS NOT NULL AND to_regclass('" + migrationsTable + "') IS NOT NULL",
	}
	selectSchema  = statement{"select_schema", "SELECT coalesce(max(version_id), 0)::bigint FROM " + migrationsTable + " WHERE is_applied"}
	selectSupport = statement{"select_support", "SELECT oldest_schema, oldest_program FROM schema_support ORDER BY version DESC LIMIT 1"}
)

func (s *Store) schema(ctx context.Context) (Schema, error) {
	var schema Schema
	var err error
	if schema.Known, err = known(); err != nil {
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
