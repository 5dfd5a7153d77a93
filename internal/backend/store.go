package backend

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/store/dynamostore"
	"github.com/timerbus/timerbus/pkg/store/memstore"
	"github.com/timerbus/timerbus/pkg/store/mysqlstore"
	"github.com/timerbus/timerbus/pkg/store/postgresstore"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
)

const acceptedStores = "postgres://USER:PASSWORD@HOST:PORT/DATABASE, mysql://USER:PASSWORD@HOST:PORT/DATABASE, dynamodb://TABLE?region=REGION, sqlite:FOLDER or memory:"

func (b *Backend) openStore(ctx context.Context, o *Options) error {
	name, rest := scheme(o.StoreURL)
	switch name {
	case "sqlite":
		path, query, err := folder(rest)
		if err != nil || len(query) > 0 {
			return notAccepted("store", o.StoreURL, acceptedStores)
		}
		s, err := sqlitestore.Open(ctx, sqlitestore.Options{Folder: path, Logger: o.Logger})
		if err != nil {
			return err
		}
		b.Store = s
	case "postgres", "postgresql":
		options := postgresstore.Options{URL: o.StoreURL, Logger: o.Logger}
		if o.Migrate {
			if _, _, err := postgresstore.Migrate(ctx, options); err != nil {
				return err
			}
		}
		s, err := postgresstore.Open(ctx, options)
		if err != nil {
			return err
		}
		b.Store = s
	case "mysql":
		options := mysqlstore.Options{URL: o.StoreURL, Logger: o.Logger}
		if o.Migrate {
			if _, _, err := mysqlstore.Migrate(ctx, options); err != nil {
				return err
			}
		}
		s, err := mysqlstore.Open(ctx, options)
		if err != nil {
			return err
		}
		b.Store = s
	case "dynamodb":
		options, err := dynamoOptions(o.StoreURL, o.Logger)
		if err != nil {
			return err
		}
		if o.Migrate {
			if _, _, err := dynamostore.Migrate(ctx, options); err != nil {
				return err
			}
		}
		s, err := dynamostore.Open(ctx, options)
		if err != nil {
			return err
		}
		b.Store = s
	case "memory":
		if rest != "" {
			return notAccepted("store", o.StoreURL, acceptedStores)
		}
		b.Store = memstore.NewDatabaseAt(o.Clock).Open()
	default:
		return notAccepted("store", o.StoreURL, acceptedStores)
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
