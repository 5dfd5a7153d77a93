package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

//testenv:need postgres

// needPostgres returns the test server's URL. Without one the test is skipped, unless TIMERBUS_REQUIRE names it.
func needPostgres(t *testing.T) string {
	t.Helper()
	server := os.Getenv("TIMERBUS_TEST_POSTGRES")
	if server == "" {
		if slices.Contains(strings.Split(os.Getenv("TIMERBUS_REQUIRE"), ","), "postgres") {
			t.Fatal("TIMERBUS_REQUIRE names postgres, and TIMERBUS_TEST_POSTGRES is not set")
		}
		t.Skip("no PostgreSQL: set TIMERBUS_TEST_POSTGRES, or run `go run ./tools/testenv --need postgres -- go test …` (make test does)")
	}
	return server
}

// onPostgres reports whether all tests are to run on PostgreSQL: `make e2e` says so.
func onPostgres() bool {
	switch store := os.Getenv("TIMERBUS_E2E_STORE"); store {
	case "":
		return false
	case "postgres":
		return true
	default:
		panic(fmt.Sprintf("TIMERBUS_E2E_STORE=%s is not accepted: want postgres, or nothing for SQLite", store))
	}
}

// controllable reports whether testenv has started the server, so that it can be killed.
func controllable() bool { return os.Getenv("TIMERBUS_TESTENV") != "" }

// needSQLite skips a test of what only the embedded database has, such as a folder that is full.
func needSQLite(t *testing.T, what string) {
	t.Helper()
	if onPostgres() {
		t.Skipf("about the embedded database: %s", what)
	}
}

var databases atomic.Int64

// newDatabase makes an empty database that is dropped when the test is over.
func newDatabase(t *testing.T, server string) string {
	t.Helper()
	database, err := makeDatabase(server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dropDatabase(server, database); err != nil {
			t.Error(err)
		}
	})
	return database
}

func makeDatabase(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("e2e_%d_%d", os.Getpid(), databases.Add(1))
	u.Path = "/" + name
	return u.String(), onServer(server, "CREATE DATABASE "+name)
}

func dropDatabase(server, database string) error {
	u, err := url.Parse(database)
	if err != nil {
		return err
	}
	return onServer(server, "DROP DATABASE "+strings.TrimPrefix(u.Path, "/")+" WITH (FORCE)")
}

// onServer runs a statement. The server may be on its way back from a kill.
func onServer(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		err := func() error {
			c, err := pgx.Connect(ctx, server)
			if err != nil {
				return err
			}
			_, err = c.Exec(ctx, statement)
			return errors.Join(err, c.Close(ctx))
		}()
		if err == nil || ctx.Err() != nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// control asks testenv to do something to the server's processes, such as kill/postgres.
func control(t *testing.T, what string) {
	t.Helper()
	base := os.Getenv("TIMERBUS_TESTENV")
	request, err := http.NewRequestWithContext(within(t, 3*patience), http.MethodPost, base+"/"+what, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		text, _ := io.ReadAll(response.Body)
		t.Fatalf("testenv %s: %s %s", what, response.Status, text)
	}
}
