package backend

import (
	"context"
	"log/slog"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/bus/kafkabus"
	"github.com/timerbus/timerbus/pkg/bus/natsbus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/store/sqlitestore"
)

const acceptedInspected = acceptedFollowed

// InspectBus reads the state of a cluster's topics on NATS or Kafka servers. It changes nothing.
func InspectBus(ctx context.Context, busURL string, logger *slog.Logger) (bus.Inspection, error) {
	const name = "timerbus doctor"
	switch scheme, _ := scheme(busURL); scheme {
	case "nats":
		options, err := natsOptions(busURL)
		if err != nil {
			return bus.Inspection{}, err
		}
		options.Name, options.Logger = name, logger
		return natsbus.Inspect(ctx, options)
	case "kafka":
		options, err := kafkaOptions(busURL)
		if err != nil {
			return bus.Inspection{}, err
		}
		options.Name, options.Logger = name, logger
		return kafkabus.Inspect(ctx, options)
	default:
		return bus.Inspection{}, notAccepted("bus", busURL, acceptedInspected)
	}
}

// FolderSchema reads the schema version of a SQLite database, which a process may be using. It changes nothing. inUse
// reports whether a process has the folder open.
func FolderSchema(ctx context.Context, storeURL string) (schema store.Schema, inUse bool, err error) {
	_, rest := scheme(storeURL)
	path, query, err := folder(rest)
	if err != nil || len(query) > 0 {
		return store.Schema{}, false, notAccepted("store", storeURL, acceptedStores)
	}
	return sqlitestore.Status(ctx, path)
}

// OpenStore opens only the store. It does not migrate the schema, except of SQLite.
func OpenStore(ctx context.Context, o Options) (*Backend, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Backend{}
	err := attempt(ctx, &o, "store", o.StoreURL, store.ErrUnavailable, func(ctx context.Context) error { return b.openStore(ctx, &o) })
	if err != nil {
		return nil, err
	}
	return b, nil
}

// InFolder reports whether a store is a database in a folder.
func InFolder(storeURL string) bool {
	name, _ := scheme(storeURL)
	return name == "sqlite"
}
