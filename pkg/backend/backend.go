package backend

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/timerbus/timerbus/pkg/bus"
	"github.com/timerbus/timerbus/pkg/event"
	"github.com/timerbus/timerbus/pkg/store"
	"github.com/timerbus/timerbus/pkg/timer"
)

// defaultPrefix is that of the buses, and of those who follow them.
const defaultPrefix = "timerbus"

// Options say what to open. All fields but Prefix and Logger are required.
type Options struct {
	// StoreURL is one of
	//
	//	postgres://USER:PASSWORD@HOST:PORT/DATABASE   PostgreSQL 15 or newer; what pgx takes as parameters
	//	                (sslmode, pool_max_conns, …) works here too
	//	sqlite:FOLDER   the database in a folder, which belongs to one process at a time;
	//	                also sqlite:///FOLDER for an absolute one
	//	memory:         a store that is gone with the process
	StoreURL string
	// BusURL is one of
	//
	//	embedded:FOLDER?listen=HOST:PORT   a NATS server in this process, its files in a folder;
	//	                                   without listen nobody else can connect; sync=interval writes
	//	                                   through to the disk in the background, sync=always (the
	//	                                   default) before each acknowledgement
	//	nats://[USER[:PASSWORD]@]HOST:PORT,HOST:PORT?…  NATS servers, 2.12 or newer with JetStream; nats.go
	//	                                   has the parameters
	//	kafka://[USER:PASSWORD@]HOST:PORT,HOST:PORT?…   Apache Kafka; kafka.go has the parameters
	//	memory:                            a bus that is gone with the process
	BusURL string
	// Migrate brings the schema of a database up to date where the store does not do so by itself.
	Migrate bool
	// Partitions of the bus, 1 to 1,024, as the cluster was made with or is to be made with.
	Partitions int
	// Prefix keeps clusters on one bus apart, if the URL says nothing. Default "timerbus".
	Prefix string
	// BusToken is what an embedded bus asks of whoever connects from outside; empty: nothing.
	BusToken string
	// Clock tells the present, Random gives random bits for the cluster's id.
	Clock  timer.Clock
	Random func() uint64
	// Logger gets what no caller is told. Default: none.
	Logger *slog.Logger
}

// Backend is what was opened.
type Backend struct {
	Store store.Store
	// Shared: other processes may use the store's database.
	Shared bool
	Bus    bus.Bus
	// Format is how public events lie in the bus's messages.
	Format event.Mode
	// Cluster is the identity that the store keeps.
	Cluster store.Identity
	// Prefix begins the names of the service's own topics.
	Prefix string
	// BusAddress is where others reach an embedded bus; empty if they cannot.
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
