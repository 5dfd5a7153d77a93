package backend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/store/dynamostore"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/mysqlstore"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
)

const acceptedStores = "postgres://USER:PASSWORD@HOST:PORT/DATABASE, mysql://USER:PASSWORD@HOST:PORT/DATABASE, " +
	"dynamodb://TABLE?region=REGION, sqlite:FOLDER or memory:"

func (b *Backend) migrate(ctx context.Context, o *Options) error {
	if !o.Migrate {
		return nil
	}
	if _, _, err := Migrate(ctx, o.StoreURL, o.Logger); err != nil && !errors.Is(err, ErrNoMigrations) {
		return err
	}
	return nil
}

func (b *Backend) openStore(ctx context.Context, o *Options) (err error) {
	switch name, rest := scheme(o.StoreURL); name {
	case "sqlite":
		path, query, unreadable := folder(rest)
		if unreadable != nil || len(query) > 0 {
			return notAccepted("store", o.StoreURL, acceptedStores)
		}
		b.Store, err = sqlitestore.Open(ctx, sqlitestore.Options{Folder: path, Clock: o.Clock, Logger: o.Logger})
	case "postgres", "postgresql":
		b.Store, err = postgresstore.Open(ctx, postgresstore.Options{URL: o.StoreURL, Role: o.Role, Logger: o.Logger})
	case "mysql":
		b.Store, err = mysqlstore.Open(ctx, mysqlstore.Options{URL: o.StoreURL, Logger: o.Logger})
	case "dynamodb":
		options, unreadable := dynamoOptions(o.StoreURL, o.Logger)
		if unreadable != nil {
			return unreadable
		}
		b.Store, err = dynamostore.Open(ctx, options)
	case "memory":
		if rest != "" {
			return notAccepted("store", o.StoreURL, acceptedStores)
		}
		b.Store = memstore.NewDatabaseAt(o.Clock).Open()
	default:
		return notAccepted("store", o.StoreURL, acceptedStores)
	}
	if err != nil {
		b.Store = nil // not an interface that contains a nil pointer
		return err
	}
	b.closers = append(b.closers, b.Store.Close)
	return nil
}

func dynamoOptions(storeURL string, logger *slog.Logger) (dynamostore.Options, error) {
	options, err := dynamostore.ParseURL(storeURL)
	if err != nil {
		return options, fmt.Errorf("store URL: %w: %w", ErrURL, err)
	}
	options.Logger = logger
	return options, nil
}
