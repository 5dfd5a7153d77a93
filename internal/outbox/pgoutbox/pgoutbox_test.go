package pgoutbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	outboxsql "github.com/timerbus/timerbus/deploy/outbox"
	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/internal/outbox/outboxtest"
	"github.com/timerbus/timerbus/internal/outbox/pgoutbox"
	"github.com/timerbus/timerbus/internal/testserver"
)

//testenv:need postgres postgres15

func TestOutbox(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"postgres", "postgres15"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := testserver.Address(t, name)
			outboxtest.Run(t, &outboxtest.Server{
				Open:        func(url string) (outbox.Outbox, error) { return pgoutbox.New(url) },
				NewDatabase: func(tb testing.TB) (string, *sql.DB) { tb.Helper(); return newDatabase(tb, address) },
				SQL:         outboxsql.Postgres, Notifies: true,
				Lock: "SELECT FROM timerbus_outbox ORDER BY id LIMIT 1 FOR UPDATE",
				Full: `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
CREATE TRIGGER full_disk BEFORE DELETE ON timerbus_outbox FOR EACH ROW EXECUTE FUNCTION full_disk()`,
				Strange: `ALTER TABLE timerbus_outbox DROP CONSTRAINT timerbus_outbox_verb, ALTER created_at DROP NOT NULL;
INSERT INTO timerbus_outbox (verb, body, created_at) VALUES ('merge', '[]', 'infinity'), ('', 'null', '-infinity'), ('create', '1', NULL),
	('create', '{}', '200000-01-01Z'), ('create', '{}', '0044-03-15Z BC')`,
				User: func(name string) string { return "CREATE ROLE " + name + " LOGIN PASSWORD 'secret'" },
				Drop: func(name string) string { return "DROP OWNED BY " + name + "; DROP ROLE " + name },
			})
		})
	}
}

// TestApplicationsInsertOnly: an application needs the right to insert only.
func TestApplicationsInsertOnly(t *testing.T) {
	_, db := newDatabase(t, testserver.Address(t, "postgres"))
	name := fmt.Sprintf("shop_%d", rand.Uint64())
	for _, statement := range []string{
		outboxsql.Postgres, "CREATE ROLE " + name, "GRANT INSERT ON timerbus_outbox TO " + name,
		"SET ROLE " + name + `; INSERT INTO timerbus_outbox (verb, body) VALUES ('create', '{}'); RESET ROLE`,
		"DROP OWNED BY " + name + "; DROP ROLE " + name,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Errorf("%.80s: %v", statement, err)
		}
	}
}

func TestURL(t *testing.T) {
	for _, bad := range []string{"postgres://user:hidden@host:port/shop", "postgres://user:hidden@host/shop?sslmode=maybe"} {
		_, err := pgoutbox.New(bad)
		if err == nil || !strings.Contains(err.Error(), "postgres://USER") || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func newDatabase(tb testing.TB, address string) (inside string, db *sql.DB) {
	tb.Helper()
	name := fmt.Sprintf("outbox_%d", rand.Uint64())
	at, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	server := open(tb, address)
	at.Path = "/" + name
	query := at.Query()
	at.RawQuery = query.Encode()
	run(tb, server, "CREATE DATABASE "+name)
	query.Set("default_query_exec_mode", "simple_protocol") // several statements in one call
	several := *at
	several.RawQuery = query.Encode()
	db = open(tb, several.String())
	db.SetMaxOpenConns(4)
	tb.Cleanup(func() {
		_ = db.Close()
		run(tb, server, "DROP DATABASE "+name+" WITH (FORCE)")
		_ = server.Close()
	})
	return at.String(), db
}

func open(tb testing.TB, address string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		tb.Fatal(err)
	}
	return db
}

func run(tb testing.TB, db *sql.DB, statement string) {
	tb.Helper()
	if _, err := db.ExecContext(context.WithoutCancel(tb.Context()), statement); err != nil {
		tb.Errorf("%s: %v", statement, err)
	}
}
