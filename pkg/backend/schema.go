package backend

import (
	"context"
	"errors"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/store/postgresstore"
)

// Schema tells how a database's schema stands to this program.
type Schema struct {
	// Version is the database's, 0 if it has none; Known is the newest that this program knows.
	Version, Known int64
	// Unusable says why this program cannot work with it; nil if it can.
	Unusable error
}

// ErrNoMigrations says that a store needs none: it brings its schema up to date when it is opened, or has none.
var ErrNoMigrations = errors.New("the store has no migrations of its own to run")

// SchemaOf reads how the schema stands, and changes nothing.
func SchemaOf(ctx context.Context, storeURL string, logger *slog.Logger) (Schema, error) {
	if err := migratable(storeURL); err != nil {
		return Schema{}, err
	}
	s, err := postgresstore.Status(ctx, postgresstore.Options{URL: storeURL, Logger: logger})
	return schemaOf(&s), err
}

// Migrate brings the schema up to the newest version that this program knows.
func Migrate(ctx context.Context, storeURL string, logger *slog.Logger) (before, after Schema, err error) {
	if err := migratable(storeURL); err != nil {
		return Schema{}, Schema{}, err
	}
	was, is, err := postgresstore.Migrate(ctx, postgresstore.Options{URL: storeURL, Logger: logger})
	return schemaOf(&was), schemaOf(&is), err
}

func migratable(storeURL string) error {
	switch name, _ := scheme(storeURL); name {
	case "postgres", "postgresql":
		return nil
	case "sqlite", "memory":
		return ErrNoMigrations
	default:
		return notAccepted("store", storeURL, acceptedStores)
	}
}

func schemaOf(s *postgresstore.Schema) Schema {
	return Schema{Version: s.Version, Known: s.Known, Unusable: s.Usable()}
}
