package e2e_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/timerbus/timerbus/e2e/internal/receiver"
	"github.com/timerbus/timerbus/e2e/internal/tap"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/client"
)

// postgresUsers prepares a database as deploy/postgresql describes, and returns the store's URL of a user: setup, who acts as the
// owner, or that of a role.
func postgresUsers(t *testing.T) (of func(user string) string) {
	t.Helper()
	inside := chosen().fresh(t)
	u, err := url.Parse(inside)
	if err != nil {
		t.Fatal(err)
	}
	prefix := strings.TrimPrefix(u.Path, "/") + "_"
	of = func(user string) string {
		at := *u
		at.User = url.User(prefix + user)
		if user == "setup" {
			at.RawQuery += "&role=timerbus_owner"
		}
		return at.String()
	}
	run := func(at, statements string) {
		t.Helper()
		if err := onServer(at, statements); err != nil {
			t.Fatal(err)
		}
	}
	script := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../deploy/postgresql/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	run(inside, script("roles.sql"))
	server := testserver.Address(t, "postgres")
	for user, role := range map[string]string{"setup": "owner", "ingest": "ingest", "scheduler": "scheduler", "dispatcher": "dispatcher"} {
		run(inside, "CREATE ROLE "+prefix+user+" LOGIN IN ROLE timerbus_"+role)
		t.Cleanup(func() {
			if err := onServer(server, "DROP ROLE "+prefix+user); err != nil {
				t.Error(err)
			}
		})
	}
	(&cluster{store: of("setup")}).migrate(t, binary)
	run(of("setup"), script("rights.sql"))
	return of
}

// TestLeastRightsOnPostgreSQL: each role works with the rights that deploy/postgresql gives it, and has no others.
func TestLeastRightsOnPostgreSQL(t *testing.T) {
	if chosen().server != "postgres" {
		t.Skip("about the rights of PostgreSQL")
	}
	of := postgresUsers(t)
	nats := ownNATS(t, "")
	c := startWithRights(t, of, func(string) string { return nats.url })
	bus, err := tap.Connect(nats.url)
	if err != nil {
		t.Fatal(err)
	}
	defer bus.Close()
	if err := bus.PublishRaw(within(t, patience), "timerbus.commands", nil, []byte(createByCommand)); err != nil {
		t.Fatal(err)
	}
	c.reaches(t, "by-command", isStatus("done"))
	c.afterKills(t)
	if exit, problems := doctor(t, "--store", of("setup"), "--bus", nats.url); exit != 0 {
		t.Errorf("doctor as setup: %d, %+v", exit, problems)
	}
	c.useEverything(t)
	for _, m := range c.members {
		if log := m.Log(); strings.Contains(log, "permission denied") || strings.Contains(log, "42501") {
			t.Errorf("%s: the server refused a statement", m.name)
		}
	}
	for user, statements := range map[string][]string{
		"ingest": {
			"UPDATE claims SET owner = NULL", "INSERT INTO claims DEFAULT VALUES", "UPDATE watermarks SET writes = 0",
			"UPDATE timer_history SET marked_at = NULL", "INSERT INTO timer_history DEFAULT VALUES", "DELETE FROM positions", "DELETE FROM cluster",
		},
		"scheduler": {
			"DELETE FROM timers", "UPDATE timers SET due_at = now()", "INSERT INTO timers DEFAULT VALUES", "DELETE FROM timer_history",
			"INSERT INTO timer_history DEFAULT VALUES", "UPDATE timer_history SET outcome = 'done'", "DELETE FROM claims",
			"UPDATE namespaces SET version = 0", "INSERT INTO api_keys DEFAULT VALUES", "SELECT FROM positions",
		},
		"dispatcher": {
			"UPDATE timer_history SET outcome = 'done'", "SELECT FROM claims", "UPDATE claims SET version = 0",
			"SELECT FROM watermarks", "SELECT FROM positions", "UPDATE namespaces SET version = 0", "DELETE FROM api_keys",
		},
	} {
		statements = append(statements, "CREATE TABLE mine (x integer)", "DROP TABLE timers", "TRUNCATE timers", "ALTER TABLE timers ADD x integer",
			"UPDATE cluster SET partitions = 1", "DELETE FROM schema_support", "DELETE FROM timerbus_migrations", "SET ROLE timerbus_owner")
		for _, statement := range statements {
			if err := executes(t, of(user), statement); !isDenied(err) {
				t.Errorf("%s may execute %s: %v", user, statement, err)
			}
		}
	}
}

// useEverything makes the roles execute statements that other tests of rights do not. TestRolesNeedTheirRights of the engine tests
// all statements.
func (c *cluster) useEverything(t *testing.T) {
	t.Helper()
	c.receiver.On(c.namespace, "again", receiver.Again(500*time.Millisecond), receiver.Answer{})
	c.create(t, "again", 0)
	c.calls(t, "again", 2)
	c.receiver.On(c.namespace, "fails", receiver.Answer{Status: http.StatusGone})
	c.create(t, "fails", 0)
	c.reaches(t, "fails", isStatus("dead"))
	c.receiver.On(c.namespace, "fails", receiver.Answer{})
	if _, err := c.api.RetryTimer(t.Context(), client.RetryTimerRequest{Namespace: c.namespace, ID: "fails"}); err != nil {
		t.Error(err)
	}
	c.reaches(t, "fails", isStatus("done"))
	if _, err := c.api.PurgeMatching(t.Context(), client.PurgeMatchingRequest{
		Namespace: c.namespace, Status: "done",
	}); err != nil {
		t.Error(err)
	}
	if _, err := c.api.CreateNamespace(t.Context(), client.CreateNamespaceRequest{Name: "temporary", NumShards: 4}); err != nil {
		t.Error(err)
	}
	if _, err := c.api.DeleteNamespace(t.Context(), client.DeleteNamespaceRequest{Name: "temporary"}); err != nil {
		t.Error(err)
	}
}

func executes(t *testing.T, at, statement string) error {
	t.Helper()
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	_, err = c.Exec(t.Context(), statement)
	return err
}

// isDenied reports whether the server refused a statement because of missing rights.
func isDenied(err error) bool {
	refused, ok := errors.AsType[*pgconn.PgError](err)
	return ok && refused.Code == "42501"
}
