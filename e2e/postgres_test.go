package e2e_test

import (
	"context"
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

var databases atomic.Int64

// newDatabase makes an empty database that is dropped when the test is over.
func newDatabase(t *testing.T, server string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("e2e_%d_%d", os.Getpid(), databases.Add(1))
	onServer(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { onServer(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	return u.String()
}

// onServer runs a statement. The server may be on its way back.
func onServer(t *testing.T, server, statement string) {
	t.Helper()
	// A cleanup calls this too, when the test's context has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	for {
		err := func() error {
			c, err := pgx.Connect(ctx, server)
			if err != nil {
				return err
			}
			defer c.Close(ctx)
			_, err = c.Exec(ctx, statement)
			return err
		}()
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s: %v", statement, err)
		}
		pause(ctx, 100*time.Millisecond)
	}
}

// control asks testenv to do something to the server's processes, such as kill/postgres.
func control(t *testing.T, what string) {
	t.Helper()
	base := os.Getenv("TIMERBUS_TESTENV")
	if base == "" {
		t.Skip("the server was not started by testenv, so that it cannot be killed")
	}
	request, err := http.NewRequestWithContext(within(t, patience), http.MethodPost, base+"/"+what, http.NoBody)
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
