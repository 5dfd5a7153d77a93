package mysqlstore

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/timerbus/timerbus/internal/store/relational"
	"github.com/timerbus/timerbus/internal/testserver"
	"github.com/timerbus/timerbus/pkg/timer"
)

// TestOpenRefuses: each error is one line that names the server and the problem, and does not contain the password.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	newest, err := relational.NewestSchema(embedded)
	if err != nil {
		t.Fatal(err)
	}
	eachServer(t, func(t *testing.T, address string) {
		for _, c := range []struct {
			name    string
			prepare func(t *testing.T) (address string)
			want    []string
		}{
			{"no address", func(*testing.T) string { return "" }, []string{"store", wantURL}},
			{"an invalid port", func(*testing.T) string { return "mysql://user:secret@host:port/db" }, []string{"port", wantURL}},
			{"no database", func(*testing.T) string { return "mysql://user:secret@host" }, []string{"host", "database is missing"}},
			{"an unknown parameter", func(*testing.T) string { return "mysql://h/db?charset=x" }, []string{"charset", "tls or max_conns"}},
			{"no server", nobodyListens, []string{"127.0.0.1", "refused"}},
			{"a missing database", func(t *testing.T) string {
				return with(t, address, func(u *url.URL) { u.Path = "/nowhere" })
			}, []string{"nowhere", "does not exist", "timerbus migrate up"}},
			{"an unknown user", func(t *testing.T) string {
				return with(t, address, func(u *url.URL) { u.User, u.Path = url.UserPassword("stranger", "secret"), "/mysql" })
			}, []string{"stranger", "refuses user"}},
			{"no schema", func(t *testing.T) string { return newDatabase(t, address) }, []string{"no schema yet", "timerbus migrate up"}},
			{"a newer schema", func(t *testing.T) string {
				inside := migrated(t, address)
				execute(t, inside, "INSERT INTO "+migrationsTable+" (version_id, is_applied) VALUES (99, true)",
					"INSERT INTO schema_support VALUES (99, 98, '3.1')")
				return inside
			}, []string{"version 99", fmt.Sprintf("up to %d", newest), "timerbus 3.1 or newer"}},
			{"another storage engine", func(t *testing.T) string {
				inside := migrated(t, address)
				execute(t, inside, "ALTER TABLE positions ENGINE = MyISAM")
				return inside
			}, []string{"positions has the engine MyISAM", "ENGINE = InnoDB"}},
			{"ids that are not compared as bytes", func(t *testing.T) string {
				inside := migrated(t, address)
				execute(t, inside, "ALTER TABLE namespaces MODIFY name VARCHAR(255) NOT NULL")
				return inside
			}, []string{"namespaces.name is varchar(255)", "as bytes"}},
		} {
			t.Run(c.name, func(t *testing.T) {
				s, err := Open(t.Context(), Options{URL: c.prepare(t)})
				if err == nil {
					s.Close()
					t.Fatal("it opens")
				}
				for _, want := range c.want {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%q does not contain %q", err, want)
					}
				}
				if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "secret") {
					t.Errorf("more than a line, or the password: %q", err)
				}
			})
		}
	})
}

func with(t *testing.T, address string, change func(u *url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

func nobodyListens(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "mysql://u:secret@" + l.Addr().String() + "/db"
}

// TestAReadOnlyServerIsRefused changes a setting of the whole server, so it does not run in parallel.
func TestAReadOnlyServerIsRefused(t *testing.T) {
	for _, name := range []string{"mysql", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			inside := migrated(t, testserver.Address(t, name))
			s := openStore(t, inside)
			db := connection(t, inside)
			defer db.Close()
			set := func(value string) {
				t.Helper()
				if _, err := db.ExecContext(t.Context(), "SET GLOBAL read_only = "+value); err != nil {
					t.Fatal(err)
				}
			}
			set("ON")
			defer set("OFF")
			if s, err := Open(t.Context(), Options{URL: inside}); !errors.Is(err, errReplica) {
				t.Errorf("open: %v, %v", s, err)
			}
			set("OFF")
			if err := s.Ping(t.Context()); err != nil {
				t.Errorf("ping: %v", err)
			}
		})
	}
}

func TestServersThatCannotBeUsedAreRefused(t *testing.T) {
	t.Parallel()
	good := server{version: "8.0.11", sqlMode: strictMode, maxPacket: leastPacket, flush: 1}
	for want, spoil := range map[string]func(s *server){
		"want 8.0.11 or newer":                  func(s *server) { s.version = "5.7.44-log" },
		"want 10.6.0 or newer":                  func(s *server) { s.version = "10.5.29-MariaDB" },
		"sql_mode":                              func(s *server) { s.sqlMode = "ANSI" },
		"max_allowed_packet":                    func(s *server) { s.maxPacket = 1 << 20 },
		"innodb_flush_log_at_trx_commit is 2":   func(s *server) { s.flush = 2 },
		"sync_binlog is 0: after a crash of":    func(s *server) { s.binlog = true },
		"":                                      func(s *server) { s.version = "11.4.5-MariaDB-log" },
		" ":                                     func(s *server) { s.version = "9.7.4" },
		"  ":                                    func(s *server) { s.binlog, s.syncBinlog = true, 1 },
		"   ":                                   func(s *server) { s.syncBinlog = 0 },
		"sync_binlog is 1000: after a crash of": func(s *server) { s.binlog, s.syncBinlog = true, 1000 },
	} {
		s := good
		spoil(&s)
		got := strings.Join(s.doubts(), "; ")
		if err := s.refuse(); err != nil {
			got = err.Error()
		}
		if want = strings.TrimSpace(want); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%+v: got %q, want %q", s, got, want)
		}
	}
}

// TestOpenWarns changes a setting of the whole server, so it does not run in parallel.
func TestOpenWarns(t *testing.T) {
	for _, name := range []string{"mysql", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			inside := migrated(t, testserver.Address(t, name))
			execute(t, inside, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
			defer execute(t, inside, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
			var log bytes.Buffer
			s, err := Open(t.Context(), Options{URL: inside, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			if !strings.Contains(log.String(), "innodb_flush_log_at_trx_commit is 2") {
				t.Errorf("the log contains %q", log.String())
			}
		})
	}
}

// TestMigrate migrates an empty database from several processes at the same time, and then again, which changes nothing.
func TestMigrate(t *testing.T) {
	t.Parallel()
	newest, err := relational.NewestSchema(embedded)
	if err != nil {
		t.Fatal(err)
	}
	eachServer(t, func(t *testing.T, address string) {
		inside := newDatabase(t, address)
		schema, err := Status(t.Context(), Options{URL: inside})
		if err != nil || schema.Version != 0 || schema.Known != newest || schema.Usable() == nil {
			t.Fatalf("status of an empty database: %+v, %v", schema, err)
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				if _, after, err := Migrate(t.Context(), Options{URL: inside}); err != nil || after.Version != after.Known {
					t.Errorf("migrate: %+v, %v", after, err)
				}
			})
		}
		group.Wait()
		before, after, err := Migrate(t.Context(), Options{URL: inside})
		if err != nil || before != after || after.Usable() != nil || after.OldestProgram == "" {
			t.Errorf("migrate again: %+v, %+v, %v", before, after, err)
		}
		// A newer schema is not changed. It can be used if its oldest compatible schema allows it.
		execute(t, inside, fmt.Sprintf("INSERT INTO %s (version_id, is_applied) VALUES (%d, true)", migrationsTable, newest+1),
			fmt.Sprintf("INSERT INTO schema_support VALUES (%d, %d, '0.2')", newest+1, newest))
		if _, after, err = Migrate(t.Context(), Options{URL: inside}); err != nil || after.Version != newest+1 {
			t.Errorf("migrate a newer schema: %+v, %v", after, err)
		}
		openStore(t, inside)
	})
}

// TestAMigrationThatStoppedContinues: the servers commit after every statement, so a migration may end in the middle.
func TestAMigrationThatStoppedContinues(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		inside := migrated(t, address)
		execute(t, inside, "DELETE FROM "+migrationsTable+" WHERE version_id > 0", "DROP TABLE room",
			"DROP TABLE history", "DELETE FROM schema_support")
		if _, after, err := Migrate(t.Context(), Options{URL: inside}); err != nil || after.Usable() != nil {
			t.Errorf("migrate: %+v, %v", after, err)
		}
		openStore(t, inside)
	})
}

// TestMigrateReportsAnObstacle: the error names it, and does not advise to run the migration.
func TestMigrateReportsAnObstacle(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, address string) {
		taken := newDatabase(t, address)
		execute(t, taken, "CREATE TABLE schema_support (one INT)")
		_, _, err := Migrate(t.Context(), Options{URL: taken})
		if err == nil || !strings.Contains(err.Error(), "upgrade the schema from version 0 to") ||
			strings.Contains(err.Error(), "migrate up") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	})
}

func TestOptions(t *testing.T) {
	t.Parallel()
	c, err := Options{URL: "mysql://u:p@h/d?tls=skip-verify&max_conns=40"}.config()
	if err != nil || c.driver.Addr != "h:3306" || c.driver.TLSConfig != "skip-verify" || c.MaxConns != 40 || c.driver.Passwd != "p" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, o := range []Options{
		{MaxConns: 1},
		{MaxConns: 1001},
		{ConnectTimeout: -1},
		{URL: "mysql://h/d?tls=perhaps"},
		{URL: "mysql://h/d?max_conns=many"},
		{URL: "postgres://h/d"},
	} {
		if o.URL == "" {
			o.URL = "mysql://localhost/db"
		}
		var invalid *timer.InvalidError
		if _, err := Open(t.Context(), o); !errors.As(err, &invalid) {
			t.Errorf("%+v: got %v, want an InvalidError", o, err)
		}
	}
}
