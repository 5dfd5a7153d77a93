package sqlitestore

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/pressly/goose/v3"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var embedded embed.FS

// applicationID identifies a SQLite file as one of Timerbus. The first migration sets it.
const applicationID = 0x544D4253

// migrate upgrades the schema to the newest version. It refuses files of other programs and schemas that are newer than
// this program.
func migrate(ctx context.Context, path string, cacheMiB int, log *slog.Logger) (err error) {
	db, err := openDB(path, cacheMiB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkOurs(ctx, db); err != nil {
		return err
	}
	files, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return err
	}
	migrations, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	has, knows, err := migrations.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	if has > knows {
		return fmt.Errorf("its schema is version %d, and this program supports versions up to %d: use a newer timerbus, or restore a copy",
			has, knows)
	}
	if has == knows {
		return nil
	}
	if _, err := migrations.Up(ctx); err != nil {
		return fmt.Errorf("upgrade the schema from version %d to %d: %w", has, knows, err)
	}
	log.Info("schema upgraded", "from", has, "to", knows)
	return nil
}

// checkOurs returns an error if the file is damaged or belongs to another program. It reads the first page; an empty
// file has none.
func checkOurs(ctx context.Context, db *sql.DB) error {
	var id, tables int
	err := db.QueryRowContext(ctx, "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id").
		Scan(&id, &tables)
	switch {
	case primary(err) == sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("it is not a SQLite database, or it is damaged: restore a copy: %w", err)
	case primary(err) == sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("it is damaged: restore a copy: %w", err)
	case err != nil:
		return err
	case id != applicationID && (id != 0 || tables != 0):
		return fmt.Errorf("it is a SQLite database of another program (application id %#x)", id)
	}
	return nil
}
