package mysqlstore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
)

//go:embed migrations/*.sql
var embedded embed.FS

const (
	// migrationsTable is the table in which goose records migrations.
	migrationsTable = "timerbus_migrations"
	// migrateWait is how long a migration waits for one of another process.
	migrateWait = 5 * time.Minute
)

// Status reads the state of the schema. It changes nothing.
func Status(ctx context.Context, o Options) (_ store.Schema, err error) {
	c, err := o.config()
	if err != nil {
		return store.Schema{}, err
	}
	db, err := c.pool(1)
	if err != nil {
		return store.Schema{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	schema, err := schemaOf(ctx, db)
	if err != nil {
		return store.Schema{}, refused(c, err)
	}
	return schema, nil
}

// Migrate upgrades the schema to the newest version that this program supports, under a lock of the server, and returns its
// state before and after. It never downgrades, and does not change a newer schema.
func Migrate(ctx context.Context, o Options) (before, after store.Schema, err error) {
	before, err = Status(ctx, o)
	if err != nil || before.Version > before.Known {
		if err == nil {
			err = before.Usable()
		}
		return before, before, err
	}
	c, err := o.config()
	if err != nil {
		return before, before, err
	}
	db, err := c.pool(2) // one has the lock
	if err != nil {
		return before, before, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err = migrate(ctx, db); err != nil {
		return before, before, fmt.Errorf("upgrade the schema from version %d to %d: %w", before.Version, before.Known, refused(c, err))
	}
	after, err = Status(ctx, o)
	if err == nil && after.Version != before.Version {
		c.Logger.InfoContext(ctx, "schema upgraded", "from", before.Version, "to", after.Version)
	}
	return before, after, err
}

func migrate(ctx context.Context, db *sql.DB) (err error) {
	locker, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, locker.Close()) }()
	var got sql.NullInt64
	const name = "concat('timerbus migrate ', database())" // at most 64 characters count
	if err := locker.QueryRowContext(ctx, "SELECT get_lock(left("+name+", 64), ?)", migrateWait.Seconds()).Scan(&got); err != nil {
		return err
	}
	if got.Int64 != 1 {
		return fmt.Errorf("another process has been upgrading the schema for %v", migrateWait)
	}
	defer func() {
		_, unlocked := locker.ExecContext(context.WithoutCancel(ctx), "DO release_lock(left("+name+", 64))")
		err = errors.Join(err, unlocked)
	}()
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return err
	}
	migrations, err := goose.NewProvider(goose.DialectMySQL, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithTableName(migrationsTable))
	if err != nil {
		return err
	}
	_, err = migrations.Up(ctx)
	return err
}

func schemaOf(ctx context.Context, db *sql.DB) (schema store.Schema, err error) {
	if schema.Known, err = relational.NewestSchema(embedded); err != nil {
		return schema, err
	}
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM "+migrationsTable+" WHERE is_applied").Scan(&schema.Version)
	if err == nil && schema.Version > 0 {
		err = db.QueryRowContext(ctx, "SELECT oldest_schema, oldest_program FROM schema_support ORDER BY version DESC LIMIT 1").
			Scan(&schema.Oldest, &schema.OldestProgram)
	}
	if number(err) == noTable {
		return schema, nil
	}
	return schema, err
}
