package backend

import (
	"context"
	"errors"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/store/dynamostore"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
)

// Schema compares the schema version of a database with the versions that this program supports.
type Schema struct {
	// Version is the version of the database, 0 if it has none. Known is the newest version that this program supports.
	Version, Known int64
	// Unusable is the reason why this program cannot use the database; nil if it can.
	Unusable error
}

// ErrNoMigrations reports that a store has no separate migrations: it updates its schema when it is opened, or has no
// schema.
var ErrNoMigrations = errors.New("the store has no separate migrations")

// SchemaOf reads the schema version. It changes nothing.
func SchemaOf(ctx context.Context, storeURL string, logger *slog.Logger) (Schema, error) {
	switch name, _ := scheme(storeURL); name {
	case "postgres", "postgresql":
		s, err := postgresstore.Status(ctx, postgresstore.Options{URL: storeURL, Logger: logger})
		return schemaOf(s.Version, s.Known, &s), err
	case "dynamodb":
		options, err := dynamoOptions(storeURL, logger)
		if err != nil {
			return Schema{}, err
		}
		s, err := dynamostore.Status(ctx, options)
		return schemaOf(s.Version, s.Known, &s), err
	default:
		return Schema{}, notMigratable(storeURL)
	}
}

// Migrate upgrades the schema to the newest version that this program supports.
func Migrate(ctx context.Context, storeURL string, logger *slog.Logger) (before, after Schema, err error) {
	switch name, _ := scheme(storeURL); name {
	case "postgres", "postgresql":
		was, is, err := postgresstore.Migrate(ctx, postgresstore.Options{URL: storeURL, Logger: logger})
		return schemaOf(was.Version, was.Known, &was), schemaOf(is.Version, is.Known, &is), err
	case "dynamodb":
		options, err := dynamoOptions(storeURL, logger)
		if err != nil {
			return Schema{}, Schema{}, err
		}
		was, is, err := dynamostore.Migrate(ctx, options)
		return schemaOf(was.Version, was.Known, &was), schemaOf(is.Version, is.Known, &is), err
	default:
		err := notMigratable(storeURL)
		return Schema{}, Schema{}, err
	}
}

func notMigratable(storeURL string) error {
	switch name, _ := scheme(storeURL); name {
	case "sqlite", "memory":
		return ErrNoMigrations
	default:
		return notAccepted("store", storeURL, acceptedStores)
	}
}

func schemaOf(version, known int64, s interface{ Usable() error }) Schema {
	return Schema{Version: version, Known: known, Unusable: s.Usable()}
}
