package backend

import (
	"context"
	"errors"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/dynamostore"
	"github.com/timerbus/timerbus/pkg/store/mysqlstore"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
)

// ErrNoMigrations reports that a store has no separate migrations: it updates its schema when it is opened, or has no
// schema.
var ErrNoMigrations = errors.New("the store has no separate migrations")

// SchemaOf reads the schema version. It changes nothing.
func SchemaOf(ctx context.Context, storeURL string, logger *slog.Logger) (store.Schema, error) {
	switch name, _ := scheme(storeURL); name {
	case "postgres", "postgresql":
		return postgresstore.Status(ctx, postgresstore.Options{URL: storeURL, Logger: logger})
	case "mysql":
		return mysqlstore.Status(ctx, mysqlstore.Options{URL: storeURL, Logger: logger})
	case "dynamodb":
		options, err := dynamoOptions(storeURL, logger)
		if err != nil {
			return store.Schema{}, err
		}
		return dynamostore.Status(ctx, options)
	default:
		return store.Schema{}, notMigratable(storeURL)
	}
}

// Migrate upgrades the schema to the newest version that this program supports.
func Migrate(ctx context.Context, storeURL string, logger *slog.Logger) (before, after store.Schema, err error) {
	defer logWait(ctx, logger, openTimeout/logWaitAfter, "migration of the store", storeURL)()
	switch name, _ := scheme(storeURL); name {
	case "postgres", "postgresql":
		return postgresstore.Migrate(ctx, postgresstore.Options{URL: storeURL, Logger: logger})
	case "mysql":
		return mysqlstore.Migrate(ctx, mysqlstore.Options{URL: storeURL, Logger: logger})
	case "dynamodb":
		options, err := dynamoOptions(storeURL, logger)
		if err != nil {
			return before, after, err
		}
		return dynamostore.Migrate(ctx, options)
	default:
		return before, after, notMigratable(storeURL)
	}
}

// MergePartitions reduces the partitions of timers of a PostgreSQL store to the number that new databases have. It returns
// their number before and after.
func MergePartitions(ctx context.Context, storeURL string, logger *slog.Logger) (before, after int, err error) {
	switch name, _ := scheme(storeURL); name {
	case "postgres", "postgresql":
		return postgresstore.MergePartitions(ctx, postgresstore.Options{URL: storeURL, Logger: logger})
	case "mysql", "dynamodb":
		return 0, 0, ErrNoMigrations
	default:
		return 0, 0, notMigratable(storeURL)
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
