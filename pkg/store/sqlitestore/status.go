package sqlitestore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/pkg/store"
)

// Status reads the schema version of the database in a data folder, which a process may be using, and reports whether a
// process has the folder open. It changes nothing.
func Status(ctx context.Context, folder string) (schema store.Schema, inUse bool, err error) {
	path := filepath.Join(folder, databaseName)
	if _, err := os.Stat(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return store.Schema{}, false, fmt.Errorf("data folder %s holds no database: there is no %s in it", folder, databaseName)
		}
		return store.Schema{}, false, fmt.Errorf("data folder %s cannot be read: %w", folder, err)
	}
	lock, err := lockFile(filepath.Join(folder, lockName))
	switch {
	case errors.Is(err, errLocked):
		inUse = true
	case err != nil:
		return store.Schema{}, false, fmt.Errorf("data folder %s cannot be written to: %w", folder, err)
	default:
		if err := lock.Close(); err != nil {
			return store.Schema{}, false, err
		}
	}
	db, err := openDB(path, 1, "query_only(1)")
	if err != nil {
		return store.Schema{}, inUse, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := checkOurs(ctx, db); err != nil {
		return store.Schema{}, inUse, fmt.Errorf("open database %s: %w", path, err)
	}
	if schema.Known, err = relational.NewestSchema(embedded); err != nil {
		return store.Schema{}, inUse, err
	}
	if err := db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version").Scan(&schema.Version); err != nil {
		return store.Schema{}, inUse, fmt.Errorf("read the schema's version of %s: %w", path, err)
	}
	return schema, inUse, nil
}
