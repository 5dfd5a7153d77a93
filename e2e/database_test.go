package e2e_test

import (
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/timerbus/timerbus/internal/testserver"
)

// database is an engine on which `make e2e STORE=…` and `make campaign STORE=…` run.
type database struct {
	// name is its product name, server its name in tools/testenv.
	name, server string
	// url creates a new database, unless the service creates its tables, and returns the store's URL.
	url func(server, name string) (string, error)
	// drop drops it.
	drop func(server, url string) error
	// countless: it cannot count timers cheaply, and exports no gauges of them.
	countless bool
	// repeats: topic commands are applied at least once, not exactly once.
	repeats bool
	// late is the maximum lateness of a timer without a hint, such as one whose write was in flight when its process
	// was killed (docs/decisions/0019).
	late time.Duration
	// parallel is the number of parallel tests on it; slow: large tests are made smaller.
	parallel int
	slow     bool
}

// ordinary is the number of parallel tests: they wait for timers, not for processors.
const ordinary = 12

// chosen returns the database of clusters: PostgreSQL, unless TIMERBUS_E2E_STORE names a different one.
func chosen() *database {
	switch store := os.Getenv("TIMERBUS_E2E_STORE"); store {
	case "", "postgres":
		return &database{
			name: "PostgreSQL", server: "postgres", url: makeOnPostgres, drop: dropOnPostgres,
			parallel: ordinary,
		}
	case "mysql", "mariadb":
		return &database{
			name: "MySQL", server: store, url: makeOnMySQL, drop: dropOnMySQL,
			parallel: ordinary,
		}
	case "dynamodb":
		return &database{
			name: "DynamoDB", server: "dynamodbdisk", url: nameOnDynamoDB,
			// The tables are removed with the server.
			drop:      func(string, string) error { return nil },
			countless: true, repeats: true,
			late: 40 * time.Second,
			// DynamoDB Local handles one request at a time, and less than 300 writes per second.
			parallel: 2, slow: true,
		}
	default:
		panic(fmt.Sprintf("TIMERBUS_E2E_STORE=%s is not accepted: want postgres, mysql, mariadb, dynamodb, or nothing for SQLite", store))
	}
}

// onDatabase reports whether all tests run on a database, not only those of clusters: `make e2e STORE=…` sets that.
func onDatabase() bool { return os.Getenv("TIMERBUS_E2E_STORE") != "" }

// controllable reports whether testenv started the server, so that it can be killed.
func controllable() bool { return os.Getenv("TIMERBUS_TESTENV") != "" }

// needSQLite skips a test that only applies to the embedded database, such as one with a full folder.
func needSQLite(t *testing.T, what string) {
	t.Helper()
	if onDatabase() {
		t.Skipf("about the embedded database: %s", what)
	}
}

// stores has the store's URL by the data folder of the services that share it.
var stores sync.Map

// of returns the database of the services of a data folder, a new one for the first of them.
func (d *database) of(t *testing.T, data string) string {
	t.Helper()
	if store, ok := stores.Load(data); ok {
		if url, ok := store.(string); ok {
			return url
		}
	}
	store := d.fresh(t)
	stores.Store(data, store)
	return store
}

var databases atomic.Int64

// fresh returns the store's URL of an empty database that is dropped at the end of the test.
func (d *database) fresh(t *testing.T) string {
	t.Helper()
	server := testserver.Address(t, d.server)
	store, err := d.make(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.drop(server, store); err != nil {
			t.Error(err)
		}
	})
	return store
}

func (d *database) make(server string) (string, error) {
	return d.url(server, fmt.Sprintf("e2e_%d_%d", os.Getpid(), databases.Add(1)))
}

// nameOnDynamoDB returns the URL of tables. The first process that opens them and has the permission creates them.
func nameOnDynamoDB(server, name string) (string, error) {
	// DynamoDB Local accepts any credentials, and separates tables by them. The service inherits these.
	for variable, value := range map[string]string{"AWS_ACCESS_KEY_ID": "e2e", "AWS_SECRET_ACCESS_KEY": "e2e"} {
		if err := os.Setenv(variable, value); err != nil {
			return "", err
		}
	}
	// DynamoDB Local handles one request at a time: more concurrent requests would wait there until they time out.
	return "dynamodb://" + name + "?" + url.Values{"region": {"local"}, "endpoint": {server}, "maxRequests": {"8"}}.Encode(), nil
}
