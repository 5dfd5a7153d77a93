package backend

import (
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// Options configure Open. All fields but Role, BusToken, Timeout and Logger are required.
type Options struct {
	// StoreURL is one of
	//
	//	postgres://USER:PASSWORD@HOST:PORT/DATABASE   PostgreSQL 15 or newer; also accepts the parameters of pgx
	//	                (sslmode, pool_max_conns, …)
	//	mysql://USER:PASSWORD@HOST:PORT/DATABASE      MySQL 8.0.11 or newer, or MariaDB 10.6 or newer;
	//	                mysqlstore.Options has the parameters
	//	dynamodb://TABLE?region=REGION   Amazon DynamoDB; dynamostore.ParseURL has the parameters
	//	sqlite:FOLDER   the database in a folder, which one process can use at a time;
	//	                sqlite:///FOLDER for an absolute path
	//	memory:         a store that is lost when the process ends
	StoreURL string
	// BusURL is one of
	//
	//	embedded:FOLDER?listen=HOST:PORT   a NATS server in this process that stores its files in a folder.
	//	                                   Without listen, other processes cannot connect. sync=always (the
	//	                                   default) syncs to the disk before each acknowledgement,
	//	                                   sync=interval in the background
	//	nats://[USER[:PASSWORD]@]HOST:PORT,HOST:PORT?…  NATS servers, 2.12 or newer with JetStream; nats.go
	//	                                   has the parameters
	//	kafka://[USER:PASSWORD@]HOST:PORT,HOST:PORT?…   Apache Kafka; kafka.go has the parameters
	//	memory:                            a bus that is lost when the process ends
	BusURL string
	// Role is the only role of the process: ingest, scheduler or dispatcher; empty: all. A PostgreSQL store requires the rights of
	// this role only.
	Role string
	// Migrate brings the schema of a PostgreSQL, MySQL or DynamoDB store up to date. The other stores always do so when they
	// are opened.
	Migrate bool
	// Partitions of the bus, 1 to 1,024. It must be the number with which the cluster was created.
	Partitions int
	// BusToken is the token that an embedded bus requires from clients of other processes; empty: none.
	BusToken string
	// Clock returns the present, and is the clock of a SQLite or memory store; Random returns random bits for the id of a new cluster.
	Clock  timer.Clock
	Random func() uint64
	// Timeout bounds the opening of the store and that of the bus, but not a migration. Default 30 s. A wait is logged after a
	// sixth of it.
	Timeout time.Duration
	// Logger receives events that no call returns. Default: none.
	Logger *slog.Logger
}

// Backend is an open store and bus.
type Backend struct {
	Store store.Store
	Bus   bus.Bus
	// BusAddress is the URL at which other processes reach an embedded bus; empty if they cannot.
	BusAddress string

	// closers run in reverse order.
	closers []func() error
}

// Close closes the bus, then the store. The services must have stopped.
func (b *Backend) Close() error {
	var failures []error
	for _, closer := range slices.Backward(b.closers) {
		failures = append(failures, closer())
	}
	b.closers = nil
	return errors.Join(failures...)
}
