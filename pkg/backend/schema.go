package backend

import (
	"context"
	"errors"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/store/dynamostore"
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

// Migrate brings the schema up to the newest version that this program knows.
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
