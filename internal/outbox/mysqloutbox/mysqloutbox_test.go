package mysqloutbox_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	outboxsql "github.com/timerbus/timerbus/deploy/outbox"
	"github.com/timerbus/timerbus/internal/outbox"
	"github.com/timerbus/timerbus/internal/outbox/mysqloutbox"
	"github.com/timerbus/timerbus/internal/outbox/outboxtest"
	"github.com/timerbus/timerbus/internal/testserver"
)

//testenv:need mysql mariadb

func TestOutbox(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mysql", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := testserver.Address(t, name)
			outboxtest.Run(t, &outboxtest.Server{
				Open:        func(url string) (outbox.Outbox, error) { return mysqloutbox.New(url) },
				NewDatabase: func(tb testing.TB) (string, *sql.DB) { tb.Helper(); return newDatabase(tb, address) },
				SQL:         outboxsql.MySQL,
				Lock:        "SELECT id FROM timerbus_outbox ORDER BY id LIMIT 1 FOR UPDATE",
				Full: "CREATE TRIGGER full_disk BEFORE DELETE ON timerbus_outbox FOR EACH ROW " +
					"SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full'",
				Strange: `ALTER TABLE timerbus_outbox DROP CONSTRAINT timerbus_outbox_verb, DROP CONSTRAINT timerbus_outbox_body,
	MODIFY created_at DATETIME(3), MODIFY body MEDIUMBLOB;
SET sql_mode = '';
INSERT INTO timerbus_outbox (verb, body, created_at) VALUES ('merge', '{', '0000-00-00'), ('', '', '9999-12-31 23:59:59'), ('create', x'FF', NULL),
	('create', '{}', '1000-01-01')`,
				User: func(name string) string { return "CREATE USER " + name + " IDENTIFIED BY 'secret'" },
				Drop: func(name string) string { return "DROP USER " + name },
			})
		})
	}
}

func TestURL(t *testing.T) {
	for bad, want := range map[string]string{
		"mysql://user:hidden@host:port/shop":       "mysql://USER",
		"mysql://user:hidden@host":                 "mysql://USER",
		"mysql://user:hidden@host/a/b":             "mysql://USER",
		"mysql://user:hidden@host/shop?tls=maybe":  "skip-verify",
		"mysql://user:hidden@host/shop?max_conns=": "want tls",
	} {
		_, err := mysqloutbox.New(bad)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
}

func newDatabase(tb testing.TB, address string) (inside string, db *sql.DB) {
	tb.Helper()
	at, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	name := fmt.Sprintf("outbox_%d", rand.Uint64())
	server := open(tb, at, "")
	run(tb, server, "CREATE DATABASE "+name)
	at.Path = "/" + name
	db = open(tb, at, name)
	tb.Cleanup(func() {
		_ = db.Close()
		run(tb, server, "DROP DATABASE "+name)
		_ = server.Close()
	})
	return at.String(), db
}

func open(tb testing.TB, at *url.URL, name string) *sql.DB {
	tb.Helper()
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.DBName, c.MultiStatements = "tcp", at.Host, at.User.Username(), name, true
	c.Passwd, _ = at.User.Password()
	connector, err := mysql.NewConnector(c)
	if err != nil {
		tb.Fatal(err)
	}
	return sql.OpenDB(connector)
}

func run(tb testing.TB, db *sql.DB, statement string) {
	tb.Helper()
	if _, err := db.ExecContext(context.WithoutCancel(tb.Context()), statement); err != nil {
		tb.Errorf("%s: %v", statement, err)
	}
}
